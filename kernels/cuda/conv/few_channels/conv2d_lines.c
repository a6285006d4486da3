/*
 * conv2d forward and weight gradient and conv2d_scale_bias_act for few input channels, all streams in one launch of
 * conv2d_fwd_lines.cu, or of conv2d_bwd_weight_lines.cu and weight_sum. From the problem to the argument: the shape of
 * the tiles, how x lies in shared memory, and how many tiles a block takes. All of it depends on the problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/conv/conv2d_epilogue.h"
#include "kernels/cuda/conv/few_channels/conv2d_lines.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/reduce/weight_sum_launch.h"

#define FWD_BLOCKS \
    (6 * LAUNCH_PROCESSORS) /* more blocks than this take several tiles each: the weights are laid out once */
#define WEIGHT_BLOCKS (4 * LAUNCH_PROCESSORS) /* of a weight gradient: the fewer, the less there is to add up */
#define MOST_TILE_COLUMNS 64
#define RAW_PIECE 8   /* elements of 16 bytes */
#define RAW_COLUMNS 4 /* of the output: so many, with an even number of elements between two, are whole pieces */

/* Output channels that one block makes: 64, 16 or 8. */
static int block_columns(const braid_problem *p) {
    int64_t widest = 0;
    for (int i = 0; i < p->streams; i++) {
        if (p->out_pitch[i] > widest) widest = p->out_pitch[i];
    }
    return widest > 16 ? 64 : widest > 8 ? 16 : 8;
}

static int64_t even(int64_t length) { return length + length % 2; }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t weight_columns(const braid_problem *p, int i) {
    return p->filter[0] * p->filter[1] * p->in_channels[i] + p->bias;
}

/* x may lie in shared memory as it does in global memory: lines begin and end at multiples of 16 bytes and pixels of
 * the output at even elements. */
static int is_raw(const braid_problem *p) {
    if (p->padding_mode != BRAID_PADDING_ZEROS || (p->pass == BRAID_PASS_BWD_WEIGHT && p->bias)) return 0;
    for (int i = 0; i < p->streams; i++) {
        if (p->in_pitch[i] != p->in_channels[i] || p->size[1] * p->in_channels[i] % RAW_PIECE ||
            p->stride[1] * p->in_channels[i] % 2)
            return 0;
    }
    return 1;
}

/* Elements of a line before the first of a tile, from a multiple of 16 bytes on: for tiles of whole RAW_COLUMNS the
 * same in all tiles. */
static int64_t raw_shift(const braid_problem *p, int i) {
    int64_t before = p->padding[1] * p->in_channels[i] % RAW_PIECE;
    return (RAW_PIECE - before) % RAW_PIECE;
}

/* Steps of 16 in the product of stream i, of the way that has more of them. */
static int64_t steps(const braid_problem *p, int i) {
    int64_t terms = p->filter[1] * p->in_channels[i], shift = is_raw(p) ? raw_shift(p, i) % 2 : 0;
    int64_t pairs = launch_tiles(p->filter[0] * even(terms + shift), 16);
    if (p->pass != BRAID_PASS_BWD_WEIGHT) return pairs;
    int64_t rows = launch_tiles(weight_columns(p, i), 16);
    return is_raw(p) && pairs > rows ? pairs : rows;
}

/* How the x of a raw tile lies in shared memory. Returns its elements. */
static int64_t lay_out_raw(const braid_problem *p, int i, const int64_t in_tile[2], struct conv2d_lines_plane *plane) {
    int64_t pieces = launch_tiles(raw_shift(p, i) + in_tile[1] * p->in_channels[i], RAW_PIECE);
    plane->raw = 1;
    plane->shift = (int32_t)raw_shift(p, i);
    plane->row_pitch = (int32_t)(pieces * RAW_PIECE);
    plane->pieces_inverse = lines_inverse((int32_t)pieces);
    plane->lane_pitch = plane->copy = 0;
    return pieces * RAW_PIECE * in_tile[0];
}

/* The same of any other. */
static int64_t lay_out(const braid_problem *p, int i, const int64_t in_tile[2], struct conv2d_lines_plane *plane) {
    int64_t channels = p->in_channels[i], row = even(in_tile[1] * channels + 1), lane = 0, copies = 1;
    if (p->pass == BRAID_PASS_BWD_WEIGHT) {
        row = even(launch_tiles(in_tile[1], p->stride[1]) + 1);
        lane = row * in_tile[0];
        lane += (36 - lane / 2 % 32) % 32 * 2; /* the lanes lie 4 banks apart */
        copies = 2;
    } else if (p->stride[1] * channels % 2) {
        copies = 2;
    }
    int64_t all = lane ? lane * p->stride[1] * channels : row * in_tile[0];
    int64_t copy = all + (48 - all / 2 % 32) % 32 * 2; /* the two copies, 16 banks apart */
    plane->row_pitch = (int32_t)row;
    plane->lane_pitch = (int32_t)lane;
    plane->copy = copies == 2 ? (int32_t)copy : 0;
    return copies == 2 ? copy + all : all;
}

