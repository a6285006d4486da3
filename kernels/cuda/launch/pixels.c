/*
 * How the pixels of a problem are divided.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/dtype.h"
#include "core/sizes.h"
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/tile/shape.h"

#define MOST_LANES 32    /* a warp */
#define WARP_ROW 256     /* elements of the longest row that a warp does without others */
#define WINDOW_LANES 4   /* of a block with one window: many rows of threads share its pixels; ... */
#define MANY_PIXELS 4096 /* ... several blocks share it where windows are few and have so many pixels, ... */
#define PART_WINDOW 512  /* ... each with so many of them at least */
#define VECTOR_BYTES 16  /* of one access */
#define COLUMN_LANES 8   /* of a sum of packs: 128 bytes of a pixel, and few parts for every block that adds some */
/* Pixels are cut for the blocks of a sum that run side by side, three to a multiprocessor, ... */
#define COLUMN_BLOCKS (3 * LAUNCH_PROCESSORS)
#define GRAD_BLOCKS (2 * LAUNCH_PROCESSORS)   /* ... one round of them, also with two to a multiprocessor, ... */
#define WINDOW_BLOCKS (6 * LAUNCH_PROCESSORS) /* ... or three of sums over windows, ... */
#define PART_PIXELS 4                         /* ... into parts of at least so many pixels for every thread */
#define PART_ROWS 32                          /* fewest rows of a part of whole rows, ... */
#define ROW_PARTS (4 * LAUNCH_PROCESSORS)     /* ... and most parts */
#define SECOND_LANES 8                        /* of the block that adds the parts */
#define CHUNK_ELEMENTS 8192                   /* of a block that makes every element, ... */
#define CURVED_CHUNK 16384   /* ... or much of every element: what a block does once weighs less, ... */
#define WINDOW_ELEMENTS 2048 /* ... or windows, ... */
#define LEAST_ELEMENTS 1024  /* ... down to so many ... */
#define ENOUGH_BLOCKS (2 * LAUNCH_PROCESSORS) /* ... where there are fewer blocks */
#define HALVES 8                              /* of a pack ... */
#define FEW_HALVES 4                          /* ... and of the smallest */
#define FLAT_CHANNELS 64                      /* most channels that pixels side by side make */
#define STRIP_ROWS 32                         /* most rows of windows of a block that slides */

/* Channels of one access, where the pitch allows it; a cast writes and reads at most 16 bytes at once. */
static int64_t choose_width(const braid_problem *p, int64_t pitch) {
    int64_t bytes = (int64_t)dtype_bytes(p->dtype), width = VECTOR_BYTES / bytes;
    if (p->op == BRAID_OP_CAST && (int64_t)dtype_bytes(p->to) > bytes)
        width = VECTOR_BYTES / (int64_t)dtype_bytes(p->to);
    return pitch % width ? 1 : width;
}

/* ---- Arguments ---------------------------------------------------------------------------- */

/* The end of a plane, which is known of every argument. */
typedef struct plane_end {
    PIXEL_PLANE;
} plane_end;

/* An argument without anything of its own, for who asks how the pixels would be divided. */
struct any_args {
    plane_end plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
};

static void *plane_of(const pixels_argument *of, int i) { return (char *)of->planes + (size_t)i * of->plane_bytes; }

static void *end_in(const pixels_argument *of, int i) {
    return (char *)plane_of(of, i) + of->plane_bytes - sizeof(plane_end);
}

static plane_end end_of(const pixels_argument *of, int i) {
    plane_end end;
    memcpy(&end, end_in(of, i), sizeof end);
    return end;
}

static void set_lengths(const pixels_argument *of, int i, int64_t pitch, int64_t channels) {
    plane_end end = end_of(of, i);
    end.pitch = pitch;
    end.channels = channels;
    memcpy(end_in(of, i), &end, sizeof end);
}

/* 1 where all addresses of a plane allow packs. */
static int is_aligned(const void *plane, size_t bytes) {
    for (size_t at = 0; at + sizeof(plane_end) < bytes; at += sizeof(void *)) {
        uintptr_t address;
        memcpy(&address, (const char *)plane + at, sizeof address);
        if (address % VECTOR_BYTES) return 0;
    }
    return 1;
}

void pixels_begin(const pixels_argument *of, const braid_problem *p) {
    memset(of->args, 0, of->bytes);
    *of->count = p->streams;
    for (int i = 0; i < p->streams; i++) set_lengths(of, i, p->in_pitch[i], p->in_channels[i]);
}

