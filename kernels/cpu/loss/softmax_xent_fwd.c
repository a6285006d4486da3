/*
 * softmax_xent in f32, f16 and bf16.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cpu/loss/softmax_xent.h"
#include "kernels/cpu/isa/tile_kernels.h"

static double sample_loss(const class_loss *a, const class_softmax *s, int64_t sample, int32_t label, double *weight) {
    const float *weights = a->b->plane[CLASS_WEIGHTS][0];
    double smoothing = a->p->smoothing;
    *weight = xent_weight(weights, label);
    double hard = (1 - smoothing) * *weight * s->entropy;
    if (smoothing == 0) return hard;
    double soft = class_loss_distances(a, s, sample, weights) + a->weight_sum * log(s->sum);
    return hard + smoothing / (double)a->p->in_channels[0] * soft;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    class_loss a = {.p = p, .k = state, .b = b, .weight_sum = xent_weight_sum(p, b), .sample = sample_loss};
    (void)d;
    class_loss_run(&a);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, softmax_xent_fwd, cpu_direct, flat, supports_all, flat_parts_cost, flat_parts_create_sums, launch,
             flat_parts_destroy)
