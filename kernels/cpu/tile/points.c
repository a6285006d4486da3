/*
 * The walk of points.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/points.h"

#include "core/threads.h"

typedef struct points {
    const braid_problem *p;
    const chunks *k;
    const buffers *b;
    const int *slots;
    points_function make;
} points;

static void run_part(void *context, int64_t index) {
    const points *a = context;
    chunk_span span = {0};
    int i;
    int64_t chunk;
    chunks_find(a->k, index, &i, &chunk);
    const float *x = a->b->plane[a->slots[0]][i], *second = a->slots[1] < 0 ? NULL : a->b->plane[a->slots[1]][i];
    float *out = a->b->plane[a->slots[2]][i];
    while (chunks_next_span(a->k, NULL, chunk, &span)) {
        chunks_clear(a->k, i, &span, out);
        lanes_pixels pixels = chunks_pixels(a->k, i, &span, x, second);
        a->make(a->p, a->k->lanes, out + span.begin * a->k->pitch[i], &pixels);
    }
}

void points_run(const braid_problem *p, const void *state, const buffers *b, const int slots[3], points_function make) {
    points a = {p, state, b, slots, make};
    threads_for(a.k->streams * a.k->count, run_part, &a);
}
