/*
 * conv2d for few channels on both sides, all streams in one launch of conv2d_fwd_strips.cu (forward and data
 * gradient), or of conv2d_bwd_weight_strips.cu and weight_sum. From the problem to the argument: the shape of the
 * tiles, how x lies in shared memory, and how many tiles a block takes. All of it depends on the problem alone. In
 * bwd_data x is dy and y is dx.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/conv/few_channels/conv2d_strips.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/reduce/weight_sum_launch.h"

#define FWD_BLOCKS 1584 /* more blocks than this take several tiles each: the weights are laid out once */
#define WEIGHT_BLOCKS (3 * LAUNCH_PROCESSORS) /* of a weight gradient: the fewer, the less there is to add up */
#define MOST_READ 32                          /* channels of x */
#define MOST_MADE 64                          /* channels of y */
#define MOST_FILTER 16
#define MOST_STRIDE 16
#define MOST_CUTS 8 /* of an image's columns into tiles, as far as tiles are tried */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int turned(const braid_problem *p) { return p->pass == BRAID_PASS_BWD_DATA; }

static int64_t read_channels(const braid_problem *p, int i) {
    return turned(p) ? p->out_channels[i] : p->in_channels[i];
}

static int64_t made_channels(const braid_problem *p, int i) {
    return turned(p) ? p->in_channels[i] : p->out_channels[i];
}

static int64_t made_pitch(const braid_problem *p, int i) { return turned(p) ? p->in_pitch[i] : p->out_pitch[i]; }

static int64_t made_size(const braid_problem *p, int axis) {
    return turned(p) ? p->size[axis] : conv2d_out_size(p, axis);
}

/* Output channels of a thread. */
static int64_t width(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        if (made_pitch(p, i) > 4) return 8;
    }
    return 4;
}

/* Rows of x are taken one after the other, and one serves several pixels of a column. */
static int slides(const braid_problem *p) { return p->stride[0] == 1 && p->dilation[0] == 1; }

/* The groups of output channels; those of fwd write what lies behind the last channel. */
static int64_t groups(const braid_problem *p, int i) {
    int64_t lanes = p->pass == BRAID_PASS_BWD_WEIGHT ? p->out_channels[i] : made_pitch(p, i);
    return launch_tiles(lanes, width(p));
}

/* A choice of tile, and what follows from it. */
typedef struct tile_plan {
    int64_t tile[2], in_tile[2];
    int64_t row_pitch, rows; /* rows: of x in shared memory, some of which nobody loads */
    int64_t first_y, bytes, threads, slices;
    double cost; /* of all of the image, in multiplications of one thread; 0 where the tile does not fit */
} tile_plan;

/* Floats between two channels of x: lanes that write neighbouring channels meet other banks. */
static int64_t channel_pitch(const braid_problem *p, int i, const tile_plan *t) {
    int64_t floats = t->rows * t->row_pitch, wanted = 32 / read_channels(p, i) % 32;
    return floats + (wanted - floats % 32 + 32) % 32;
}

static int64_t most_threads(int64_t items) {
    int64_t rounds = launch_tiles(items, STRIPS_THREADS);
    return launch_tiles(launch_tiles(items, rounds), 32) * 32;
}

/* Threads of one slice of a weight gradient, of the widest stream. */
static int64_t weight_share(const braid_problem *p) {
    int64_t most = 1;
    for (int i = 0; i < p->streams; i++) {
        int64_t share = p->filter[1] * p->in_channels[i] * groups(p, i);
        if (share > most) most = share;
    }
    return most;
}

/* Multiplications of one thread for one tile, that of all streams. */
static double tile_work(const braid_problem *p, const tile_plan *t) {
    double work = 0, load = 12 * (double)(t->in_tile[0] * t->in_tile[1]);
    for (int i = 0; i < p->streams; i++) {
        double channels = (double)read_channels(p, i), made = (double)groups(p, i);
        if (p->pass == BRAID_PASS_BWD_WEIGHT) {
            work += (double)(launch_tiles(t->tile[1], t->slices) * t->tile[0] * STRIPS_ROWS * width(p));
            work += (load * channels + 6 * made * (double)(t->tile[0] * t->tile[1])) / (double)t->threads;
        } else {
            int64_t items = t->tile[0] / STRIPS_PIXELS * t->tile[1] * groups(p, i);
            double terms = channels * (double)(p->filter[0] * p->filter[1]) * STRIPS_PIXELS;
            work += (double)launch_tiles(items, t->threads) * terms * (double)width(p);
            work += load * channels / (double)t->threads;
        }
    }
    return work + 400; /* barriers */
}