void pixel_args_begin(struct pixel_args *args, const braid_problem *p) {
    pixels_begin(PIXELS(args), p);
    args->train = p->phase == BRAID_PHASE_TRAIN;
    args->activation = (int32_t)p->activation;
    args->eps = p->eps;
}

void pixels_window(struct pixel_window *window, const braid_problem *p, const int64_t out_size[2]) {
    for (int axis = 0; axis < 2; axis++) {
        window->size[axis] = (int32_t)p->size[axis];
        window->out_size[axis] = (int32_t)out_size[axis];
        window->filter[axis] = (int32_t)p->filter[axis];
        window->stride[axis] = (int32_t)p->stride[axis];
        window->padding[axis] = (int32_t)p->padding[axis];
        window->dilation[axis] = (int32_t)p->dilation[axis];
    }
}

braid_problem pixels_image(const braid_problem *p, const int64_t size[2]) {
    braid_problem image = *p;
    image.batch = p->batch > 0;
    image.size[0] = p->batch * size[0];
    image.size[1] = size[1];
    return image;
}

/* ---- Every element ------------------------------------------------------------------------ */

/* Lanes for rows of packs: a warp at most, or the whole block where it has fewer pixels than rows of threads. */
static int32_t choose_lanes(int64_t packs, int64_t pixels) {
    int32_t lanes = launch_lanes(packs, MOST_LANES);
    while (lanes < BLOCK_THREADS && lanes < packs && BLOCK_THREADS / lanes > pixels) lanes *= 2;
    return lanes;
}

/* Elements of a block: less than `most` where there would be few blocks of the planes from `first` on. */
static int64_t choose_chunk(const pixels_argument *of, int first, int64_t most) {
    const struct pixel_map *map = of->map;
    int64_t elements = 0;
    for (int i = first; i < *of->count; i++) elements += map->batch * map->sample_pixels * end_of(of, i).pitch;
    int64_t chunk = elements / ENOUGH_BLOCKS;
    if (chunk > most) chunk = most;
    return chunk > LEAST_ELEMENTS ? chunk : LEAST_ELEMENTS;
}

/* Divides map.batch samples of map.sample_pixels pixels of the planes from `first` on, a block having at most `most`
 * elements, and halves being taken in packs of `least` or more; 0 where the blocks are too many for one launch. */
static int divide_map(const pixels_argument *of, const braid_problem *p, int first, int64_t most, int64_t least) {
    struct pixel_map *map = of->map;
    int64_t blocks[BRAID_MAX_PLANES] = {0}, elements = choose_chunk(of, first, most);
    for (int i = first; i < p->streams; i++) {
        int64_t pitch = end_of(of, i).pitch, width = choose_width(p, pitch);
        if (width == 1 && dtype_bytes(p->dtype) == 2 && pitch % least == 0) width = least;
        if (!is_aligned(plane_of(of, i), of->plane_bytes)) width = 1;
        map->vector[i] = width > 1 ? (int32_t)width : 0;
        int64_t pixels = pitch > 0 && pitch < elements ? elements / pitch : 1;
        map->lanes[i] = choose_lanes(pitch / width, pixels < map->sample_pixels ? pixels : map->sample_pixels);
        map->chunk[i] = elements / (map->lanes[i] * width);
        if (map->chunk[i] < 1) map->chunk[i] = 1;
        int64_t tiles = launch_tiles(pitch, map->lanes[i] * width),
                chunks = launch_tiles(map->sample_pixels, map->chunk[i]);
        if (tiles > 0 && chunks > CUDA_MAX_BLOCKS / tiles) return 0;
        if (map->batch > 0 && tiles * chunks > CUDA_MAX_BLOCKS / map->batch) return 0;
        map->tiles[i] = (int32_t)tiles;
        map->blocks[i] = (int32_t)(tiles * chunks);
        blocks[i] = tiles * chunks * map->batch;
    }
    return launch_schedule(map->first_block, blocks, p->streams);
}

static int fill_map(const pixels_argument *of, const braid_problem *p, const int64_t size[2]) {
    of->map->batch = p->batch;
    of->map->sample_pixels = size[0] * size[1];
    return divide_map(of, p, 0, CHUNK_ELEMENTS, HALVES);
}

