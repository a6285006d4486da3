/*
 * softmax_xent gradient in f32, f16 and bf16. The label's own term holds p - 1, which is -others / sum without the
 * difference.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/loss/softmax_xent.h"
#include "kernels/cpu/isa/tile_kernels.h"

static void sample_slopes(const class_gradient *a, const class_softmax *s, int32_t label, class_slopes *out) {
    const float *weights = a->b->plane[CLASS_WEIGHTS][0];
    double share = a->p->smoothing / (double)a->p->in_channels[0], weight = xent_weight(weights, label);
    double hard = (1 - a->p->smoothing) * weight, soft = share * a->weight_sum;
    out->slope = a->scale * (hard + soft) / s->sum;
    out->offset = -a->scale * share;
    out->weights = weights;
    out->label = a->scale * (soft * s->label / s->sum - hard * s->others / s->sum - share * weight);
}

/* dloss over the weights of all samples that count. */
static double scale(const braid_problem *p, const buffers *b) {
    const int32_t *labels = b->plane[CLASS_LABELS][0];
    const float *dloss = b->plane[CLASS_LOSS][0];
    double sum = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (label_is_class(labels[sample], p->in_channels[0]))
            sum += xent_weight(b->plane[CLASS_WEIGHTS][0], labels[sample]);
    }
    return sum == 0 ? 0 : (double)*dloss / sum;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    class_gradient a = {
        .p = p, .k = state, .b = b, .scale = scale(p, b), .weight_sum = xent_weight_sum(p, b), .sample = sample_slopes};
    (void)d;
    class_gradient_run(&a);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, softmax_xent_bwd_data, cpu_direct, flat, supports_all, flat_parts_cost, flat_parts_create, launch,
             flat_parts_destroy)
