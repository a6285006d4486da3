/*
 * From a 3x3 convolution to the argument of a halo kernel: strips, tiles, shared memory and tensor maps. All of it
 * depends on the problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/conv2d_epilogue.h"
#include "kernels/cuda/conv2d_halo_launch.h"
#include "kernels/cuda/dsums_launch.h"
#include "kernels/cuda/tile/row_parts.h"

#define SHARED_MOST 232448 /* bytes of shared memory that one block of sm_90 may have */
#define STAGES_MOST 16     /* of weights in all rings */
#define STAGES_LEAST 4
#define BOX_MOST 256 /* pixels or rows of one copy */
#define H200_PROCESSORS 132

/* For predictions: what a multiprocessor of an H200 was seen to do. */
#define FLOPS_PER_S 5.6e12
#define BYTES_PER_S 3.5e10
#define TILE_S 1e-6
#define LAUNCH_S 5e-6

/* The input and the output of the pass. */
static int is_gradient(const braid_problem *p) { return p->pass == BRAID_PASS_BWD_DATA; }

static int64_t inputs(const braid_problem *p, int i) { return is_gradient(p) ? p->out_channels[i] : p->in_channels[i]; }

static int64_t outputs(const braid_problem *p, int i) {
    return is_gradient(p) ? p->in_channels[i] : p->out_channels[i];
}

static int64_t input_pitch(const braid_problem *p, int i) { return is_gradient(p) ? p->out_pitch[i] : p->in_pitch[i]; }

static int64_t output_pitch(const braid_problem *p, int i) { return is_gradient(p) ? p->in_pitch[i] : p->out_pitch[i]; }

/* What the tiles see: at stride 2 a convolution of dy that keeps its size. */
static braid_problem seen(const braid_problem *p, const halo_shape *shape) {
    braid_problem q = *p;
    for (int axis = 0; axis < 2 && shape->halves; axis++) {
        q.size[axis] = conv2d_out_size(p, axis);
        q.stride[axis] = 1;
    }
    return q;
}

/* Rows of input that the widest reaching tile of a strip reads. */
static int64_t rows_of_tiles(int64_t strip_pixels, int64_t pitch, int64_t tiles, int64_t pixels) {
    int64_t most = 0;
    for (int64_t tile = 0; tile < tiles; tile++) {
        int64_t first = tile * pixels, end = first + pixels < strip_pixels ? first + pixels : strip_pixels;
        int64_t rows = (end - 1) / pitch - first / pitch + 3;
        if (rows > most) most = rows;
    }
    return most;
}

/* False where so many strips do not fit into shared memory. */
static int fill_strips(struct conv2d_halo_args *args, const braid_problem *p, const halo_shape *shape, int64_t strips) {
    int64_t width = launch_tiles(p->size[1], strips), pitch = strips == 1 ? width + 1 : width + 2;
    int64_t pixels = (p->size[0] - 1) * pitch + width, tiles = launch_tiles(pixels, shape->pixels);
    if (pitch > BOX_MOST || (double)p->size[0] * (double)pitch * (double)pitch >= 4e9) return 0;
    int64_t rows = rows_of_tiles(pixels, pitch, tiles, shape->pixels);
    if (rows > BOX_MOST) return 0;
    int64_t loaded = rows * pitch + 1, read = pitch - 1 + shape->pixels + 2 * pitch + 2;
    int64_t stage_bytes = launch_tiles((loaded > read ? loaded : read) * 128, 1024) * 1024;
    int64_t left = SHARED_MOST - HALO_STAGES * stage_bytes - 2 * HALO_STAGING_BYTES - HALO_BARRIER_BYTES;
    int64_t stages = left / (shape->rings * HALO_WEIGHT_BYTES);
    if (left < 0 || stages < STAGES_LEAST) return 0;
    args->strips = (int32_t)launch_tiles(p->size[1], width);
    args->width = (int32_t)width;
    args->pitch = (int32_t)pitch;
    args->reciprocal = (uint32_t)(((uint64_t)1 << 32) / (uint64_t)pitch + 1);
    args->strip_tiles = (int32_t)tiles;
    args->rows = (int32_t)rows;
    args->stage_bytes = (uint32_t)stage_bytes;
    args->stages = (int32_t)(stages < STAGES_MOST ? stages : STAGES_MOST);
    return 1;
}