/* The same where nothing depends on the sample or on the channel: all pixels are one sample, and where no pitch has
 * lanes to spare some pixels side by side are one, which makes packs of few channels. */
static int fill_flat(const pixels_argument *of, const braid_problem *p, const int64_t size[2]) {
    int64_t pixels = p->batch * size[0] * size[1], fold = FLAT_CHANNELS;
    for (int i = 0; i < p->streams; i++) {
        const plane_end plane = end_of(of, i);
        while (fold > 1 && (plane.pitch != plane.channels || plane.pitch * fold > FLAT_CHANNELS || pixels % fold))
            fold /= 2;
    }
    for (int i = 0; i < p->streams; i++) set_lengths(of, i, end_of(of, i).pitch * fold, end_of(of, i).channels * fold);
    of->map->batch = 1;
    of->map->sample_pixels = pixels / fold;
    const int is_simple = p->op != BRAID_OP_DROPOUT && pixels_are_straight(p);
    return divide_map(of, p, 0, is_simple ? CHUNK_ELEMENTS : CURVED_CHUNK, HALVES);
}

/* The same where a pixel is a window, and nothing depends on the sample. */
static int fill_places(const pixels_argument *of, const braid_problem *p, const int64_t size[2]) {
    of->map->batch = 1;
    of->map->sample_pixels = p->batch * size[0] * size[1];
    return divide_map(of, p, 0, WINDOW_ELEMENTS, FEW_HALVES);
}

/* Lanes of a sum over packs of so many numbers. */
static int32_t column_lanes(int64_t packs, int64_t width) {
    return launch_lanes(packs, width > 1 ? COLUMN_LANES : MOST_LANES);
}

/* Blocks that share a window of avgpool. They depend on the problem alone. */
static int64_t window_parts(const braid_problem *p, int64_t windows, int64_t pixels) {
    int64_t tiles = 0;
    for (int i = 0; i < p->streams; i++)
        tiles += launch_tiles(p->in_pitch[i], COLUMN_LANES * choose_width(p, p->in_pitch[i]));
    if (pixels < MANY_PIXELS || tiles <= 0 || windows <= 0 || windows > COLUMN_BLOCKS / tiles) return 1;
    int64_t parts = COLUMN_BLOCKS / (tiles * windows);
    return parts < pixels / PART_WINDOW ? parts : pixels / PART_WINDOW;
}

/* A block, or several, for each window of avgpool and tile of channels. */
int pixels_divide_windows(const pixels_argument *of, const braid_problem *p, int32_t *shared) {
    struct pixel_map *map = of->map;
    int64_t blocks[BRAID_MAX_PLANES] = {0}, windows = p->batch * p->out_size[0] * p->out_size[1];
    int64_t pixels = launch_tiles(p->size[0], p->out_size[0]) * launch_tiles(p->size[1], p->out_size[1]);
    const int64_t parts = window_parts(p, windows, pixels);
    *shared = (int32_t)parts;
    for (int i = 0; i < p->streams; i++) {
        int64_t width = is_aligned(plane_of(of, i), of->plane_bytes) ? choose_width(p, p->in_pitch[i]) : 1;
        int64_t packs = p->in_pitch[i] / width;
        map->vector[i] = width > 1 ? (int32_t)width : 0;
        map->lanes[i] = parts > 1 ? column_lanes(packs, width) : launch_lanes(packs, WINDOW_LANES);
        while (map->lanes[i] < MOST_LANES && map->lanes[i] < packs && BLOCK_THREADS / map->lanes[i] > pixels)
            map->lanes[i] *= 2;
        int64_t tiles = launch_tiles(p->in_pitch[i], map->lanes[i] * width);
        if (tiles > 0 && windows > CUDA_MAX_BLOCKS / tiles / parts) return 0;
        map->blocks[i] = (int32_t)tiles;
        blocks[i] = tiles * windows * parts;
    }
    return launch_schedule(map->first_block, blocks, p->streams);
}

/* Sums of the parts of all windows: of unaligned planes, too, whose tiles have the fewest channels. */
braid_status pixels_create_windows(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct any_args args;
    int32_t parts = 0;
    size_t sums = 0;
    (void)d;
    *state = NULL;
    *workspace_bytes = 0;
    pixels_begin(PIXELS(&args), p);
    (void)pixels_divide_windows(PIXELS(&args), p, &parts);
    if (parts < 2) return BRAID_OK;
    for (int i = 0; i < p->streams; i++) sums += (size_t)launch_tiles(p->in_pitch[i], MOST_LANES);
    sums *= (size_t)(p->batch * p->out_size[0] * p->out_size[1] * parts);
    return size_array(sums, WINDOW_SUMS * sizeof(float), "partial sums", workspace_bytes);
}

