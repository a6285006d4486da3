/*
 * mse in f32, f16 and bf16: squared differences in double, part by part, then over the parts in their order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/run_parts.h"

typedef struct mse {
    const run_parts *k;
    const buffers *b;
} mse;

static void sum_part(void *context, int64_t part) {
    const mse *a = context;
    float x[RUN_PIECE], t[RUN_PIECE];
    run_piece piece = {0};
    double sum = 0;
    while (run_parts_next(a->k, part, &piece)) {
        sum += a->k->runs->squares(run_load(a->k, a->b->plane[MSE_X][0], piece.at, piece.count, x),
                                   run_load(a->k, a->b->plane[MSE_T][0], piece.at, piece.count, t), piece.count);
    }
    ((double *)a->b->workspace)[part * RUN_VALUES] = sum;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    mse a = {state, b};
    (void)d;
    threads_for(a.k->parts, sum_part, &a);
    double count = (double)p->batch * (double)p->in_channels[0];
    *(float *)b->plane[MSE_LOSS][0] = count > 0 ? (float)(run_parts_total(a.k, b, 0) / count) : 0;
    return BRAID_OK;
}

TILE_KERNEL(mse_fwd__cpu_runs_avx512, runs_avx512, supports_all, run_parts_cost, run_parts_create_sums, launch,
            run_parts_destroy)
TILE_KERNEL(mse_fwd__cpu_runs_avx2, runs_avx2, supports_all, run_parts_cost, run_parts_create_sums, launch,
            run_parts_destroy)
TILE_KERNEL(mse_fwd__cpu_runs_portable, runs_portable, supports_all, run_parts_cost, run_parts_create_sums, launch,
            run_parts_destroy)
