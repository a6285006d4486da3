/*
 * The walk of pointwise.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/pointwise.h"

#include <string.h>

#include "core/threads.h"
#include "kernels/cpu/isa/copy.h"

typedef struct pointwise_work {
    const pointwise *a;
    int stream; /* the outputs do not fit the last cache */
} points_work;

/* Pixels of a span; the dense ones of aligned pixels alone can be stored past the caches. */
static channel_map map_of(const points_work *w, int i, const chunk_span *span) {
    const pointwise *a = w->a;
    const chunks *k = a->k;
    int64_t first = span->begin * k->pitch[i];
    const void *z = a->z == POINTWISE_NONE ? NULL : plane_from(a->b->plane[a->z][i], first, k->bytes);
    channel_map m = {
        .kind = a->kind,
        .dtype = k->dtype,
        .channels = k->channels[i],
        .pitch = k->pitch[i],
        .count = span->end - span->begin,
        .x = plane_from(a->b->plane[a->x][i], first, k->bytes),
        .z = z,
        .out = plane_to(a->b->plane[a->out][i], first, k->bytes),
        .y = a->y ? plane_from(a->b->plane[a->y][i], first, k->bytes) : NULL,
        .also = a->also ? plane_to(a->b->plane[a->also][i], first, k->bytes) : NULL,
    };
    size_t pixel_bytes = (size_t)m.pitch * k->bytes;
    m.stream = w->stream && m.channels == m.pitch &&
               (pixel_bytes | (uintptr_t)m.out | (uintptr_t)m.also) % CHANNEL_STREAM_BYTES == 0;
    memcpy(m.coefficient, a->coefficient[i], sizeof m.coefficient);
    return m;
}

static void run_part(void *context, int64_t index) {
    const points_work *w = context;
    const pointwise *a = w->a;
    chunk_span span = {0};
    int i;
    int64_t chunk;
    chunks_find(a->k, index, &i, &chunk);
    const uint32_t *mask = a->mask == POINTWISE_NONE ? NULL : a->b->plane[a->mask][i];
    while (chunks_next_span(a->k, i, mask, chunk, &span)) {
        chunks_clear(a->k, i, &span, a->b->plane[a->out][i]);
        if (a->also) chunks_clear(a->k, i, &span, a->b->plane[a->also][i]);
        if (span.blank) continue;
        channel_map m = map_of(w, i, &span);
        a->k->loops->map(&m);
    }
}

void pointwise_run(const pointwise *a, const device *d) {
    const chunks *k = a->k;
    points_work w = {a, chunks_exceed_cache(k, k->bytes, d)};
    threads_for(k->parts, run_part, &w);
}
