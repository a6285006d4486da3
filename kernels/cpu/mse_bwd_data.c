/*
 * mse gradient in f32, f16 and bf16: the difference times one factor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/run_parts.h"

typedef struct mse_gradient {
    const run_parts *k;
    const buffers *b;
    float factor;
} mse_gradient;

static void run_part(void *context, int64_t part) {
    const mse_gradient *a = context;
    float x[RUN_PIECE], t[RUN_PIECE];
    void *dx = a->b->plane[MSE_DX][0];
    run_piece piece = {0};
    while (run_parts_next(a->k, part, &piece)) {
        const float *from = run_load(a->k, a->b->plane[MSE_X][0], piece.at, piece.count, x);
        const float *target = run_load(a->k, a->b->plane[MSE_T][0], piece.at, piece.count, t);
        float *to = run_place(a->k, dx, piece.at, x);
        a->k->runs->scale(to, from, target, a->factor, piece.count);
        run_store(a->k, dx, piece.at, piece.count, to);
    }
    run_parts_clear(a->k, part, dx);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    mse_gradient a = {.k = state, .b = b};
    const float *dloss = b->plane[MSE_LOSS][0];
    (void)d;
    a.factor = (float)(2 * (double)*dloss / ((double)p->batch * (double)p->in_channels[0]));
    threads_for(a.k->parts, run_part, &a);
    return BRAID_OK;
}

TILE_KERNEL(mse_bwd_data__cpu_runs_avx512, runs_avx512, supports_all, run_parts_cost, run_parts_create, launch,
            run_parts_destroy)
TILE_KERNEL(mse_bwd_data__cpu_runs_avx2, runs_avx2, supports_all, run_parts_cost, run_parts_create, launch,
            run_parts_destroy)
TILE_KERNEL(mse_bwd_data__cpu_runs_portable, runs_portable, supports_all, run_parts_cost, run_parts_create, launch,
            run_parts_destroy)
