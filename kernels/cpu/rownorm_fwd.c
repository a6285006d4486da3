/*
 * rownorm forward in f32, bf16 and f16: the norm of every row in double, then one product a value (tile/rows.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/row_cut.h"

static void make(const braid_problem *p, const row_loops *l, const buffers *b, const row_part *part) {
    static const int slots[3] = {ROWNORM_X, -1, ROWNORM_Y};
    row_block rows = row_cut_block(p, b, part, slots);
    l->rownorm(&rows, p->eps);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d;
    row_cut_run(p, state, b, make);
    return BRAID_OK;
}

TILE_KERNEL(rownorm_fwd_bf16__cpu_rows_avx512_bf16, rows_avx512_bf16, supports_all, row_cut_cost, row_cut_create,
            launch, row_cut_destroy)
TILE_KERNEL(rownorm_fwd__cpu_rows_avx512, rows_avx512, supports_all, row_cut_cost, row_cut_create, launch,
            row_cut_destroy)
TILE_KERNEL(rownorm_fwd__cpu_rows_avx2, rows_avx2, supports_all, row_cut_cost, row_cut_create, launch, row_cut_destroy)
TILE_KERNEL(rownorm_fwd__cpu_rows_portable, rows_portable, supports_all, row_cut_cost, row_cut_create, launch,
            row_cut_destroy)