/* The cost of a tile shape for all of the image, in no unit; 0 where x does not fit. */
static double tile_cost(const braid_problem *p, int64_t pixels, int64_t columns, int64_t tile[2], int64_t in_tile[2]) {
    int64_t rows = least(pixels / columns, conv2d_out_size(p, 0));
    int64_t most = p->pass == BRAID_PASS_BWD_WEIGHT ? LINES_WEIGHT_ELEMENTS : LINES_MOST_ELEMENTS;
    double cost = 0;
    tile[0] = rows;
    tile[1] = columns;
    in_tile[0] = (rows - 1) * p->stride[0] + (p->filter[0] - 1) * p->dilation[0] + 1;
    in_tile[1] = (columns - 1) * p->stride[1] + p->filter[1];
    for (int i = 0; i < p->streams; i++) {
        struct conv2d_lines_plane plane;
        if (in_tile[1] * p->in_channels[i] >= 1024) return 0;
        if (lay_out(p, i, in_tile, &plane) > most) return 0;
        if (is_raw(p) && lay_out_raw(p, i, in_tile, &plane) > most) return 0;
        cost += (double)pixels * (1 + (double)steps(p, i) * block_columns(p) / 64);
        cost += 0.15 * (double)(in_tile[0] * in_tile[1] * p->in_channels[i]);
    }
    return cost * (double)(launch_tiles(conv2d_out_size(p, 0), rows) * launch_tiles(conv2d_out_size(p, 1), columns));
}

/* The pixels of one tile at most. */
static int64_t tile_pixels(const braid_problem *p) {
    if (p->pass == BRAID_PASS_BWD_WEIGHT) return LINES_WEIGHT_PIXELS;
    return block_columns(p) < 64 ? 512 : 256;
}

/* The cheapest tile. False where none fits. */
static int choose_tile(const braid_problem *p, int64_t tile[2], int64_t in_tile[2]) {
    double best = 0;
    int64_t width = conv2d_out_size(p, 1), found = 0, unit = is_raw(p) ? RAW_COLUMNS : 2;
    int64_t most = least(launch_tiles(width, unit) * unit, MOST_TILE_COLUMNS);
    for (int64_t columns = unit; columns <= most; columns += unit) {
        double cost = tile_cost(p, tile_pixels(p), columns, tile, in_tile);
        if (cost > 0 && (best == 0 || cost < best)) {
            best = cost;
            found = columns;
        }
    }
    if (found) (void)tile_cost(p, tile_pixels(p), found, tile, in_tile);
    return found != 0;
}

/* Whether copies of 16 bytes may read x. */
static int is_aligned(const braid_problem *p, const buffers *b) {
    for (int i = 0; b && i < p->streams; i++) {
        if ((uintptr_t)b->plane[CONV2D_X][i] % 16) return 0;
    }
    return 1;
}

static void fill_planes(struct conv2d_lines_args *args, const braid_problem *p, const int64_t in_tile[2],
                        const buffers *b) {
    int64_t partial = 0;
    int raw = is_raw(p) && is_aligned(p, b);
    for (int i = 0; i < p->streams; i++) {
        struct conv2d_lines_plane *plane = &args->plane[i];
        if (raw) {
            (void)lay_out_raw(p, i, in_tile, plane);
        } else {
            (void)lay_out(p, i, in_tile, plane);
        }
        plane->in_channels = (int32_t)p->in_channels[i];
        plane->out_channels = (int32_t)p->out_channels[i];
        plane->in_pitch = p->in_pitch[i];
        plane->out_pitch = p->out_pitch[i];
        plane->steps = (int32_t)steps(p, i);
        plane->channels_inverse = lines_inverse(plane->in_channels);
        plane->partial = partial;
        partial += p->out_channels[i] * weight_columns(p, i);
        if (!b) continue;
        plane->x = b->plane[CONV2D_X][i];
        plane->w = b->plane[CONV2D_W][i];
        if (p->pass == BRAID_PASS_FWD) plane->epilogue = conv2d_epilogue(p, b, i);
        plane->y = b->plane[CONV2D_Y][i];
        plane->mask = b->plane[CONV2D_MASK][i];
    }
    args->part_elements = partial;
}