/* Fills in everything that follows from t->tile. */
static void plan_tile(const braid_problem *p, tile_plan *t) {
    int weight = p->pass == BRAID_PASS_BWD_WEIGHT;
    int64_t stride[2], most_x = 0, most_y = 0, items = 0;
    for (int axis = 0; axis < 2; axis++) {
        stride[axis] = turned(p) ? 1 : p->stride[axis];
        t->in_tile[axis] = (t->tile[axis] - 1) * stride[axis] + (p->filter[axis] - 1) * p->dilation[axis] + 1;
    }
    t->rows = weight ? (t->tile[0] - 1) * stride[0] + (STRIPS_ROWS - 1) * p->dilation[0] + 1 : t->in_tile[0];
    t->row_pitch = t->in_tile[1];
    for (int i = 0; i < p->streams; i++) {
        int64_t made = groups(p, i) * width(p), x = read_channels(p, i) * channel_pitch(p, i, t);
        int64_t y = weight ? t->tile[0] * t->tile[1] * made : read_channels(p, i) * p->filter[0] * p->filter[1] * made;
        int64_t strips = t->tile[0] / STRIPS_PIXELS * t->tile[1] * groups(p, i);
        if (x > most_x) most_x = x;
        if (y > most_y) most_y = y;
        if (strips > items) items = strips;
    }
    t->first_y = launch_tiles(most_x, 4) * 4;
    t->bytes = 4 * (t->first_y + most_y);
    t->slices = 1;
    t->threads = weight ? 0 : most_threads(items);
    if (weight) {
        int64_t most = least(STRIPS_THREADS / weight_share(p), t->tile[1]);
        t->slices = launch_tiles(t->tile[1], launch_tiles(t->tile[1], most < 1 ? 1 : most));
        t->threads = launch_tiles(weight_share(p) * t->slices, 32) * 32;
        int64_t sums = 4 * t->threads * STRIPS_ROWS * width(p);
        if (sums > t->bytes) t->bytes = sums;
    }
    int64_t blocks = least((int64_t)227 * 1024 / (t->bytes + 1024), 2048 / t->threads);
    if (blocks * t->threads > 512) blocks = 512 / t->threads; /* registers */
    double busy = blocks < 1 ? 0.2 : (double)(blocks * t->threads) / 512;
    double tiles =
        (double)launch_tiles(made_size(p, 0), t->tile[0]) * (double)launch_tiles(made_size(p, 1), t->tile[1]);
    t->cost = t->bytes > STRIPS_SHARED ? 0 : tiles * tile_work(p, t) * (double)t->threads / (0.4 + 0.6 * busy);
}

/* The cheapest tile; its cost is 0 where none fits. */
static tile_plan choose_tile(const braid_problem *p) {
    tile_plan best = {.cost = 0};
    int64_t unit = p->pass == BRAID_PASS_BWD_WEIGHT ? 1 : STRIPS_PIXELS, height = launch_tiles(made_size(p, 0), unit);
    for (int64_t cuts = 1; cuts <= least(MOST_CUTS, made_size(p, 1)); cuts++) {
        for (int64_t rows = 1; rows <= least(height, 24); rows++) {
            tile_plan t = {.tile = {rows * unit, launch_tiles(made_size(p, 1), cuts)}};
            plan_tile(p, &t);
            if (t.cost > 0 && (best.cost == 0 || t.cost < best.cost)) best = t;
        }
    }
    return best;
}

static const char *refuses_shape(const braid_problem *p) {
    if (p->groups != 1) return "only one group";
    for (int axis = 0; axis < 2; axis++) {
        if (p->filter[axis] > MOST_FILTER || p->stride[axis] > MOST_STRIDE || p->dilation[axis] > MOST_STRIDE)
            return "only filters, strides and dilations of up to 16";
        if (p->size[axis] + 2 * p->padding[axis] + p->extra_padding[axis] >= 1 << 15)
            return "only padded images of less than 2^15 rows and columns";
        if (turned(p) && p->stride[axis] != 1) return "only a stride of 1";
    }
    if (turned(p) && p->padding_mode != BRAID_PADDING_ZEROS) return "only zero padding";
    if (p->pass == BRAID_PASS_BWD_WEIGHT) {
        if (p->bias) return "no gradient of the bias";
        if (p->filter[0] > STRIPS_ROWS) return "only filters of up to 7 rows";
        if (weight_share(p) > STRIPS_THREADS) return "the weights are too many for one block";
    }
    return NULL;
}

