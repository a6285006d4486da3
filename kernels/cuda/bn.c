/*
 * How the pixels of a normalisation problem are divided. It depends on the problem alone, so that the
 * order of every sum does too.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/bn_launch.h"
#include "kernels/cuda/tile/shape.h"

#define MOST_LANES 32       /* a warp */
#define COLUMN_BLOCKS 1024  /* blocks of a sum that are worth a further cut of the pixels ... */
#define COLUMN_PARTS 256    /* ... into at most so many parts ... */
#define PART_PIXELS 128     /* ... of at least so many pixels */
#define CHUNK_ELEMENTS 8192 /* of a block that makes every element */

/* The smallest power of two that covers the channels, at most a warp. */
static int32_t choose_lanes(int64_t channels) {
    int32_t lanes = 1;
    while (lanes < MOST_LANES && lanes < channels) lanes *= 2;
    return lanes;
}

int bn_fill_columns(struct bn_columns *columns, const braid_problem *p) {
    int64_t tiles[BRAID_MAX_PLANES] = {0}, blocks[BRAID_MAX_PLANES] = {0}, channels = 0, total = 0;
    memset(columns, 0, sizeof *columns);
    columns->planes = p->streams;
    columns->sample_pixels = p->size[0] * p->size[1];
    columns->pixels = p->batch * columns->sample_pixels;
    for (int i = 0; i < p->streams; i++) {
        columns->lanes[i] = choose_lanes(p->in_channels[i]);
        columns->first_channel[i] = (int32_t)channels;
        tiles[i] = launch_tiles(p->in_channels[i], columns->lanes[i]);
        total += tiles[i];
        channels += p->in_channels[i];
        if (channels >= LAUNCH_MAX_LENGTH) return 0;
    }
    for (int i = p->streams; i <= BRAID_MAX_PLANES; i++) columns->first_channel[i] = (int32_t)channels;
    int64_t parts = total ? COLUMN_BLOCKS / total : 1, most = launch_tiles(columns->pixels, PART_PIXELS);
    if (most > COLUMN_PARTS) most = COLUMN_PARTS;
    if (parts > most) parts = most;
    if (parts < 1) parts = 1;
    columns->parts = (int32_t)parts;
    columns->part_pixels = launch_tiles(columns->pixels, parts);
    for (int i = 0; i < p->streams; i++) blocks[i] = tiles[i] * parts;
    return launch_schedule(columns->first_tile, tiles, p->streams) &&
           launch_schedule(columns->first_block, blocks, p->streams);
}

int bn_fill_pixels(struct bn_pixels *pixels, const braid_problem *p) {
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    memset(pixels, 0, sizeof *pixels);
    pixels->planes = p->streams;
    pixels->batch = p->batch;
    pixels->sample_pixels = p->size[0] * p->size[1];
    pixels->train = p->phase == BRAID_PHASE_TRAIN;
    for (int i = 0; i < p->streams; i++) {
        int64_t pitch = p->in_pitch[i] > 0 ? p->in_pitch[i] : 1;
        pixels->lanes[i] = choose_lanes(pitch);
        pixels->chunk[i] = pitch < CHUNK_ELEMENTS ? CHUNK_ELEMENTS / pitch : 1;
        int64_t chunks = p->in_pitch[i] > 0 ? launch_tiles(pixels->sample_pixels, pixels->chunk[i]) : 0;
        if (p->batch > 0 && chunks > CUDA_MAX_BLOCKS / p->batch) return 0;
        pixels->blocks[i] = (int32_t)chunks;
        blocks[i] = chunks * p->batch;
    }
    return launch_schedule(pixels->first_block, blocks, p->streams);
}

const char *bn_refuses_columns(const braid_problem *p, const device *d) {
    struct bn_columns columns;
    (void)d;
    const char *reason = launch_refuses_channels(p);
    return reason || bn_fill_columns(&columns, p) ? reason : launch_too_large;
}

const char *bn_refuses_pixels(const braid_problem *p, const device *d) {
    struct bn_pixels pixels;
    (void)d;
    const char *reason = launch_refuses_channels(p);
    return reason || bn_fill_pixels(&pixels, p) ? reason : launch_too_large;
}

braid_status bn_workspace(const braid_problem *p, size_t element_bytes, size_t *bytes) {
    struct bn_columns columns;
    size_t elements = 0;
    (void)bn_fill_columns(&columns, p);
    TRY(size_array((size_t)columns.first_channel[BRAID_MAX_PLANES], (size_t)columns.parts, "partial sums", &elements));
    return size_array(elements, element_bytes, "partial sums", bytes);
}

void bn_destroy(device *d, void *state) {
    (void)d;
    (void)state;
}