/* The argument, and the pointers where b is not NULL. False where its blocks are too many for one launch. */
static int fill(struct conv2d_lines_args *args, const braid_problem *p, const buffers *b) {
    int64_t tile[2] = {1, 1}, in_tile[2] = {1, 1}, blocks[BRAID_MAX_PLANES] = {0}, columns = 0;
    memset(args, 0, sizeof *args);
    (void)choose_tile(p, tile, in_tile);
    args->planes = p->streams;
    args->mode = (int32_t)p->padding_mode;
    args->bias = p->bias;
    args->dilation = (int32_t)p->dilation[0];
    for (int axis = 0; axis < 2; axis++) {
        args->size[axis] = (int32_t)p->size[axis];
        args->out_size[axis] = (int32_t)conv2d_out_size(p, axis);
        args->filter[axis] = (int32_t)p->filter[axis];
        args->stride[axis] = (int32_t)p->stride[axis];
        args->padding[axis] = (int32_t)p->padding[axis];
        args->tile[axis] = (int32_t)tile[axis];
        args->in_tile[axis] = (int32_t)in_tile[axis];
        args->tiles[axis] = (int32_t)launch_tiles(conv2d_out_size(p, axis), tile[axis]);
    }
    args->columns_inverse = lines_inverse(args->tile[1]);
    args->stride_inverse = lines_inverse(args->stride[1]);
    fill_planes(args, p, in_tile, b);
    int64_t image = (int64_t)args->tiles[0] * args->tiles[1];
    if (p->batch >= CUDA_MAX_BLOCKS / image) return 0;
    for (int i = 0; i < p->streams; i++) {
        int64_t lanes = p->pass == BRAID_PASS_FWD ? p->out_pitch[i] : p->out_channels[i];
        blocks[i] = launch_tiles(lanes, block_columns(p));
        columns += blocks[i];
    }
    int64_t wanted = p->pass == BRAID_PASS_FWD ? FWD_BLOCKS : WEIGHT_BLOCKS, tiles = p->batch * image;
    args->all_tiles = (int32_t)tiles;
    args->block_tiles = (int32_t)least(launch_tiles(columns * tiles, wanted), tiles);
    if (args->block_tiles < 1) args->block_tiles = 1;
    args->parts = (int32_t)launch_tiles(tiles, args->block_tiles);
    if (p->pass == BRAID_PASS_BWD_WEIGHT && args->parts < 1) args->parts = 1; /* which writes zeros */
    for (int i = 0; i < p->streams; i++) blocks[i] *= args->parts;
    if (b) args->workspace = b->workspace;
    return launch_schedule(args->first_block, blocks, p->streams);
}

static const char *refuses(const braid_problem *p, const device *d) {
    struct conv2d_lines_args args;
    (void)d;
    if (p->groups != 1) return "only one group";
    if (p->add) return "does not add";
    if (conv2d_epilogue_refuses(p)) return conv2d_epilogue_refuses(p);
    if (p->dilation[1] != 1) return "only undilated columns";
    if (p->size[0] >= 1 << 15 || p->size[1] >= 1 << 15) return "only images of less than 2^15 rows and columns";
    if (p->filter[0] * p->filter[1] > LINES_MOST_TERMS || p->filter[0] > LINES_MOST_TERMS || p->stride[0] > 64 ||
        p->stride[1] > 64 || p->dilation[0] > 64)
        return "only sums of up to 208 terms, and strides and dilations of up to 64";
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] < 1 || p->in_channels[i] > LINES_MOST_CHANNELS) return "only 1 to 4 input channels";
        if (p->out_pitch[i] >= 1 << 15 || p->in_pitch[i] >= 1 << 15) return "only pitches below 2^15";
        if (steps(p, i) * 16 > LINES_MOST_TERMS) return "only sums of up to 208 terms";
    }
    int64_t tile[2], in_tile[2];
    if (!choose_tile(p, tile, in_tile)) return "the x of a tile does not fit in shared memory";
    for (int i = 0; i < p->streams; i++) {
        if (tile[0] * conv2d_out_size(p, 1) * p->out_pitch[i] >= LAUNCH_MAX_LENGTH)
            return "the rows of a tile have 2^30 elements or more";
    }
    return fill(&args, p, NULL) ? NULL : launch_too_large;
}

