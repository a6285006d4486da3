/*
 * The chunks of chunks.h: as many pixels as the second-level cache holds of a stream. A chunk may span
 * samples, of which each is active or blanked as a whole, so it is walked span by span.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/chunks.h"

#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/isa/copy.h"

#define CHUNK_VALUES 32768 /* 128 KiB of floats, at most */
#define CHUNK_PIXELS 16    /* at least */
#define CHUNK_SUMS 3       /* doubles per channel of a chunk: two sums, and the room of a center */

static braid_status fill(chunks *k, const braid_problem *p, int64_t values, int per_chunk, int64_t *total) {
    const int64_t dims[3] = {p->batch, p->size[0], p->size[1]};
    TRY(size_elements(dims, 3, "pixels", &k->pixels));
    k->sample_pixels = p->size[0] * p->size[1];
    for (int i = 0; i < k->streams; i++) {
        k->channels[i] = p->in_channels[i];
        k->pitch[i] = p->in_pitch[i];
        k->chunk_pixels[i] = CHUNK_VALUES / (k->channels[i] > 0 ? k->channels[i] : 1);
        if (k->chunk_pixels[i] < CHUNK_PIXELS) k->chunk_pixels[i] = CHUNK_PIXELS;
        k->count[i] = ceil_div(k->pixels, k->chunk_pixels[i]);
        k->parts += k->count[i];
        k->channel_parts += ceil_div(k->channels[i], CHUNK_CHANNELS);
    }
    for (int i = 0; i < k->streams; i++) {
        const int64_t stream_dims[3] = {per_chunk ? k->count[i] : 1, k->channels[i], values};
        int64_t stream_values = 0;
        TRY(size_elements(stream_dims, 3, "sums of every channel", &stream_values));
        k->first_value[i] = *total;
        *total += stream_values;
    }
    return BRAID_OK;
}

static braid_status create(const braid_problem *p, const channel_loops *l, int64_t values, size_t element_bytes,
                           int per_chunk, void **state, size_t *workspace_bytes) {
    chunks *k = NULL;
    int64_t total = 0;
    TRY(memory_calloc(1, sizeof *k, "state of a pass over pixels", (void **)&k));
    k->loops = l;
    k->streams = p->streams;
    k->dtype = p->dtype;
    k->bytes = dtype_bytes(p->dtype);
    braid_status status = fill(k, p, values, per_chunk, &total);
    if (!status) status = size_array((size_t)total, element_bytes, "workspace of a pass over pixels", workspace_bytes);
    if (status) {
        memory_free(k);
        return status;
    }
    *state = k;
    return BRAID_OK;
}

braid_status chunks_create(const braid_problem *p, const channel_loops *l, void **state, size_t *workspace_bytes) {
    return create(p, l, CHUNK_COEFFICIENTS, sizeof(float), 0, state, workspace_bytes);
}

braid_status chunks_create_sums(const braid_problem *p, const channel_loops *l, void **state, size_t *workspace_bytes) {
    return create(p, l, CHUNK_SUMS, sizeof(double), 1, state, workspace_bytes);
}

braid_status chunks_create_bare(const braid_problem *p, const channel_loops *l, void **state, size_t *workspace_bytes) {
    return create(p, l, 0, sizeof(float), 0, state, workspace_bytes);
}

void chunks_destroy(device *d, void *state) {
    (void)d;
    memory_free(state);
}

void chunks_find(const chunks *k, int64_t index, int *stream, int64_t *chunk) {
    *stream = 0;
    while (index >= k->count[*stream]) index -= k->count[(*stream)++];
    *chunk = index;
}

int chunks_next_span(const chunks *k, int stream, const uint32_t *mask, int64_t chunk, chunk_span *span) {
    int64_t begin = chunk * k->chunk_pixels[stream], end = at_most(begin + k->chunk_pixels[stream], k->pixels);
    if (span->end > begin) begin = span->end;
    if (begin >= end) return 0;
    int64_t sample = begin / k->sample_pixels, sample_end = (sample + 1) * k->sample_pixels;
    *span = (chunk_span){begin, sample_end < end ? sample_end : end, mask_blanks(mask, sample)};
    return 1;
}

