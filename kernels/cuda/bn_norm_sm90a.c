/*
 * bn_norm on CUDA, all planes in one launch: x is read once, as far as the shared memory of all multiprocessors holds
 * it. Residuals that are normalised here are summed up before x, and read twice.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/dtype.h"
#include "core/sizes.h"
#include "kernels/cuda/bn_norm.h"
#include "kernels/cuda/bn_prepare_launch.h"
#include "kernels/cuda/pixels_launch.h"
#include "kernels/cuda/sums.h"

#define PACK_BYTES 16
#define TILE_LANES 8       /* packs of a tile: 128 bytes of a pixel */
#define ROUND_UNITS 132    /* units that run side by side: the pixels are cut for one round ... */
#define PART_PIXELS 4      /* ... into parts of at least so many pixels for every thread */
#define MORE_COUNTERS 4    /* beside those of the units */
#define BYTES_PER_S 1.5e12 /* as launch_cost has it */

static int is_own(const braid_problem *p) { return p->residual_norm == BN_NORM_OWN_RESIDUALS; }

/* Cuts the planes into units; 0 where they are too many. The parts depend on the problem alone. */
static int divide(struct pixel_columns *columns, const braid_problem *p) {
    const int64_t width = PACK_BYTES / (int64_t)dtype_bytes(p->dtype);
    int64_t tiles[BRAID_MAX_PLANES] = {0}, units[BRAID_MAX_PLANES] = {0}, channels = 0, total = 0, rows = 1;
    columns->sample_pixels = p->size[0] * p->size[1];
    columns->pixels = p->batch * columns->sample_pixels;
    for (int i = 0; i < p->streams; i++) {
        const int64_t packs = p->in_pitch[i] / width;
        columns->lanes[i] = launch_lanes(packs, TILE_LANES);
        columns->vector[i] = 1;
        columns->first_channel[i] = (int32_t)channels;
        channels += p->in_channels[i];
        if (channels >= LAUNCH_MAX_LENGTH) return 0;
        tiles[i] = launch_tiles(packs, columns->lanes[i]);
        if (!is_own(p) || i >= p->skip) total += tiles[i];
        if (rows < BLOCK_THREADS / columns->lanes[i]) rows = BLOCK_THREADS / columns->lanes[i];
    }
    for (int i = p->streams; i <= BRAID_MAX_PLANES; i++) columns->first_channel[i] = (int32_t)channels;
    int64_t parts = ROUND_UNITS / total, most = launch_tiles(columns->pixels, PART_PIXELS * rows);
    if (parts > most) parts = most;
    if (parts < 1) parts = 1;
    columns->parts = (int32_t)parts;
    columns->part_pixels = launch_tiles(columns->pixels, parts);
    for (int i = 0; i < p->streams; i++) units[i] = tiles[i] * parts;
    return launch_schedule(columns->first_tile, tiles, p->streams) &&
           launch_schedule(columns->first_block, units, p->streams);
}

static const char *supports(const braid_problem *p, const device *d) {
    struct pixel_columns columns = {0};
    const char *reason = launch_refuses_channels(p);
    (void)d;
    if (reason) return reason;
    for (int i = 0; i < p->streams; i++) {
        if (p->in_pitch[i] * (int64_t)dtype_bytes(p->dtype) % PACK_BYTES)
            return "a pixel is not a multiple of 16 bytes";
    }
    if (!divide(&columns, p)) return launch_too_large;
    if (columns.pixels >= LAUNCH_MAX_LENGTH) return "there are 2^30 pixels or more";
    return columns.first_block[BRAID_MAX_PLANES] + MORE_COUNTERS > CUDA_MOST_COUNTERS
               ? "there are not enough counters for so many channels"
               : NULL;
}

/* All operands once, and again what shared memory does not hold, which comes at half the speed. */
static double cost(const braid_problem *p) {
    const double launch_s = 5e-6;
    const int64_t bytes = (int64_t)dtype_bytes(p->dtype);
    struct pixel_columns columns = {0};
    double again = 0;
    if (!divide(&columns, p)) return launch_cost(p);
    for (int i = 0; i < p->streams; i++) {
        const double held =
            (double)(columns.first_block[i + 1] - columns.first_block[i]) * BN_NORM_STAGES * BLOCK_THREADS * PACK_BYTES;
        const double all = (double)columns.pixels * (double)p->in_pitch[i] * (double)bytes;
        if (i >= p->skip) again += all > held ? 2 * (all - held) : 0;
        if (i < p->skip && is_own(p)) again += all;
    }
    return launch_s + (op_bytes(p) + again) / BYTES_PER_S;
}