/* The arithmetic is that of whole steps and columns; narrow blocks whose x is loaded element by element wait for it. */
static double cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double wide = 9e13, narrow = 3.5e13, bytes_per_s = 2.5e12, launch_s = 5e-6;
    int weight = p->pass == BRAID_PASS_BWD_WEIGHT;
    double flops_per_s = (is_raw(p) || block_columns(p) == 64 ? wide : narrow) * (weight ? 0.6 : 1);
    double pixels = (double)p->batch * (double)conv2d_out_size(p, 0) * (double)conv2d_out_size(p, 1), flops = 0;
    for (int i = 0; i < p->streams; i++) {
        int64_t columns = launch_tiles(p->out_channels[i], block_columns(p)) * block_columns(p);
        flops += 2 * pixels * (double)(16 * steps(p, i) * columns);
    }
    double arithmetic = flops / flops_per_s, memory = op_bytes(p) / bytes_per_s;
    return launch_s + (arithmetic > memory ? arithmetic : memory);
}

/* names: for 64, 16 and 8 output channels of a block, then of bwd_weight those for raw planes. */
static braid_status launch(struct conv2d_lines_args *args, const braid_problem *p, device *d, const char *stem,
                           const launch_names *names, const buffers *b) {
    int columns = block_columns(p), widths = 3;
    if (!fill(args, p, b)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", stem, launch_too_large);
    const launch_names *name = &names[columns == 64 ? 0 : columns == 16 ? 1 : 2];
    if (p->pass == BRAID_PASS_BWD_WEIGHT && args->plane[0].raw) name += widths;
    return cuda_launch(
        d, &(cuda_call){.stem = stem,
                        .function = launch_name(name, p->dtype),
                        .blocks = args->first_block[BRAID_MAX_PLANES],
                        .threads = LINES_THREADS,
                        .shared_bytes = p->pass == BRAID_PASS_BWD_WEIGHT ? LINES_WEIGHT_SHARED : LINES_FWD_SHARED,
                        .args = args,
                        .args_bytes = sizeof *args});
}

static braid_status launch_forward(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names[] = {
        {NULL, "conv2d_fwd_lines_64_f16", "conv2d_fwd_lines_64_bf16"},
        {NULL, "conv2d_fwd_lines_16_f16", "conv2d_fwd_lines_16_bf16"},
        {NULL, "conv2d_fwd_lines_8_f16", "conv2d_fwd_lines_8_bf16"},
    };
    struct conv2d_lines_args args;
    (void)state;
    return launch(&args, p, d, "conv2d_fwd_lines", names, b);
}

const kernel_functions conv2d_fwd__cuda_lines = {.supports = refuses, .cost = cost, .launch = launch_forward};

const kernel_functions conv2d_scale_bias_act__cuda_lines = {
    .supports = refuses, .cost = cost, .launch = launch_forward};

static braid_status create_weight(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct conv2d_lines_args args;
    (void)d;
    *state = NULL;
    (void)fill(&args, p, NULL);
    return weight_sum_bytes(p, args.parts, workspace_bytes);
}

static const char *refuses_weight(const braid_problem *p, const device *d) {
    const char *reason = refuses(p, d);
    return reason ? reason : weight_sum_refuses(p);
}

static braid_status launch_weight(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names[] = {
        {NULL, "conv2d_bwd_weight_lines_64_f16", "conv2d_bwd_weight_lines_64_bf16"},
        {NULL, "conv2d_bwd_weight_lines_16_f16", "conv2d_bwd_weight_lines_16_bf16"},
        {NULL, "conv2d_bwd_weight_lines_8_f16", "conv2d_bwd_weight_lines_8_bf16"},
        {NULL, "conv2d_bwd_weight_lines_64_raw_f16", "conv2d_bwd_weight_lines_64_raw_bf16"},
        {NULL, "conv2d_bwd_weight_lines_16_raw_f16", "conv2d_bwd_weight_lines_16_raw_bf16"},
        {NULL, "conv2d_bwd_weight_lines_8_raw_f16", "conv2d_bwd_weight_lines_8_raw_bf16"},
    };
    struct conv2d_lines_args args;
    (void)state;
    TRY(launch(&args, p, d, "conv2d_bwd_weight_lines", names, b));
    return weight_sum_conv2d(p, args.parts, d, b);
}

const kernel_functions conv2d_bwd_weight__cuda_lines = {.supports = refuses_weight,
                                                        .cost = cost,
                                                        .create = create_weight,
                                                        .launch = launch_weight,
                                                        .destroy = launch_destroy};
