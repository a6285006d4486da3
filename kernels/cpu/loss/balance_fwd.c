/*
 * balance in f32, f16 and bf16: the squares of every plane in double, part by part, then norms and variance.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "core/threads.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/flat_parts.h"

typedef struct balance {
    const flat_parts *k;
    const buffers *b;
} balance;

static void sum_part(void *context, int64_t part) {
    const balance *a = context;
    float room[FLAT_PIECE];
    flat_piece piece = {0};
    double sum = 0;
    while (flat_parts_next(a->k, part, &piece)) {
        const void *plane = a->b->plane[BALANCE_X][piece.plane];
        sum += a->k->flat->squares(flat_load(a->k, plane, piece.at, piece.count, room), NULL, piece.count);
    }
    ((double *)a->b->workspace)[part * FLAT_VALUES] = sum;
}

/* The parts of a plane lie one after the other. */
static double norm(const balance *a, int i) {
    const double *sums = (const double *)a->b->workspace + i * a->k->plane_parts * FLAT_VALUES;
    double squares = 0;
    for (int64_t part = 0; part < a->k->plane_parts; part++) squares += sums[part * FLAT_VALUES];
    return sqrt(squares);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    balance a = {state, b};
    double logs[BRAID_MAX_PLANES], sum = 0, squares = 0;
    (void)d;
    threads_for(a.k->parts, sum_part, &a);
    for (int i = 0; i < p->streams; i++) {
        double length = norm(&a, i);
        ((float *)b->plane[BALANCE_NORMS][0])[i] = (float)length;
        logs[i] = log(length + BALANCE_EPS);
        sum += logs[i] - logs[0]; /* about the first, so that equal streams give exactly 0 */
    }
    for (int i = 0; i < p->streams; i++) {
        double away = logs[i] - logs[0] - sum / p->streams;
        squares += away * away;
    }
    *(float *)b->plane[BALANCE_LOSS][0] = (float)(squares / (p->streams - 1));
    return BRAID_OK;
}

TILE_KERNELS(AVX512, balance_fwd, cpu_direct, flat, supports_all, flat_parts_cost, flat_parts_create_sums, launch,
             flat_parts_destroy)