/* The same for kernels that keep all weights in shared memory: strips are as wide as an accumulator. */
static int fill_row_strips(struct conv2d_halo_args *args, const braid_problem *p, const halo_shape *shape) {
    int64_t pitch = shape->pixels + 2;
    if ((double)p->size[0] * (double)pitch * (double)pitch >= 4e9) return 0;
    args->strips = (int32_t)launch_tiles(p->size[1], shape->pixels);
    args->width = shape->pixels;
    args->pitch = (int32_t)pitch;
    args->reciprocal = (uint32_t)(((uint64_t)1 << 32) / (uint64_t)pitch + 1);
    args->rows = 1;
    return 1;
}

/* Everything but pointers, maps and blocks. False where the problem is too large. */
static int fill_shape(struct conv2d_halo_args *args, const braid_problem *p, const halo_shape *shape) {
    int64_t strips = 1;
    memset(args, 0, sizeof *args);
    if (shape->rings == 0) {
        if (!fill_row_strips(args, p, shape)) return 0;
    } else {
        while (!fill_strips(args, p, shape, strips)) {
            if (++strips > p->size[1]) return 0;
        }
    }
    args->planes = p->streams;
    args->samples = (int32_t)p->batch;
    for (int axis = 0; axis < 2; axis++) args->size[axis] = (int32_t)p->size[axis];
    for (int i = 0; i < p->streams; i++) {
        struct conv2d_halo_plane *plane = &args->plane[i];
        plane->channels = (int32_t)outputs(p, i);
        plane->pitch = (int32_t)output_pitch(p, i);
        plane->blocks = (int32_t)launch_tiles(inputs(p, i), HALO_BLOCK);
        plane->groups = (int32_t)launch_tiles(output_pitch(p, i), shape->channels);
    }
    return (double)p->batch * args->strips * (double)p->size[0] < (double)CUDA_MAX_BLOCKS;
}

/* The tiles, or of halo_rows the blocks, which share the rows of each group. False where they are too many. */
static int fill_schedule(struct conv2d_halo_args *args, const braid_problem *p, const halo_shape *shape,
                         int processors) {
    int64_t tiles[BRAID_MAX_PLANES] = {0}, groups = 0, units = p->batch * args->strips * p->size[0];
    for (int i = 0; i < p->streams; i++) groups += args->plane[i].groups;
    if (shape->rings == 0) {
        int64_t shares = processors / groups;
        if (shares < 1) shares = 1;
        args->strip_tiles = (int32_t)(shares < units ? shares : units);
    }
    for (int i = 0; i < p->streams; i++) {
        double all = (double)args->plane[i].groups * args->strip_tiles;
        if (shape->rings != 0) all *= (double)p->batch * args->strips;
        if (all >= (double)CUDA_MAX_BLOCKS) return 0;
        tiles[i] = (int64_t)all;
    }
    return launch_schedule(args->first_tile, tiles, p->streams);
}

static const char *refuses_options(const braid_problem *p, const halo_shape *shape) {
    for (int axis = 0; axis < 2; axis++) {
        if (p->filter[axis] != 3) return "only filters of 3x3";
        if (p->stride[axis] != 1 + shape->halves) return shape->halves ? "only stride 2" : "only stride 1";
        if (p->dilation[axis] != 1) return "no dilation";
        if (p->padding[axis] != 1 || p->extra_padding[axis] != 0) return "only padding 1 on all sides";
    }
    if (p->padding_mode != BRAID_PADDING_ZEROS) return "only padding with zeros";
    return p->groups != 1 ? "only one group" : NULL;
}

static const char *refuses_channels(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] < 16 || p->out_channels[i] < 16) return "a stream has fewer than 16 channels";
        if (p->in_channels[i] % 8 || p->in_pitch[i] % 8 || p->out_pitch[i] % 8)
            return "input channels or a pitch are no multiple of 8";
    }
    return launch_refuses_channels(p);
}

/* Of bn_act_conv2d: a thread has eight channels of 64, and clears those between the channels and the pitch. */
static const char *refuses_norm(const braid_problem *p) {
    if (p->activation != BRAID_ACTIVATION_RELU) return "only ReLU";
    for (int i = 0; i < p->streams; i++) {
        if (p->in_pitch[i] > HALO_BLOCK) return "a stream has a pitch of more than 64";
    }
    return NULL;
}

/* False where the argument cannot say a part of the streams. */
static int fits(const braid_problem *p, const halo_shape *shape, int index) {
    struct conv2d_halo_args args;
    launch_part part;
    launch_take_part(&part, p, NULL, HALO_MOST_STREAMS, index);
    part.problem = seen(&part.problem, shape);
    return fill_shape(&args, &part.problem, shape) && fill_schedule(&args, &part.problem, shape, H200_PROCESSORS);
}