static void fill_planes(struct conv2d_strips_args *args, const braid_problem *p, const tile_plan *t, const buffers *b) {
    int read = turned(p) ? CONV2D_Y : CONV2D_X, made = turned(p) ? CONV2D_X : CONV2D_Y;
    int64_t partial = 0;
    for (int i = 0; i < p->streams; i++) {
        struct conv2d_strips_plane *plane = &args->plane[i];
        plane->in_channels = (int32_t)read_channels(p, i);
        plane->out_channels = (int32_t)made_channels(p, i);
        plane->in_pitch = turned(p) ? p->out_pitch[i] : p->in_pitch[i];
        plane->out_pitch = made_pitch(p, i);
        plane->channel_pitch = (int32_t)channel_pitch(p, i, t);
        plane->groups = (int32_t)groups(p, i);
        plane->partial = partial;
        partial += p->out_channels[i] * p->filter[0] * p->filter[1] * p->in_channels[i];
        if (!b) continue;
        plane->x = b->plane[read][i];
        plane->w = b->plane[CONV2D_W][i];
        plane->bias = p->pass == BRAID_PASS_FWD ? b->plane[CONV2D_BIAS][i] : NULL;
        plane->y = b->plane[made][i];
        plane->mask = b->plane[CONV2D_MASK][i];
    }
    args->part_elements = partial;
}

static void fill_shape(struct conv2d_strips_args *args, const braid_problem *p, const tile_plan *t) {
    args->planes = p->streams;
    args->mode = (int32_t)p->padding_mode;
    args->turned = turned(p);
    for (int axis = 0; axis < 2; axis++) {
        int64_t reach = (p->filter[axis] - 1) * p->dilation[axis];
        args->size[axis] = (int32_t)(turned(p) ? conv2d_out_size(p, axis) : p->size[axis]);
        args->out_size[axis] = (int32_t)made_size(p, axis);
        args->filter[axis] = (int32_t)p->filter[axis];
        args->stride[axis] = (int32_t)p->stride[axis];
        args->padding[axis] = (int32_t)(turned(p) ? reach - p->padding[axis] : p->padding[axis]);
        args->dilation[axis] = (int32_t)p->dilation[axis];
        args->tile[axis] = (int32_t)t->tile[axis];
        args->in_tile[axis] = (int32_t)t->in_tile[axis];
        args->tiles[axis] = (int32_t)launch_tiles(made_size(p, axis), t->tile[axis]);
    }
    args->row_pitch = (int32_t)t->row_pitch;
    args->slices = (int32_t)t->slices;
    args->first_y = (int32_t)t->first_y;
    args->threads = (int32_t)t->threads;
}

/* The argument, and the pointers where b is not NULL. Returns the bytes of shared memory; 0 where its blocks are too
 * many for one launch or no tile fits. */
static int64_t fill(struct conv2d_strips_args *args, const braid_problem *p, const buffers *b) {
    const tile_plan t = choose_tile(p);
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    if (t.cost <= 0) return 0;
    memset(args, 0, sizeof *args);
    fill_shape(args, p, &t);
    fill_planes(args, p, &t, b);
    int64_t image = (int64_t)args->tiles[0] * args->tiles[1];
    if (p->batch >= CUDA_MAX_BLOCKS / image) return 0;
    int64_t wanted = p->pass == BRAID_PASS_BWD_WEIGHT ? WEIGHT_BLOCKS : FWD_BLOCKS, tiles = p->batch * image;
    args->all_tiles = (int32_t)tiles;
    args->block_tiles = (int32_t)launch_tiles(p->streams * tiles, wanted);
    if (args->block_tiles < 1) args->block_tiles = 1;
    args->parts = (int32_t)launch_tiles(tiles, args->block_tiles);
    if (p->pass == BRAID_PASS_BWD_WEIGHT && args->parts < 1) args->parts = 1; /* which writes zeros */
    for (int i = 0; i < p->streams; i++) blocks[i] = args->parts;
    if (b) args->workspace = b->workspace;
    return launch_schedule(args->first_block, blocks, p->streams) ? t.bytes : 0;
}

static const char *refuses(const braid_problem *p, const device *d) {
    struct conv2d_strips_args args;
    (void)d;
    for (int i = 0; i < p->streams; i++) {
        if (read_channels(p, i) < 1 || read_channels(p, i) > MOST_READ) return "only sums over 1 to 32 channels";
        if (made_channels(p, i) < 1 || made_pitch(p, i) > MOST_MADE) return "only results of 1 to 64 channels";
        if (p->in_pitch[i] >= 1 << 15 || p->out_pitch[i] >= 1 << 15) return "only pitches below 2^15";
        if (p->size[0] * p->size[1] * p->in_pitch[i] >= LAUNCH_MAX_LENGTH ||
            conv2d_out_size(p, 0) * conv2d_out_size(p, 1) * p->out_pitch[i] >= LAUNCH_MAX_LENGTH)
            return "only images of less than 2^30 elements";
    }
    const char *reason = conv2d_refuses_add(p);
    if (!reason) reason = refuses_shape(p);
    if (reason) return reason;
    if (choose_tile(p).cost <= 0) return "no tile fits in shared memory";
    return fill(&args, p, NULL) ? NULL : launch_too_large;
}

