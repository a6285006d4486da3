/*
 * conv2d forward and data gradient for few channels on both sides, all streams in one launch of conv2d_fwd_patches.cu,
 * which convolves dy with the turned filter in the data gradient. From the problem to the argument: the shape of the
 * tiles, how x lies in shared memory, and how many tiles a block takes. All of it depends on the problem alone. In
 * bwd_data x is dy and y is dx.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/conv/few_channels/conv2d_patches.h"
#include "kernels/cuda/launch/launch.h"

#define BLOCKS 1056 /* more blocks than this take several tiles each: the weights are laid out once */
#define MOST_READ 32
#define MOST_MADE 16
#define MOST_FILTER 16
#define PAIR_BYTES 8

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int turned(const braid_problem *p) { return p->pass == BRAID_PASS_BWD_DATA; }

static int64_t read_channels(const braid_problem *p, int i) {
    return turned(p) ? p->out_channels[i] : p->in_channels[i];
}

static int64_t made_pitch(const braid_problem *p, int i) { return turned(p) ? p->in_pitch[i] : p->out_pitch[i]; }

static int64_t made_size(const braid_problem *p, int axis) {
    return turned(p) ? p->size[axis] : conv2d_out_size(p, axis);
}

/* Column tiles of 8 output channels. */
static int64_t column_tiles(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        if (made_pitch(p, i) > 8) return 2;
    }
    return 1;
}

/* Steps of 16 terms of a row of the filter; 0: one of 8. */
static int64_t steps(const braid_problem *p, int i) {
    int64_t terms = p->filter[1] * read_channels(p, i);
    return terms <= 8 ? 0 : launch_tiles(terms, 16);
}

/* Products of 16 x 8 outputs for one pair of rows of a patch, all column tiles. */
static int64_t products(const braid_problem *p, int i) {
    return column_tiles(p) * (steps(p, i) ? steps(p, i) : 1) * p->filter[0];
}

/* A choice of tile, and what follows from it. */
typedef struct tile_plan {
    int64_t tile[2], first_weight, first_pair, bytes;
    double cost; /* of an image, in cycles of a multiprocessor; 0 where the tile does not fit */
} tile_plan;

/* Sixteens of channels lie 8 apart, for the sake of the banks. Returns the elements. */
static int64_t lay_out(const braid_problem *p, int i, const int64_t tile[2], struct conv2d_patches_plane *plane) {
    int64_t channels = read_channels(p, i), pixel = channels % 16 ? channels : channels + 8;
    int64_t row = (tile[1] + p->filter[1] - 1) * pixel + 16, all;
    row += row % 2;
    all = row * (tile[0] + PATCHES_ROWS - 1);
    int64_t copy = all + (48 - all / 2 % 32) % 32 * 2; /* the two copies, 16 banks apart */
    plane->pixel_pitch = (int32_t)pixel;
    plane->row_pitch = (int32_t)row;
    plane->copy = channels % 2 ? (int32_t)copy : 0;
    return channels % 2 ? copy + all : all;
}

/* Fills in everything that follows from t->tile. */
static void plan_tile(const braid_problem *p, tile_plan *t) {
    int64_t most_x = 0, most_units = 0, most_steps = 1;
    const int64_t warps = PATCHES_THREADS / 32;
    double cycles = 0;
    for (int i = 0; i < p->streams; i++) {
        struct conv2d_patches_plane plane;
        int64_t x = lay_out(p, i, t->tile, &plane), units = products(p, i) / column_tiles(p);
        if (x > most_x) most_x = x;
        if (units > most_units) most_units = units;
        if (steps(p, i) > most_steps) most_steps = steps(p, i);
        double loads = (double)((t->tile[0] + p->filter[0]) * (t->tile[1] + p->filter[1]) * read_channels(p, i));
        double products_of_warp = 8 * (double)products(p, i), rest = 60 + 30 * (double)column_tiles(p);
        int64_t rounds = launch_tiles(t->tile[1] / PATCHES_SIZE, warps) * warps * (t->tile[0] / PATCHES_SIZE);
        cycles += (double)rounds * (products_of_warp + rest) + loads * (read_channels(p, i) % 4 ? 0.12 : 0.04) + 200;
    }
    t->first_weight = launch_tiles(2 * most_x, 16) * 16;
    t->first_pair = t->first_weight + most_units * 256 * column_tiles(p);
    t->bytes = t->first_pair + most_steps * 8 * PAIR_BYTES;
    int64_t blocks = least(4, (int64_t)227 * 1024 / (t->bytes + 1024));
    double tiles =
        (double)launch_tiles(made_size(p, 0), t->tile[0]) * (double)launch_tiles(made_size(p, 1), t->tile[1]);
    t->cost = t->bytes > PATCHES_SHARED ? 0 : tiles * cycles * (blocks >= 4 ? 1 : blocks == 3 ? 1.1 : 1.4);
}