const char *conv2d_halo_refuses(const braid_problem *p, const device *d, const halo_shape *shape) {
    const char *reason = refuses_options(p, shape);
    if (!reason) reason = conv2d_epilogue_refuses(p);
    if (!reason) reason = refuses_channels(p);
    if (!reason && p->op == BRAID_OP_BN_ACT_CONV2D) reason = refuses_norm(p);
    for (int i = 0; i < p->streams && p->add && !reason; i++) {
        if (outputs(p, i) % 8) reason = "adds to channels in multiples of 8 only";
    }
    if (!reason && (p->size[0] >= LAUNCH_MAX_LENGTH || p->size[1] >= LAUNCH_MAX_LENGTH))
        reason = "the image has 2^30 rows or columns or more";
    if (!reason) reason = cuda_refuses_tensor_maps(d);
    for (int i = 0; i < p->streams && shape->rings == 0 && !reason; i++) {
        if (inputs(p, i) > HALO_BLOCK) reason = "a stream has more than 64 channels to sum over";
    }
    for (int j = 0; j < launch_parts(p, HALO_MOST_STREAMS) && !reason; j++) {
        if (!fits(p, shape, j)) reason = launch_too_large;
    }
    return reason;
}

/* Rows of 64 output channels, shared by the blocks. */
static double rows_cost(const struct conv2d_halo_args *args, const braid_problem *p, const halo_shape *shape) {
    double units = (double)p->batch * args->strips * (double)p->size[0], blocks = args->first_tile[BRAID_MAX_PLANES];
    double flops = 2.0 * shape->channels * shape->pixels * HALO_TAPS * HALO_BLOCK;
    double turns = (double)launch_tiles((int64_t)blocks, H200_PROCESSORS);
    return blocks > 0 ? LAUNCH_S + turns * (2 * TILE_S + units / args->strip_tiles * flops / FLOPS_PER_S) : LAUNCH_S;
}

/* Tiles in turns of the multiprocessors, each at the speed of its matrix units or of the L2 cache. At stride 2 a tile
 * stores four times its pixels, and was not seen to wait for what it loads. */
static double cost_once(const braid_problem *p, const halo_shape *shape) {
    struct conv2d_halo_args args;
    double seconds = 0, tiles = 0, store = shape->halves ? TILE_S * shape->pixels / 64 : TILE_S;
    if (!fill_shape(&args, p, shape) || !fill_schedule(&args, p, shape, H200_PROCESSORS)) return 1;
    if (shape->rings == 0) return rows_cost(&args, p, shape);
    for (int i = 0; i < p->streams; i++) {
        double own = (double)(args.first_tile[i + 1] - args.first_tile[i]), blocks = args.plane[i].blocks;
        double flops = 2.0 * shape->channels * shape->pixels * HALO_TAPS * HALO_BLOCK * blocks;
        double bytes = blocks * (double)(args.rows * args.pitch * 128 + shape->channels * HALO_TAPS * HALO_BLOCK * 2);
        double work = flops / FLOPS_PER_S, memory = shape->halves ? 0 : bytes / BYTES_PER_S;
        seconds += own * (store + (work > memory ? work : memory));
        tiles += own;
    }
    double turns = (double)launch_tiles((int64_t)tiles, H200_PROCESSORS);
    return LAUNCH_S + (tiles > 0 ? seconds / tiles * turns : 0);
}

double conv2d_halo_cost(const braid_problem *p, const halo_shape *shape) {
    double seconds = 0;
    for (int j = 0; j < launch_parts(p, HALO_MOST_STREAMS); j++) {
        launch_part part;
        launch_take_part(&part, p, NULL, HALO_MOST_STREAMS, j);
        part.problem = seen(&part.problem, shape);
        seconds += cost_once(&part.problem, shape);
    }
    return seconds;
}

braid_status conv2d_halo_map_weights(cuda_tensor_map *to, device *d, const braid_problem *p, const buffers *b, int i) {
    int64_t tap = p->in_channels[i] * 2;
    const cuda_tensor weight = {.memory = b->plane[CONV2D_W][i],
                                .dtype = p->dtype,
                                .rank = 3,
                                .size = {p->in_channels[i], HALO_TAPS, p->out_channels[i]},
                                .pitch = {tap, tap * HALO_TAPS},
                                .box = {HALO_BLOCK, 1, HALO_BLOCK},
                                .swizzle = 128};
    return cuda_tensor_map_make(to, d, &weight);
}

