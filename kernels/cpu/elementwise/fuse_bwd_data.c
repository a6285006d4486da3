/*
 * The data gradient of fuse in f32, bf16 and f16: some samples of all streams at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/elementwise/fuse.h"
#include "kernels/cpu/isa/tile_kernels.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d;
    row_parts_run(p, state, b, fuse_move_backward);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, fuse_bwd_data, cpu_direct, rows, supports_all, row_parts_cost, row_parts_create_joined,
             launch, row_parts_destroy)