/* The cheapest tile; its cost is 0 where none fits. */
static tile_plan choose_tile(const braid_problem *p) {
    tile_plan best = {.cost = 0};
    int64_t height = launch_tiles(made_size(p, 0), PATCHES_SIZE), width = launch_tiles(made_size(p, 1), PATCHES_SIZE);
    for (int64_t rows = 1; rows <= least(height, 10); rows++) {
        for (int64_t columns = 1; columns <= least(width, 10); columns++) {
            tile_plan t = {.tile = {rows * PATCHES_SIZE, columns * PATCHES_SIZE}};
            plan_tile(p, &t);
            if (t.cost > 0 && (best.cost == 0 || t.cost < best.cost)) best = t;
        }
    }
    return best;
}

/* The argument, and the pointers where b is not NULL; the bytes of shared memory, 0 where the blocks are too many. */
static int64_t fill(struct conv2d_patches_args *args, const braid_problem *p, const buffers *b) {
    const tile_plan t = choose_tile(p);
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    memset(args, 0, sizeof *args);
    if (t.cost <= 0) return 0;
    args->planes = p->streams;
    args->mode = (int32_t)p->padding_mode;
    args->turned = turned(p);
    for (int axis = 0; axis < 2; axis++) {
        args->size[axis] = (int32_t)(turned(p) ? conv2d_out_size(p, axis) : p->size[axis]);
        args->out_size[axis] = (int32_t)made_size(p, axis);
        args->filter[axis] = (int32_t)p->filter[axis];
        args->padding[axis] = (int32_t)(turned(p) ? p->filter[axis] - 1 - p->padding[axis] : p->padding[axis]);
        args->tile[axis] = (int32_t)t.tile[axis];
        args->in_tile[axis] = (int32_t)(least(t.tile[axis], made_size(p, axis)) + p->filter[axis] - 1);
        args->tiles[axis] = (int32_t)launch_tiles(made_size(p, axis), t.tile[axis]);
    }
    args->first_weight = (int32_t)t.first_weight;
    args->first_pair = (int32_t)t.first_pair;
    for (int i = 0; i < p->streams; i++) {
        struct conv2d_patches_plane *plane = &args->plane[i];
        (void)lay_out(p, i, t.tile, plane);
        plane->in_channels = (int32_t)read_channels(p, i);
        plane->out_channels = (int32_t)(turned(p) ? p->in_channels[i] : p->out_channels[i]);
        plane->in_pitch = turned(p) ? p->out_pitch[i] : p->in_pitch[i];
        plane->out_pitch = made_pitch(p, i);
        plane->steps = (int32_t)steps(p, i);
        if (!b) continue;
        plane->x = b->plane[turned(p) ? CONV2D_Y : CONV2D_X][i];
        plane->w = b->plane[CONV2D_W][i];
        plane->bias = turned(p) ? NULL : b->plane[CONV2D_BIAS][i];
        plane->y = b->plane[turned(p) ? CONV2D_X : CONV2D_Y][i];
        plane->mask = b->plane[CONV2D_MASK][i];
    }
    int64_t image = (int64_t)args->tiles[0] * args->tiles[1];
    if (p->batch >= CUDA_MAX_BLOCKS / image) return 0;
    args->all_tiles = (int32_t)(p->batch * image);
    args->block_tiles = (int32_t)launch_tiles(p->streams * (int64_t)args->all_tiles, BLOCKS);
    if (args->block_tiles < 1) args->block_tiles = 1;
    for (int i = 0; i < p->streams; i++) blocks[i] = launch_tiles(args->all_tiles, args->block_tiles);
    return launch_schedule(args->first_block, blocks, p->streams) ? t.bytes : 0;
}

