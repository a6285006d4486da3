/*
 * focal in f32, f16 and bf16.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cpu/tile/class_loss.h"
#include "kernels/cpu/tile/isa.h"

static double sample_loss(const class_loss *a, const class_softmax *s, int64_t sample, int32_t label, double *weight) {
    (void)sample;
    (void)label;
    *weight = 1;
    return a->p->alpha * pow(s->others / s->sum, a->p->gamma) * s->entropy;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    class_loss a = {.p = p, .k = state, .b = b, .sample = sample_loss};
    (void)d;
    class_loss_run(&a);
    return BRAID_OK;
}

TILE_KERNEL(focal_fwd__cpu_runs_avx512, runs_avx512, supports_all, run_parts_cost, run_parts_create_sums, launch,
            run_parts_destroy)
TILE_KERNEL(focal_fwd__cpu_runs_avx2, runs_avx2, supports_all, run_parts_cost, run_parts_create_sums, launch,
            run_parts_destroy)
TILE_KERNEL(focal_fwd__cpu_runs_portable, runs_portable, supports_all, run_parts_cost, run_parts_create_sums, launch,
            run_parts_destroy)
