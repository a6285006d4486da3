/*
 * The pixels of all streams, cut into chunks that one thread works on: for kernels that pass over the
 * pixels of [B][H][W][C] planes channel by channel. The chunks depend on the problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_CHUNKS_H
#define BRAID_KERNELS_CPU_TILE_CHUNKS_H

#include "kernels/cpu/isa/channels.h"
#include "kernels/kernel.h"

#define CHUNK_CHANNELS 64    /* channels of a part that finishes per-channel results */
#define CHUNK_COEFFICIENTS 3 /* floats per channel in the workspace of chunks_create */

typedef struct chunks {
    const channel_loops *loops;
    braid_dtype dtype; /* of the planes */
    size_t bytes;      /* of a value */
    int streams;
    int64_t sample_pixels, pixels; /* of one stream, blanked samples included */
    /* Of each stream, by its own channels: what is made of a stream does not depend on the others. */
    int64_t chunk_pixels[BRAID_MAX_PLANES], count[BRAID_MAX_PLANES];
    int64_t parts; /* chunks of all streams */
    int64_t channels[BRAID_MAX_PLANES], pitch[BRAID_MAX_PLANES];
    int64_t first_value[BRAID_MAX_PLANES]; /* where a stream's values start in the workspace */
    int64_t channel_parts;                 /* of CHUNK_CHANNELS at most, over all streams */
} chunks;

/* A stretch of pixels of one sample. */
typedef struct chunk_span {
    int64_t begin, end;
    int blank;
} chunk_span;

/* Ready the chunks with a workspace for CHUNK_COEFFICIENTS floats per channel, for the sums of chunks_sum, or with no
 * workspace. Return a state for chunks_destroy. */
braid_status chunks_create(const braid_problem *p, const channel_loops *l, void **state, size_t *workspace_bytes);
braid_status chunks_create_sums(const braid_problem *p, const channel_loops *l, void **state, size_t *workspace_bytes);
braid_status chunks_create_bare(const braid_problem *p, const channel_loops *l, void **state, size_t *workspace_bytes);
void chunks_destroy(device *d, void *state);

/* Predicted seconds, at the rate of the loops. */
double chunks_cost(const braid_problem *p, const machine *on, const channel_loops *l);

/* 1 where the planes of all streams, with so many bytes a value, do not fit the last cache of the device. */
int chunks_exceed_cache(const chunks *k, size_t bytes, const device *d);

/* Stream and chunk of part `index` of parts. */
void chunks_find(const chunks *k, int64_t index, int *stream, int64_t *chunk);

/* The spans of a chunk: start with span->end = 0; false when there is none left. */
int chunks_next_span(const chunks *k, int stream, const uint32_t *mask, int64_t chunk, chunk_span *span);

/* Stream and channels of part `index` of channel_parts. */
void chunks_find_channels(const chunks *k, int64_t index, int *stream, int64_t *begin, int64_t *end);

/* Writes the zeros of a span: everything where it is blanked, else the lanes behind the channels. */
void chunks_clear(const chunks *k, int stream, const chunk_span *span, void *out);

/* Two sums of every channel over the active pixels of every chunk (channels.h: sums), in the workspace; then
 * finish(sums, part) makes the results of channel part `part`. A NULL center stands for the median
 * of three active pixels of the chunk, channel by channel: a mean far from zero does not reach the sums, which are
 * rounded as floats are, and no single pixel moves the center. It is one of the values, so that sums of small integers
 * stay exact. */
typedef struct chunk_sums {
    const chunks *k;
    const buffers *b;
    const void *x[BRAID_MAX_PLANES], *dy[BRAID_MAX_PLANES];
    const float *center[BRAID_MAX_PLANES];
    const uint32_t *mask[BRAID_MAX_PLANES];
    int gate; /* before dy: channels.h; 0: none. What it reads: */
    const void *y[BRAID_MAX_PLANES];
    const float *scale[BRAID_MAX_PLANES], *shift[BRAID_MAX_PLANES];
    int slots[3]; /* for finish() */
} chunk_sums;
void chunks_sum(chunk_sums *s, void (*finish)(void *sums, int64_t channel_part));

/* The result for one chunk: the sums of every channel, and what stood for a NULL center where a pixel is active. */
typedef struct chunk_result {
    double *first, *second; /* [channels] */
    float *center;
} chunk_result;
chunk_result chunks_result(const chunk_sums *s, int stream, int64_t chunk);

/* How many pixels of a chunk are active. */
int64_t chunks_active(const chunks *k, int stream, const uint32_t *mask, int64_t chunk);

#endif
