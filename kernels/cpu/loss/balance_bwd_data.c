/*
 * balance gradient in f32, f16 and bf16: every plane times a factor of its own, made of the norms in double.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "core/threads.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/isa/copy.h"
#include "kernels/cpu/tile/flat_parts.h"

typedef struct balance_gradient {
    const flat_parts *k;
    const buffers *b;
    float factor[BRAID_MAX_PLANES];
    int zero[BRAID_MAX_PLANES]; /* the norm is 0: so is the gradient */
} balance_gradient;

static void run_part(void *context, int64_t part) {
    const balance_gradient *a = context;
    float room[FLAT_PIECE];
    flat_piece piece = {0};
    while (flat_parts_next(a->k, part, &piece)) {
        void *dx = a->b->plane[BALANCE_DX][piece.plane];
        const float *from = flat_load(a->k, a->b->plane[BALANCE_X][piece.plane], piece.at, piece.count, room);
        float *to = flat_place(a->k, dx, piece.at, room);
        if (a->zero[piece.plane])
            zero_floats(to, piece.count);
        else
            a->k->flat->scale(to, from, NULL, a->factor[piece.plane], piece.count);
        flat_store(a->k, dx, piece.at, piece.count, to);
    }
    flat_parts_clear(a->k, part, a->b->plane[BALANCE_DX][piece.plane]);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    balance_gradient a = {.k = state, .b = b};
    const float *norms = b->plane[BALANCE_NORMS][0], *dloss = b->plane[BALANCE_LOSS][0];
    double sum = 0;
    (void)d;
    for (int i = 0; i < p->streams; i++) sum += log((double)norms[i] + BALANCE_EPS);
    for (int i = 0; i < p->streams; i++) {
        double length = (double)norms[i], away = log(length + BALANCE_EPS) - sum / p->streams;
        a.zero[i] = norms[i] == 0;
        a.factor[i] = (float)(2 * (double)*dloss / (p->streams - 1) * away / (length + BALANCE_EPS) / length);
    }
    threads_for(a.k->parts, run_part, &a);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, balance_bwd_data, cpu_direct, flat, supports_all, flat_parts_cost, flat_parts_create, launch,
             flat_parts_destroy)
