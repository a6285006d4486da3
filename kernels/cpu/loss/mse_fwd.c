/*
 * mse in f32, f16 and bf16: squared differences in double, part by part, then over the parts in their order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/flat_parts.h"

typedef struct mse {
    const flat_parts *k;
    const buffers *b;
} mse;

static void sum_part(void *context, int64_t part) {
    const mse *a = context;
    float x[FLAT_PIECE], t[FLAT_PIECE];
    flat_piece piece = {0};
    double sum = 0;
    while (flat_parts_next(a->k, part, &piece)) {
        sum += a->k->flat->squares(flat_load(a->k, a->b->plane[MSE_X][0], piece.at, piece.count, x),
                                   flat_load(a->k, a->b->plane[MSE_T][0], piece.at, piece.count, t), piece.count);
    }
    ((double *)a->b->workspace)[part * FLAT_VALUES] = sum;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    mse a = {state, b};
    (void)d;
    threads_for(a.k->parts, sum_part, &a);
    double count = (double)p->batch * (double)p->in_channels[0];
    *(float *)b->plane[MSE_LOSS][0] = count > 0 ? (float)(flat_parts_total(a.k, b, 0) / count) : 0;
    return BRAID_OK;
}

TILE_KERNELS(AVX512, mse_fwd, cpu_direct, flat, supports_all, flat_parts_cost, flat_parts_create_sums, launch,
             flat_parts_destroy)
