/*
 * fuse forward in f32, bf16 and f16: some samples of all streams at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/fuse.h"
#include "kernels/cpu/tile/isa.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d;
    row_cut_run(p, state, b, fuse_move_forward);
    return BRAID_OK;
}

TILE_KERNEL(fuse_fwd_bf16__cpu_rows_avx512_bf16, rows_avx512_bf16, supports_all, row_cut_cost, row_cut_create_joined,
            launch, row_cut_destroy)
TILE_KERNEL(fuse_fwd__cpu_rows_avx512, rows_avx512, supports_all, row_cut_cost, row_cut_create_joined, launch,
            row_cut_destroy)
TILE_KERNEL(fuse_fwd__cpu_rows_avx2, rows_avx2, supports_all, row_cut_cost, row_cut_create_joined, launch,
            row_cut_destroy)
TILE_KERNEL(fuse_fwd__cpu_rows_portable, rows_portable, supports_all, row_cut_cost, row_cut_create_joined, launch,
            row_cut_destroy)