static braid_status make_maps(struct conv2d_halo_plane *plane, device *d, const braid_problem *p, const buffers *b,
                              int i, const struct conv2d_halo_args *args) {
    int64_t pixel = input_pitch(p, i) * 2;
    const cuda_tensor input = {.memory = b->plane[is_gradient(p) ? CONV2D_Y : CONV2D_X][i],
                               .dtype = p->dtype,
                               .rank = 4,
                               .size = {inputs(p, i), p->size[1], p->size[0], p->batch},
                               .pitch = {pixel, pixel * p->size[1], pixel * p->size[1] * p->size[0]},
                               .box = {HALO_BLOCK, args->pitch, args->rows, 1},
                               .swizzle = 128};
    TRY(cuda_tensor_map_make(&plane->input, d, &input));
    return conv2d_halo_map_weights(&plane->weight, d, p, b, i);
}

/* A row of a strip: of outputs with the lanes between channels and pitch, of what is added without. */
static braid_status make_row_map(cuda_tensor_map *to, device *d, const braid_problem *p, const halo_shape *shape,
                                 const void *memory, int64_t lanes, int64_t pitch) {
    int64_t pixel = pitch * 2;
    const cuda_tensor row = {.memory = memory,
                             .dtype = p->dtype,
                             .rank = 4,
                             .size = {lanes, p->size[1], p->size[0], p->batch},
                             .pitch = {pixel, pixel * p->size[1], pixel * p->size[1] * p->size[0]},
                             .box = {HALO_BLOCK, shape->pixels, 1, 1},
                             .swizzle = 128};
    return cuda_tensor_map_make(to, d, &row);
}

static braid_status make_row_maps(struct conv2d_halo_plane *plane, device *d, const braid_problem *p,
                                  const halo_shape *shape, const void *added) {
    if (added) TRY(make_row_map(&plane->added, d, p, shape, added, plane->channels, plane->pitch));
    return make_row_map(&plane->row, d, p, shape, plane->output, plane->pitch, plane->pitch);
}

static size_t shared_bytes(const struct conv2d_halo_args *args, const halo_shape *shape) {
    size_t weights = (size_t)(shape->rings * args->stages) * HALO_WEIGHT_BYTES;
    if (shape->rings)
        return HALO_STAGES * (size_t)args->stage_bytes + 2 * HALO_STAGING_BYTES + weights + HALO_BARRIER_BYTES;
    size_t pixels = (size_t)shape->pixels;
    return HALO_TAPS * HALO_WEIGHT_BYTES + 2 * HALO_ROW_STAGING_BYTES(pixels) + HALO_ROWS * HALO_ROW_BYTES(pixels) +
           HALO_BARRIER_BYTES;
}

static struct halo_norm norm_of(const braid_problem *p, const buffers *b, int i) {
    return (struct halo_norm){.scale = b->plane[BN_ACT_CONV2D_SCALE][i],
                              .shift = b->plane[BN_ACT_CONV2D_SHIFT][i],
                              .activated = b->plane[BN_ACT_CONV2D_A][i],
                              .channels = (int32_t)p->in_channels[i],
                              .pitch = (int32_t)p->in_pitch[i]};
}

/* What a kernel leaves beside its outputs, parts first: what bn_finalize makes of statistics of them, or the sums of a
 * normalisation whose operands `norm` are. All NULL: nothing. */
typedef struct halo_beside {
    const struct bn_finalize_args *moments;
    const buffers *norm;
} halo_beside;

static int reads_x(const halo_beside *beside) { return beside->norm && beside->norm->plane[BN_FUSED_Y][0]; }

/* One plane of it; channels in front of it are counted by args->parts_pitch. */
static braid_status fill_beside(struct conv2d_halo_args *args, device *d, const braid_problem *p,
                                const halo_shape *shape, const halo_beside *beside, void *workspace, int i) {
    struct conv2d_halo_plane *plane = &args->plane[i];
    const buffers *norm = beside->norm;
    if (beside->moments) plane->parts = (struct bn_moments *)workspace + args->parts_pitch;
    if (norm) plane->parts = (struct bn_gradients *)norm->workspace + args->parts_pitch;
    if (norm) plane->sums = dsums_plane_of(norm, i);
    args->parts_pitch += plane->channels;
    for (int j = 0; j < 2 && reads_x(beside); j++) {
        const void *read = norm->plane[j ? BN_FUSED_Y : BN_FUSED_X][i];
        TRY(make_row_map(&args->of_dsums.read[2 * i + j], d, p, shape, read, plane->channels, plane->pitch));
    }
    return BRAID_OK;
}

/* Of the groups of channels of all streams, in their order: each has the parts of its blocks. Behind them one for those
 * that add the parts up. */
static int64_t counters_of(const struct conv2d_halo_args *args) {
    return args->first_tile[BRAID_MAX_PLANES] / args->strip_tiles * ROW_PARTS_COUNTERS(2 * args->strip_tiles) + 1;
}

