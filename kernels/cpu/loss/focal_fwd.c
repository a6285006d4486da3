/*
 * focal in f32, f16 and bf16.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cpu/loss/class_loss.h"
#include "kernels/cpu/isa/tile_kernels.h"

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

TILE_KERNELS(AVX512, focal_fwd, cpu_direct, flat, supports_all, flat_parts_cost, flat_parts_create_sums, launch,
             flat_parts_destroy)