void chunks_find_channels(const chunks *k, int64_t index, int *stream, int64_t *begin, int64_t *end) {
    *stream = 0;
    while (index >= ceil_div(k->channels[*stream], CHUNK_CHANNELS)) {
        index -= ceil_div(k->channels[(*stream)++], CHUNK_CHANNELS);
    }
    *begin = index * CHUNK_CHANNELS;
    *end = at_most(*begin + CHUNK_CHANNELS, k->channels[*stream]);
}

void chunks_clear(const chunks *k, int stream, const chunk_span *span, void *out) {
    int64_t pitch = k->pitch[stream], pixels = span->end - span->begin;
    void *first = plane_to(out, span->begin * pitch, k->bytes);
    if (span->blank)
        memset(first, 0, (size_t)(pixels * pitch) * k->bytes);
    else
        zero_gaps(first, pixels, k->channels[stream], pitch, k->bytes);
}

int64_t chunks_active(const chunks *k, int stream, const uint32_t *mask, int64_t chunk) {
    chunk_span span = {0};
    int64_t active = 0;
    while (chunks_next_span(k, stream, mask, chunk, &span)) {
        if (!span.blank) active += span.end - span.begin;
    }
    return active;
}

chunk_result chunks_result(const chunk_sums *s, int stream, int64_t chunk) {
    int64_t channels = s->k->channels[stream];
    double *first = (double *)s->b->workspace + s->k->first_value[stream] + chunk * CHUNK_SUMS * channels;
    return (chunk_result){first, first + channels, (float *)(first + 2 * channels)};
}

/* The pixel behind so many active ones of a chunk. */
static const void *active_pixel(const chunk_sums *s, int i, int64_t chunk, int64_t before) {
    const chunks *k = s->k;
    chunk_span span = {0};
    while (chunks_next_span(k, i, s->mask[i], chunk, &span)) {
        if (span.blank) continue;
        if (before < span.end - span.begin) break;
        before -= span.end - span.begin;
    }
    return plane_from(s->x[i], (span.begin + before) * k->pitch[i], k->bytes);
}

static void make_center(const chunk_sums *s, int i, int64_t chunk, int64_t active, float *center) {
    const void *pixels[3];
    for (int j = 0; j < 3; j++) pixels[j] = active_pixel(s, i, chunk, active * (2 * j + 1) / 6);
    s->k->loops->median(center, pixels, s->k->dtype, s->k->channels[i]);
}

static void sum_part(void *context, int64_t index) {
    const chunk_sums *s = context;
    const chunks *k = s->k;
    chunk_span span = {0};
    int i;
    int64_t chunk;
    chunks_find(k, index, &i, &chunk);
    chunk_result to = chunks_result(s, i, chunk);
    for (int64_t c = 0; c < k->channels[i]; c++) to.first[c] = to.second[c] = 0;
    const int64_t active = chunks_active(k, i, s->mask[i], chunk);
    if (active == 0) return;
    if (!s->center[i]) make_center(s, i, chunk, active, to.center);
    while (chunks_next_span(k, i, s->mask[i], chunk, &span)) {
        if (span.blank) continue;
        k->loops->sums(&(channel_sums){
            .dtype = k->dtype,
            .channels = k->channels[i],
            .pitch = k->pitch[i],
            .count = span.end - span.begin,
            .x = plane_from(s->x[i], span.begin * k->pitch[i], k->bytes),
            .dy = s->dy[i] ? plane_from(s->dy[i], span.begin * k->pitch[i], k->bytes) : NULL,
            .center = s->center[i] ? s->center[i] : to.center,
            .gate = s->gate,
            .y = s->y[i] ? plane_from(s->y[i], span.begin * k->pitch[i], k->bytes) : NULL,
            .scale = s->scale[i],
            .shift = s->shift[i],
            .first = to.first,
            .second = to.second,
        });
    }
}

void chunks_sum(chunk_sums *s, void (*finish)(void *sums, int64_t channel_part)) {
    threads_for(s->k->parts, sum_part, s);
    threads_for(s->k->channel_parts, finish, s);
}

double chunks_cost(const braid_problem *p, const machine *on, const channel_loops *l) {
    return cost_seconds(p, on, l->flops, 2, 2e-6);
}

int chunks_exceed_cache(const chunks *k, size_t bytes, const device *d) {
    double values = 0;
    for (int i = 0; i < k->streams; i++) values += (double)k->pixels * (double)k->pitch[i];
    return values * (double)bytes > (double)d->backend->cache_bytes(d);
}