/* Parts are those of one GPU on all, so that their sums have the same bits. */
static braid_status launch_once(const braid_problem *whole, device *d, const halo_kernel *k, const buffers *b,
                                const halo_beside *beside) {
    struct conv2d_halo_args args;
    const braid_problem of_tiles = seen(whole, &k->shape), *p = &of_tiles;
    int rings = k->shape.rings, has_parts = beside->moments || beside->norm;
    int processors = has_parts ? H200_PROCESSORS : cuda_processors(d);
    int pixels = k->shape.pixels;
    if (!fill_shape(&args, p, &k->shape) || !fill_schedule(&args, p, &k->shape, processors))
        return fail(BRAID_ERROR_ARGUMENT, "conv2d: %s", launch_too_large);
    int32_t tiles = args.first_tile[BRAID_MAX_PLANES];
    for (int axis = 0; axis < 2; axis++) args.out_size[axis] = (int32_t)whole->size[axis];
    for (int i = 0; i < p->streams && tiles > 0; i++) {
        struct conv2d_halo_plane *plane = &args.plane[i];
        TRY(make_maps(plane, d, p, b, i, &args));
        plane->output = b->plane[is_gradient(p) ? CONV2D_X : CONV2D_Y][i];
        plane->epilogue = conv2d_epilogue(p, b, i);
        plane->mask = b->plane[CONV2D_MASK][i];
        if (whole->op == BRAID_OP_BN_ACT_CONV2D) plane->norm = norm_of(whole, b, i);
        const void *read = plane->epilogue.added;
        if (beside->norm && !reads_x(beside)) read = beside->norm->plane[BN_FUSED_X][i];
        TRY(fill_beside(&args, d, p, &k->shape, beside, b->workspace, i));
        if (rings == 0) TRY(make_row_maps(plane, d, p, &k->shape, read));
    }
    if (beside->moments) args.of_prepare.norm = *beside->moments;
    if (has_parts) args.counters = cuda_counters(d, counters_of(&args));
    if (has_parts && !args.counters) return fail(BRAID_ERROR_ARGUMENT, "conv2d: %s", launch_too_large);
    return cuda_launch(d, &(cuda_call){.stem = k->stem,
                                       .function = launch_name(&k->names, p->dtype),
                                       .blocks = tiles < processors || rings == 0 ? tiles : processors,
                                       .threads = HALO_THREADS,
                                       .shared_bytes = beside->norm ? (size_t)HALO_DSUMS_BYTES(pixels, reads_x(beside))
                                                                    : shared_bytes(&args, &k->shape),
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

braid_status conv2d_halo_launch(const braid_problem *p, device *d, const halo_kernel *k, const buffers *b) {
    for (int j = 0; j < launch_parts(p, HALO_MOST_STREAMS); j++) {
        launch_part part;
        launch_take_part(&part, p, b, HALO_MOST_STREAMS, j);
        TRY(launch_once(&part.problem, d, k, &part.memory, &(halo_beside){0}));
    }
    return BRAID_OK;
}

const char *conv2d_halo_refuses_moments(const braid_problem *p, const device *d, const halo_shape *shape) {
    if (p->streams > HALO_PREPARE_STREAMS) return "too many streams for one launch";
    if (p->bias) return "a bias is left to other kernels";
    const char *reason = dsums_refuse_empty(p);
    return reason ? reason : conv2d_halo_refuses(p, d, shape);
}

int32_t conv2d_halo_parts(const braid_problem *p, const halo_shape *shape) {
    struct conv2d_halo_args args;
    if (!fill_shape(&args, p, shape) || !fill_schedule(&args, p, shape, H200_PROCESSORS)) return 0;
    return 2 * args.strip_tiles;
}

braid_status conv2d_halo_launch_moments(const braid_problem *p, device *d, const halo_kernel *k, const buffers *b,
                                        const struct bn_finalize_args *norm) {
    return launch_once(p, d, k, b, &(halo_beside){.moments = norm});
}

const char *conv2d_halo_refuses_sums(const braid_problem *p, const device *d, const halo_shape *shape, int by_x) {
    if (by_x != p->add) return "adds to what x gets from elsewhere if it reads the ReLU off x, and then alone";
    return conv2d_halo_refuses(p, d, shape);
}

braid_status conv2d_halo_launch_sums(const braid_problem *p, device *d, const halo_kernel *k, const buffers *b,
                                     const buffers *norm) {
    return launch_once(p, d, k, b, &(halo_beside){.norm = norm});
}