/* Some of the multiplications are with padding of the tiles, and a part of the time is spent on loads. */
static double cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double products_per_s = 1.8e13, bytes_per_s = 2e12, launch_s = p->pass == BRAID_PASS_BWD_WEIGHT ? 1e-5 : 5e-6;
    double arithmetic = choose_tile(p).cost * (double)p->batch / products_per_s, memory = op_bytes(p) / bytes_per_s;
    return launch_s + (arithmetic > memory ? arithmetic : memory);
}

/* rows of names: 8 and 4 output channels of a thread where rows slide, then where they do not. */
static braid_status launch_one(struct conv2d_strips_args *args, const braid_problem *p, device *d, const char *stem,
                               const launch_names names[4], int sliding, const buffers *b) {
    int64_t bytes = fill(args, p, b);
    if (!bytes) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", stem, launch_too_large);
    return cuda_launch(d, &(cuda_call){.stem = stem,
                                       .function = launch_name(&names[(sliding ? 0 : 2) + (width(p) == 4)], p->dtype),
                                       .blocks = args->first_block[BRAID_MAX_PLANES],
                                       .threads = args->threads,
                                       .shared_bytes = (uint32_t)bytes,
                                       .args = args,
                                       .args_bytes = sizeof *args});
}

static braid_status launch_forward(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names[] = {
        {"conv2d_fwd_strips_7x8_f32", "conv2d_fwd_strips_7x8_f16", "conv2d_fwd_strips_7x8_bf16"},
        {"conv2d_fwd_strips_7x4_f32", "conv2d_fwd_strips_7x4_f16", "conv2d_fwd_strips_7x4_bf16"},
        {"conv2d_fwd_strips_1x8_f32", "conv2d_fwd_strips_1x8_f16", "conv2d_fwd_strips_1x8_bf16"},
        {"conv2d_fwd_strips_1x4_f32", "conv2d_fwd_strips_1x4_f16", "conv2d_fwd_strips_1x4_bf16"},
    };
    struct conv2d_strips_args args;
    (void)state;
    return launch_one(&args, p, d, "conv2d_fwd_strips", names, slides(p) && p->filter[0] % STRIPS_ROWS == 0, b);
}

/* The data gradient convolves dy with the turned filter. */
#define FORWARD_KERNEL \
    { .supports = refuses, .cost = cost, .launch = launch_forward }

const kernel_functions conv2d_fwd__cuda_strips = FORWARD_KERNEL;
const kernel_functions conv2d_bwd_data__cuda_strips = FORWARD_KERNEL;

/* The first stage of the weight gradient. */
static braid_status launch_parts_of(struct conv2d_strips_args *args, const braid_problem *p, device *d,
                                    const buffers *b) {
    static const launch_names names[] = {
        {"conv2d_bwd_weight_strips_slide8_f32", "conv2d_bwd_weight_strips_slide8_f16",
         "conv2d_bwd_weight_strips_slide8_bf16"},
        {"conv2d_bwd_weight_strips_slide4_f32", "conv2d_bwd_weight_strips_slide4_f16",
         "conv2d_bwd_weight_strips_slide4_bf16"},
        {"conv2d_bwd_weight_strips_any8_f32", "conv2d_bwd_weight_strips_any8_f16",
         "conv2d_bwd_weight_strips_any8_bf16"},
        {"conv2d_bwd_weight_strips_any4_f32", "conv2d_bwd_weight_strips_any4_f16",
         "conv2d_bwd_weight_strips_any4_bf16"},
    };
    return launch_one(args, p, d, "conv2d_bwd_weight_strips", names, slides(p), b);
}

static braid_status create_weight(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct conv2d_strips_args args;
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
    struct conv2d_strips_args args;
    (void)state;
    TRY(launch_parts_of(&args, p, d, b));
    return weight_sum_conv2d(p, args.parts, d, b);
}

const kernel_functions conv2d_bwd_weight__cuda_strips = {.supports = refuses_weight,
                                                         .cost = cost,
                                                         .create = create_weight,
                                                         .launch = launch_weight,
                                                         .destroy = launch_destroy};
