/*
 * dropout gradient in f32, f16 and bf16.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/elementwise/dropout.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/flat_parts.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d;
    dropout_run(p, state, b, DROPOUT_Y, DROPOUT_X);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, dropout_bwd_data, cpu_direct, flat, supports_all, flat_parts_cost, flat_parts_create, launch,
             flat_parts_destroy)