int pixels_are_straight(const braid_problem *p) {
    return p->activation == BRAID_ACTIVATION_NONE || p->activation == BRAID_ACTIVATION_RELU;
}

int pixels_are_three(const pixels_argument *of, const struct pixel_window *window, const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        if (choose_width(p, p->in_pitch[i]) == 1 || !is_aligned(plane_of(of, i), of->plane_bytes)) return 0;
    }
    for (int axis = 0; axis < 2; axis++) {
        if (window->filter[axis] != 3 || window->dilation[axis] != 1) return 0;
    }
    return pixels_are_straight(p);
}

int pixels_can_slide(const pixels_argument *of, const struct pixel_window *window, const braid_problem *p) {
    for (int axis = 0; axis < 2; axis++) {
        if (window->stride[axis] != 2 || window->padding[axis] != 1) return 0;
    }
    return pixels_are_three(of, window, p);
}

int pixels_are_two(const pixels_argument *of, const struct pixel_window *window, const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        const plane_end end = end_of(of, i);
        if (end.channels != FEW_HALVES || end.pitch != FEW_HALVES || !is_aligned(plane_of(of, i), of->plane_bytes))
            return 0;
    }
    for (int axis = 0; axis < 2; axis++) {
        if (window->filter[axis] != 2 || window->stride[axis] != 2 || window->dilation[axis] != 1 ||
            window->padding[axis] != 0 || window->size[axis] % 2)
            return 0;
    }
    return dtype_bytes(p->dtype) == 2;
}

int pixels_are_apart(const struct pixel_window *window) {
    for (int axis = 0; axis < 2; axis++) {
        if (window->stride[axis] <= (window->filter[axis] - 1) * window->dilation[axis]) return 0;
    }
    return 1;
}

/* The blocks of a sample are tiles of columns of windows times strips of rows. The last column of threads of a block
 * finds what the first of the next tile takes. 0 where the blocks are too many for one launch. */
static int fill_slide(const pixels_argument *of, struct pixel_window *window, const braid_problem *p) {
    struct pixel_map *map = of->map;
    int64_t blocks[BRAID_MAX_PLANES] = {0}, rows = window->out_size[0], columns = window->out_size[1];
    int64_t strips = launch_tiles(rows, STRIP_ROWS);
    window->strip = (int32_t)launch_tiles(rows, strips);
    strips = launch_tiles(rows, window->strip);
    map->batch = p->batch;
    map->sample_pixels = p->size[0] * p->size[1];
    for (int i = 0; i < p->streams; i++) {
        map->vector[i] = 1;
        map->lanes[i] = launch_lanes(p->in_pitch[i] / choose_width(p, p->in_pitch[i]), MOST_LANES);
        int64_t tiles = launch_tiles(columns, BLOCK_THREADS / map->lanes[i] - 1);
        map->chunk[i] = launch_tiles(columns, tiles);
        tiles = launch_tiles(columns, map->chunk[i]);
        if (p->batch > 0 && tiles * strips > CUDA_MAX_BLOCKS / p->batch) return 0;
        map->blocks[i] = (int32_t)(tiles * strips);
        blocks[i] = map->blocks[i] * p->batch;
    }
    return launch_schedule(map->first_block, blocks, p->streams);
}

static braid_status run(const pixels_argument *of, int64_t blocks, device *d, const char *stem, const char *function) {
    return cuda_launch(d, &(cuda_call){.stem = stem,
                                       .function = function,
                                       .blocks = blocks,
                                       .threads = BLOCK_THREADS,
                                       .args = of->args,
                                       .args_bytes = of->bytes});
}

braid_status pixels_launch_divided(const pixels_argument *of, const braid_problem *p, device *d,
                                   const pixels_kernel *k) {
    return run(of, of->map->first_block[BRAID_MAX_PLANES], d, k->stem, launch_name(&k->names, p->dtype));
}

