/*
 * mse gradient in f32, f16 and bf16: the difference times one factor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/flat_parts.h"

typedef struct mse_gradient {
    const flat_parts *k;
    const buffers *b;
    float factor;
} mse_gradient;

static void run_part(void *context, int64_t part) {
    const mse_gradient *a = context;
    float x[FLAT_PIECE], t[FLAT_PIECE];
    void *dx = a->b->plane[MSE_DX][0];
    flat_piece piece = {0};
    while (flat_parts_next(a->k, part, &piece)) {
        const float *from = flat_load(a->k, a->b->plane[MSE_X][0], piece.at, piece.count, x);
        const float *target = flat_load(a->k, a->b->plane[MSE_T][0], piece.at, piece.count, t);
        float *to = flat_place(a->k, dx, piece.at, x);
        a->k->flat->scale(to, from, target, a->factor, piece.count);
        flat_store(a->k, dx, piece.at, piece.count, to);
    }
    flat_parts_clear(a->k, part, dx);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    mse_gradient a = {.k = state, .b = b};
    const float *dloss = b->plane[MSE_LOSS][0];
    (void)d;
    a.factor = (float)(2 * (double)*dloss / ((double)p->batch * (double)p->in_channels[0]));
    threads_for(a.k->parts, run_part, &a);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, mse_bwd_data, cpu_direct, flat, supports_all, flat_parts_cost, flat_parts_create, launch,
             flat_parts_destroy)
