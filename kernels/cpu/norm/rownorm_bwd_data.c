/*
 * The gradient of rownorm in f32, bf16 and f16: the norm and the product with dy of every row in double, then two
 * operations a value (isa/rows.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/row_parts.h"

static void make(const braid_problem *p, const row_loops *l, const buffers *b, const row_part *part) {
    static const int slots[3] = {ROWNORM_X, ROWNORM_Y, ROWNORM_DX};
    row_block rows = row_parts_block(p, b, part, slots);
    l->rownorm_gradient(&rows, p->eps);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d;
    row_parts_run(p, state, b, make);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, rownorm_bwd_data, cpu_direct, rows, supports_all, row_parts_cost, row_parts_create, launch,
             row_parts_destroy)