/* Of all parts of the statistics. */
static braid_status count_moments(const struct pixel_columns *columns, size_t *bytes) {
    size_t channels = 0;
    TRY(size_array((size_t)columns->first_channel[BRAID_MAX_PLANES], sizeof(struct bn_moments), "statistics",
                   &channels));
    return size_array((size_t)columns->parts, channels, "statistics", bytes);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct pixel_columns columns = {0};
    size_t moments = 0, before = 0;
    (void)d;
    *state = NULL;
    if (!divide(&columns, p)) return fail(BRAID_ERROR_ARGUMENT, "bn_norm: %s", launch_too_large);
    TRY(count_moments(&columns, &moments));
    TRY(size_array((size_t)columns.first_block[BRAID_MAX_PLANES], sizeof(int32_t), "units", &before));
    return size_add(moments, before, workspace_bytes) ? BRAID_OK
                                                      : fail(BRAID_ERROR_ARGUMENT, "bn_norm: %s", launch_too_large);
}

static void fill(struct bn_norm_args *args, const braid_problem *p, const buffers *b) {
    pixels_begin(&args->sums, p);
    args->sums.activation = p->activation;
    for (int i = 0; i < p->streams; i++) {
        struct pixel_plane *plane = &args->sums.plane[i];
        const int made = i - p->skip;
        plane->x = b->plane[BN_PREPARE_X][i];
        plane->mask = b->plane[BN_PREPARE_MASK][i];
        if (made < 0) continue;
        plane->y = b->plane[BN_NORM_Y][made];
        plane->z = b->plane[is_own(p) ? (int)BN_PREPARE_X : (int)BN_NORM_Z][made];
        plane->zscale = b->plane[is_own(p) ? (int)BN_PREPARE_SCALE : (int)BN_NORM_ZSCALE][made];
        plane->zshift = b->plane[is_own(p) ? (int)BN_PREPARE_SHIFT : (int)BN_NORM_ZSHIFT][made];
    }
    bn_prepare_norm(&args->norm, p, b);
    args->skip = p->skip;
    args->own = is_own(p);
    for (int half = 0; half <= is_own(p); half++) args->batches[half] = b->plane[BN_PREPARE_BATCHES][half];
    if (is_own(p)) args->norm.planes = p->skip;
}

static int is_aligned(const struct pixel_args *args) {
    for (int i = 0; i < args->planes; i++) {
        const struct pixel_plane *plane = &args->plane[i];
        if (((uintptr_t)plane->x | (uintptr_t)plane->y | (uintptr_t)plane->z | (uintptr_t)plane->zscale |
             (uintptr_t)plane->zshift) %
            PACK_BYTES)
            return 0;
    }
    return 1;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"bn_norm_f32", "bn_norm_f16", "bn_norm_bf16"},
                              add = {"bn_norm_add_f32", "bn_norm_add_f16", "bn_norm_add_bf16"};
    struct bn_norm_args args;
    size_t moments = 0;
    (void)state;
    memset(&args, 0, sizeof args);
    fill(&args, p, b);
    if (!is_aligned(&args.sums))
        return fail(BRAID_ERROR_ARGUMENT, "bn_norm: expected operands at multiples of 16 bytes");
    if (!divide(&args.sums.columns, p)) return fail(BRAID_ERROR_ARGUMENT, "bn_norm: %s", launch_too_large);
    TRY(count_moments(&args.sums.columns, &moments));
    args.units = args.sums.columns.first_block[BRAID_MAX_PLANES];
    args.sums.columns.workspace = b->workspace;
    args.before = (int32_t *)((char *)b->workspace + moments);
    args.sums.counters = cuda_counters(d, args.units + MORE_COUNTERS);
    if (!args.sums.counters) return fail(BRAID_ERROR_ARGUMENT, "bn_norm: %s", launch_too_large);
    args.taken = args.sums.counters + args.units;
    args.left = args.taken + 1;
    args.counted = args.left + 1;
    const int64_t processors = cuda_processors(d);
    return cuda_launch(d, &(cuda_call){.stem = "bn_norm_sm90a",
                                       .function = launch_name(p->add ? &add : &names, p->dtype),
                                       .blocks = args.units < processors ? args.units : processors,
                                       .threads = BLOCK_THREADS,
                                       .shared_bytes = sizeof(struct bn_norm_shared),
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

const kernel_functions bn_norm__cuda_resident = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = launch_destroy};
