/*
 * focal gradient in f32, f16 and bf16: with q = 1 - p of the label's class and
 * A = alpha q^gamma (1 - gamma p log(p) / q), dx_c = scale A p_c, and -scale A q for the label's own class.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cpu/loss/class_loss.h"
#include "kernels/cpu/isa/tile_kernels.h"

static void sample_slopes(const class_gradient *a, const class_softmax *s, int32_t label, class_slopes *out) {
    double missing = s->others / s->sum;
    (void)label;
    if (missing == 0) return; /* the label is certain: all slopes are 0 */
    double bend = a->p->gamma * s->label / s->sum * s->entropy / missing;
    double factor = a->scale * a->p->alpha * pow(missing, a->p->gamma) * (1 + bend);
    out->slope = factor / s->sum;
    out->label = -factor * missing;
}

/* dloss over the samples that count. */
static double scale(const braid_problem *p, const buffers *b) {
    const int32_t *labels = b->plane[CLASS_LABELS][0];
    const float *dloss = b->plane[CLASS_LOSS][0];
    int64_t count = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) count += label_is_class(labels[sample], p->in_channels[0]);
    return count ? (double)*dloss / (double)count : 0;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    class_gradient a = {.p = p, .k = state, .b = b, .scale = scale(p, b), .sample = sample_slopes};
    (void)d;
    class_gradient_run(&a);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, focal_bwd_data, cpu_direct, flat, supports_all, flat_parts_cost, flat_parts_create, launch,
             flat_parts_destroy)