braid_status pixels_launch(const pixels_argument *of, const braid_problem *p, const int64_t size[2], device *d,
                           const pixels_kernel *k) {
    if (!fill_map(of, p, size)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", k->stem, launch_too_large);
    return pixels_launch_divided(of, p, d, k);
}

braid_status pixels_launch_flat(const pixels_argument *of, const braid_problem *p, const int64_t size[2], device *d,
                                const pixels_kernel *k) {
    if (!fill_flat(of, p, size)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", k->stem, launch_too_large);
    return pixels_launch_divided(of, p, d, k);
}

braid_status pixels_launch_places(const pixels_argument *of, const braid_problem *p, const int64_t size[2], device *d,
                                  const pixels_kernel *k) {
    if (!fill_places(of, p, size)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", k->stem, launch_too_large);
    return pixels_launch_divided(of, p, d, k);
}

braid_status pixels_launch_slide(const pixels_argument *of, struct pixel_window *window, const braid_problem *p,
                                 device *d, const pixels_kernel *k) {
    if (!fill_slide(of, window, p)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", k->stem, launch_too_large);
    return pixels_launch_divided(of, p, d, k);
}

/* 0 where the blocks are too many for one launch. */
static int fill_rows(const pixels_argument *of, const braid_problem *p, const int64_t size[2]) {
    struct pixel_map *map = of->map;
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    map->batch = p->batch;
    map->sample_pixels = size[0] * size[1];
    for (int i = 0; i < p->streams; i++) {
        map->lanes[i] = launch_lanes(p->in_pitch[i], p->in_pitch[i] <= WARP_ROW ? MOST_LANES : BLOCK_THREADS);
        blocks[i] = launch_tiles(p->batch * map->sample_pixels, BLOCK_THREADS / map->lanes[i]);
    }
    return launch_schedule(map->first_block, blocks, p->streams);
}

braid_status pixels_launch_rows(const pixels_argument *of, const braid_problem *p, const int64_t size[2], device *d,
                                const pixels_kernel *k) {
    if (!fill_rows(of, p, size)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", k->stem, launch_too_large);
    return pixels_launch_divided(of, p, d, k);
}

braid_status pixels_launch_totals(const pixels_argument *of, const braid_problem *p, const int64_t size[2], device *d,
                                  const pixels_kernel *k) {
    if (!fill_map(of, p, size)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", k->stem, launch_too_large);
    int64_t blocks = of->map->first_block[BRAID_MAX_PLANES];
    return run(of, blocks > 0 ? blocks : 1, d, k->stem, launch_name(&k->names, p->dtype));
}

braid_status pixels_create_totals(const braid_problem *p, const int64_t size[2], void **state,
                                  size_t *workspace_bytes) {
    struct any_args args;
    *state = NULL;
    pixels_begin(PIXELS(&args), p);
    (void)fill_map(PIXELS(&args), p, size);
    return size_array((size_t)args.map.first_block[BRAID_MAX_PLANES], sizeof(double), "partial sums", workspace_bytes);
}

/* ---- Sums --------------------------------------------------------------------------------- */

/* Blocks of a sum that run side by side, or in three rounds. */
static int64_t column_blocks(const braid_problem *p) {
    if (p->op == BRAID_OP_BN_ACT_POOL) return WINDOW_BLOCKS;
    return p->op == BRAID_OP_BN_BWD && bn_bwd_is_activated(p) ? GRAD_BLOCKS : COLUMN_BLOCKS;
}

/* Parts of the pixels, at most `most`, for one round of blocks if there are enough: `tiles` blocks have one part. */
static int64_t choose_parts(const braid_problem *p, int64_t tiles, int64_t most) {
    int64_t parts = column_blocks(p) / (tiles > 0 ? tiles : 1);
    if (parts > most) parts = most;
    return parts > 1 ? parts : 1;
}

/* Divides the planes from `first` on, for a round of blocks that has all of them; 0 where the blocks are too many for
 * one launch. The parts depend on the problem alone. */
static int divide_columns(struct pixel_args *args, const braid_problem *p, const int64_t size[2], int first) {
    struct pixel_columns *columns = &args->columns;
    int64_t tiles[BRAID_MAX_PLANES] = {0}, blocks[BRAID_MAX_PLANES] = {0}, channels = 0, total = 0, rows = 1;
    columns->sample_pixels = size[0] * size[1];
    columns->pixels = p->batch * columns->sample_pixels;
    for (int i = first; i < p->streams; i++) {
        int64_t width = choose_width(p, p->in_pitch[i]), packs = launch_tiles(p->in_channels[i], width);
        int32_t lanes = column_lanes(packs, width);
        total += launch_tiles(packs, lanes);
        if (rows < BLOCK_THREADS / lanes) rows = BLOCK_THREADS / lanes;
        columns->first_channel[i] = (int32_t)channels;
        channels += p->in_channels[i];
        if (channels >= LAUNCH_MAX_LENGTH) return 0;
        if (!is_aligned(&args->plane[i], sizeof args->plane[i])) width = 1;
        columns->vector[i] = width > 1;
        packs = launch_tiles(p->in_channels[i], width);
        columns->lanes[i] = column_lanes(packs, width);
        blocks[i] = tiles[i] = launch_tiles(packs, columns->lanes[i]);
        columns->second_lanes[i] = columns->lanes[i] * (int32_t)width;
    }
    for (int i = p->streams; i <= BRAID_MAX_PLANES; i++) columns->first_channel[i] = (int32_t)channels;
    int64_t parts = choose_parts(p, total, launch_tiles(columns->pixels, PART_PIXELS * rows));
    columns->parts = (int32_t)parts;
    columns->part_pixels = launch_tiles(columns->pixels, parts);
    for (int i = 0; i < p->streams; i++) blocks[i] *= parts;
    return launch_schedule(columns->first_tile, tiles, p->streams) &&
           launch_schedule(columns->first_block, blocks, p->streams);
}

static int fill_columns(struct pixel_args *args, const braid_problem *p, const int64_t size[2]) {
    return divide_columns(args, p, size, 0);
}

int pixels_divide_grad(struct pixel_args *args, const braid_problem *p) {
    args->map.batch = p->batch;
    args->map.sample_pixels = p->size[0] * p->size[1];
    return divide_map(PIXELS(args), p, p->skip, CHUNK_ELEMENTS, HALVES) && divide_columns(args, p, p->size, p->given);
}

static braid_status run_columns(struct pixel_args *args, const braid_problem *p, device *d, const pixels_kernel *k,
                                const char *second) {
    const struct pixel_columns *columns = &args->columns;
    int64_t blocks = columns->first_block[BRAID_MAX_PLANES];
    args->counters = cuda_counters(d, blocks);
    TRY(run(PIXELS(args), blocks, d, k->stem, launch_name(&k->names, p->dtype)));
    return args->counters ? BRAID_OK : run(PIXELS(args), columns->first_tile[BRAID_MAX_PLANES], d, k->stem, second);
}

braid_status pixels_launch_columns(struct pixel_args *args, const braid_problem *p, const int64_t size[2],
                                   const buffers *b, device *d, const pixels_kernel *k, const char *second) {
    args->columns.workspace = b->workspace;
    if (!fill_columns(args, p, size)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", k->stem, launch_too_large);
    return run_columns(args, p, d, k, second);
}

braid_status pixels_launch_slide_columns(struct pixel_args *args, const braid_problem *p, const int64_t size[2],
                                         const buffers *b, device *d, const pixels_kernel *k, const char *second) {
    args->columns.workspace = b->workspace;
    if (!fill_columns(args, p, size)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", k->stem, launch_too_large);
    args->columns.sample_pixels = size[1];
    args->columns.pixels = p->batch * size[1];
    return run_columns(args, p, d, k, second);
}

braid_status pixels_divide_columns(struct pixel_args *args, const braid_problem *p, const buffers *b, device *d,
                                   int64_t more_counters, int64_t *blocks) {
    args->columns.workspace = b->workspace;
    if (!fill_columns(args, p, p->size)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", op_of(p)->name, launch_too_large);
    *blocks = args->columns.first_block[BRAID_MAX_PLANES];
    args->counters = cuda_counters(d, *blocks + more_counters);
    return args->counters ? BRAID_OK : fail(BRAID_ERROR_ARGUMENT, "%s: %s", op_of(p)->name, launch_too_large);
}

/* Parts of whole rows. They depend on the problem alone. */
static int fill_row_parts(struct pixel_args *args, const braid_problem *p, const int64_t size[2]) {
    struct pixel_columns *columns = &args->columns;
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    int64_t tiles[BRAID_MAX_PLANES] = {0};
    if (!fill_columns(args, p, size)) return 0;
    for (int i = 0; i < p->streams; i++) {
        columns->second_lanes[i] = launch_lanes(p->in_channels[i], SECOND_LANES);
        tiles[i] = launch_tiles(p->in_channels[i], columns->second_lanes[i]);
    }
    columns->part_pixels = launch_tiles(columns->pixels, ROW_PARTS);
    if (columns->part_pixels < PART_ROWS) columns->part_pixels = PART_ROWS;
    columns->parts = (int32_t)launch_tiles(columns->pixels, columns->part_pixels);
    if (columns->parts < 1) columns->parts = 1;
    for (int i = 0; i < p->streams; i++) blocks[i] = columns->parts;
    return launch_schedule(columns->first_tile, tiles, p->streams) &&
           launch_schedule(columns->first_block, blocks, p->streams);
}

braid_status pixels_launch_row_parts(struct pixel_args *args, const braid_problem *p, const int64_t size[2],
                                     const buffers *b, device *d, const pixels_kernel *k, const char *second) {
    args->columns.workspace = b->workspace;
    if (!fill_row_parts(args, p, size)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", k->stem, launch_too_large);
    TRY(run(PIXELS(args), args->columns.first_block[BRAID_MAX_PLANES], d, k->stem, launch_name(&k->names, p->dtype)));
    return run(PIXELS(args), args->columns.first_tile[BRAID_MAX_PLANES], d, k->stem, second);
}

static braid_status sums_bytes(const struct pixel_args *args, size_t element_bytes, size_t *workspace_bytes) {
    size_t elements = 0;
    TRY(size_array((size_t)args->columns.first_channel[BRAID_MAX_PLANES], (size_t)args->columns.parts, "partial sums",
                   &elements));
    return size_array(elements, element_bytes, "partial sums", workspace_bytes);
}

braid_status pixels_create_row_parts(const braid_problem *p, size_t element_bytes, void **state,
                                     size_t *workspace_bytes) {
    struct pixel_args args;
    *state = NULL;
    pixel_args_begin(&args, p);
    (void)fill_row_parts(&args, p, p->size);
    return sums_bytes(&args, element_bytes, workspace_bytes);
}

braid_status pixels_create_columns(const braid_problem *p, size_t element_bytes, void **state,
                                   size_t *workspace_bytes) {
    struct pixel_args args;
    *state = NULL;
    pixel_args_begin(&args, p);
    (void)fill_columns(&args, p, p->size);
    return sums_bytes(&args, element_bytes, workspace_bytes);
}

braid_status pixels_create_grad(const braid_problem *p, size_t element_bytes, void **state, size_t *workspace_bytes) {
    struct pixel_args args;
    *state = NULL;
    pixel_args_begin(&args, p);
    (void)pixels_divide_grad(&args, p);
    return sums_bytes(&args, element_bytes, workspace_bytes);
}

/* ---- What is refused ---------------------------------------------------------------------- */

static const char *refuse_windows(const braid_problem *p) {
    if ((double)p->size[0] * (double)p->size[1] >= (double)LAUNCH_MAX_LENGTH) return "an image has 2^30 pixels or more";
    for (int axis = 0; axis < 2; axis++) {
        if (p->size[axis] + 2 * p->padding[axis] >= LAUNCH_MAX_LENGTH || p->stride[axis] >= LAUNCH_MAX_LENGTH ||
            p->out_size[axis] >= LAUNCH_MAX_LENGTH)
            return "the padded image or a stride has 2^30 rows or columns or more";
    }
    return NULL;
}

const char *pixels_refuse(const braid_problem *p, const device *d) {
    struct any_args args;
    (void)d;
    const char *reason = launch_refuses_channels(p);
    if (reason) return reason;
    pixels_begin(PIXELS(&args), p);
    return fill_map(PIXELS(&args), p, p->size) ? NULL : launch_too_large;
}

const char *pixels_refuse_windows(const braid_problem *p, const device *d) {
    const char *reason = refuse_windows(p);
    return reason ? reason : pixels_refuse(p, d);
}

const char *pixels_refuse_columns(const braid_problem *p, const device *d) {
    struct pixel_args args;
    (void)d;
    const char *reason = launch_refuses_channels(p);
    if (reason) return reason;
    pixel_args_begin(&args, p);
    return fill_columns(&args, p, p->size) ? NULL : launch_too_large;
}

const char *pixels_refuse_columns_windows(const braid_problem *p, const device *d) {
    const char *reason = refuse_windows(p);
    return reason ? reason : pixels_refuse_columns(p, d);
}
