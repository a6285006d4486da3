/*
 * balance in f32, f16 and bf16: the squares of every plane in double, part by part, then norms and variance.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "core/threads.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/run_parts.h"

typedef struct balance {
    const run_parts *k;
    const buffers *b;
} balance;

static void sum_part(void *context, int64_t part) {
    const balance *a = context;
    float room[RUN_PIECE];
    run_piece piece = {0};
    double sum = 0;
    while (run_parts_next(a->k, part, &piece)) {
        const void *plane = a->b->plane[BALANCE_X][piece.plane];
        sum += a->k->runs->squares(run_load(a->k, plane, piece.at, piece.count, room), NULL, piece.count);
    }
    ((double *)a->b->workspace)[part * RUN_VALUES] = sum;
}

/* The parts of a plane lie one after the other. */
static double norm(const balance *a, int i) {
    const double *sums = (const double *)a->b->workspace + i * a->k->plane_parts * RUN_VALUES;
    double squares = 0;
    for (int64_t part = 0; part < a->k->plane_parts; part++) squares += sums[part * RUN_VALUES];
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

TILE_KERNEL(balance_fwd__cpu_runs_avx512, runs_avx512, supports_all, run_parts_cost, run_parts_create_sums, launch,
            run_parts_destroy)
TILE_KERNEL(balance_fwd__cpu_runs_avx2, runs_avx2, supports_all, run_parts_cost, run_parts_create_sums, launch,
            run_parts_destroy)
TILE_KERNEL(balance_fwd__cpu_runs_portable, runs_portable, supports_all, run_parts_cost, run_parts_create_sums, launch,
            run_parts_destroy)
