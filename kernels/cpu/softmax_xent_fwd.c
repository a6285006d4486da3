/*
 * softmax_xent in f32, f16 and bf16.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cpu/softmax_xent.h"
#include "kernels/cpu/tile/isa.h"

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

TILE_KERNEL(softmax_xent_fwd__cpu_runs_avx512, runs_avx512, supports_all, run_parts_cost, run_parts_create_sums, launch,
            run_parts_destroy)
TILE_KERNEL(softmax_xent_fwd__cpu_runs_avx2, runs_avx2, supports_all, run_parts_cost, run_parts_create_sums, launch,
            run_parts_destroy)
TILE_KERNEL(softmax_xent_fwd__cpu_runs_portable, runs_portable, supports_all, run_parts_cost, run_parts_create_sums,
            launch, run_parts_destroy)