static const char *refuses(const braid_problem *p, const device *d) {
    struct conv2d_patches_args args;
    (void)d;
    if (conv2d_refuses_add(p)) return conv2d_refuses_add(p);
    if (p->groups != 1) return "only one group";
    for (int axis = 0; axis < 2; axis++) {
        if (p->stride[axis] != 1 || p->dilation[axis] != 1) return "only a stride and a dilation of 1";
        if (p->filter[axis] > MOST_FILTER) return "only filters of up to 16 columns";
        if (p->size[axis] + 2 * p->padding[axis] + p->extra_padding[axis] >= 1 << 15)
            return "only padded images of less than 2^15 rows and columns";
    }
    if (p->filter[0] > PATCHES_ROWS) return "only filters of up to 7 rows";
    if (turned(p) && p->padding_mode != BRAID_PADDING_ZEROS) return "only zero padding";
    for (int i = 0; i < p->streams; i++) {
        if (read_channels(p, i) < 1 || read_channels(p, i) > MOST_READ) return "only sums over 1 to 32 channels";
        if (made_pitch(p, i) < 1 || made_pitch(p, i) > MOST_MADE) return "only results of 1 to 16 channels";
        if (p->in_pitch[i] >= 1 << 15 || p->out_pitch[i] >= 1 << 15) return "only pitches below 2^15";
        if ((turned(p) ? p->in_channels[i] : p->out_channels[i]) < 1) return "only results of 1 to 16 channels";
    }
    for (int i = 0; i < p->streams; i++) {
        if (p->size[0] * p->size[1] * p->in_pitch[i] >= LAUNCH_MAX_LENGTH ||
            conv2d_out_size(p, 0) * conv2d_out_size(p, 1) * p->out_pitch[i] >= LAUNCH_MAX_LENGTH)
            return "only images of less than 2^30 elements";
    }
    if (choose_tile(p).cost <= 0) return "no tile fits in shared memory";
    return fill(&args, p, NULL) ? NULL : launch_too_large;
}

static double cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double cycles_per_s = LAUNCH_PROCESSORS * 1.5e9, bytes_per_s = 2.5e12, launch_s = 5e-6;
    double arithmetic = choose_tile(p).cost * (double)p->batch / cycles_per_s, memory = op_bytes(p) / bytes_per_s;
    return launch_s + (arithmetic > memory ? arithmetic : memory);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names[] = {
        {NULL, "conv2d_fwd_patches_8_f16", "conv2d_fwd_patches_8_bf16"},
        {NULL, "conv2d_fwd_patches_16_f16", "conv2d_fwd_patches_16_bf16"},
    };
    struct conv2d_patches_args args;
    int64_t bytes = fill(&args, p, b);
    (void)state;
    if (!bytes) return fail(BRAID_ERROR_ARGUMENT, "conv2d_fwd_patches: %s", launch_too_large);
    return cuda_launch(d, &(cuda_call){.stem = "conv2d_fwd_patches",
                                       .function = launch_name(&names[column_tiles(p) - 1], p->dtype),
                                       .blocks = args.first_block[BRAID_MAX_PLANES],
                                       .threads = PATCHES_THREADS,
                                       .shared_bytes = (uint32_t)bytes,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

#define PATCHES_KERNEL \
    { .supports = refuses, .cost = cost, .launch = launch }

const kernel_functions conv2d_fwd__cuda_patches = PATCHES_KERNEL;
const kernel_functions conv2d_bwd_data__cuda_patches = PATCHES_KERNEL;
