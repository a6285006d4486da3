/*
 * From a convolution of few input channels to the argument of its kernels on Hopper's matrix units: how many rows a
 * unit has, and how many units a block takes. All of it depends on the problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/few_channels/conv2d_rows_launch.h"
#include "kernels/cuda/conv/few_channels/li_conv2d_rows.h"

#include <string.h>

#define MOST_ROWS 8         /* of a unit */
#define MOST_BOX 256        /* elements and lines of a copy */
#define MOST_CHANNELS 4     /* of the input */
#define PIECE 8             /* elements of 16 bytes */
#define SHARED_BYTES 232448 /* that a block of sm_90 may use */
#define BARRIER_BYTES 8

static int is_weight(const braid_problem *p) { return p->pass == BRAID_PASS_BWD_WEIGHT; }

static int64_t round_up(int64_t length, int64_t to) { return launch_tiles(length, to) * to; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t taps(const braid_problem *p, int i) { return p->filter[0] * p->filter[1] * p->in_channels[i]; }

/* Spread rows that a product takes: in bwd_weight its columns, a width that the kernel has, in fwd whole steps, of
 * which two overlap where the taps are no multiple of one. */
static int64_t operand_rows(const braid_problem *p, int i) {
    static const int64_t widths[] = {32, 56, 104, 152};
    if (!is_weight(p)) return round_up(taps(p, i), ROWS_STEP);
    for (size_t j = 0; j < sizeof widths / sizeof *widths; j++) {
        if (taps(p, i) <= widths[j]) return widths[j];
    }
    return ROWS_MOST_TAPS;
}

/* Elements of a box before its first: boxes of 16 pixels lie whole pieces apart. */
static int64_t shift(const braid_problem *p, int i) {
    return (PIECE - p->padding[1] * p->in_channels[i] % PIECE) % PIECE;
}

/* One more than it takes: elements are read in pairs. An odd number of pieces: lines begin at different banks. */
static int64_t box(const braid_problem *p, int i) {
    int64_t columns = (ROWS_STEP - 1) * p->stride[1] + p->filter[1];
    return round_up(shift(p, i) + columns * p->in_channels[i] + 1 - PIECE, 2 * PIECE) + PIECE;
}

static int64_t unit_lines(const braid_problem *p, int64_t rows) { return (rows - 1) * p->stride[0] + p->filter[0]; }

static int64_t box_bytes(const braid_problem *p, int i, int64_t rows) {
    return round_up(unit_lines(p, rows) * box(p, i) * 2, 128);
}

/* Pixels of a row of a unit. In fwd the products are as wide: fewer where that leaves as many units. */
static int32_t unit_pixels(const braid_problem *p) {
    int64_t width = conv2d_out_size(p, 1), units = launch_tiles(width, ROWS_PIXELS);
    return !is_weight(p) && units * ROWS_FEWER_PIXELS >= width ? ROWS_FEWER_PIXELS : ROWS_PIXELS;
}

/* What a kernel has of shared memory beside x. In fwd two warpgroups have two places for outputs each. */
static int64_t own_bytes(const braid_problem *p) {
    if (p->op == BRAID_OP_LI_CONV2D) return LI_ROWS_STAGES * LI_ROWS_TENSORS * ROWS_Y_BYTES;
    return is_weight(p) ? ROWS_DY_STAGES * ROWS_Y_BYTES : 4 * ROWS_TOGETHER * unit_pixels(p) * ROWS_ROW_BYTES;
}

/* Bytes of shared memory for units of so many rows, of the stream that has most: x, and x spread. */
static void find_bytes(struct conv2d_rows_args *args, const braid_problem *p, int64_t rows) {
    int64_t x = 0, spread = 0, last = round_up(rows, ROWS_TOGETHER) - 1;
    for (int i = 0; i < p->streams; i++) {
        int64_t line = p->filter[1] * p->in_channels[i], reads = is_weight(p) ? operand_rows(p, i) : taps(p, i);
        int64_t under = last * p->stride[0] * line + reads;
        x = most(x, box_bytes(p, i, rows) * (ROWS_PIXELS / ROWS_STEP));
        spread = most(spread, round_up(most(unit_lines(p, rows) * line, under), 8) * ROWS_ROW_BYTES);
    }
    args->x_bytes = (int32_t)x;
    args->spread_bytes = (int32_t)spread;
    args->own_bytes = (int32_t)own_bytes(p);
}

int64_t conv2d_rows_shared(const struct conv2d_rows_args *args, const braid_problem *p) {
    int64_t barriers = ROWS_X_BARRIERS + (is_weight(p) ? ROWS_DY_BARRIERS : 0);
    return args->own_bytes + ROWS_X_STAGES * (args->x_bytes + args->spread_bytes) + barriers * BARRIER_BYTES;
}

/* Rows of a unit: the more, the fewer lines of x are spread twice. 0: not even one fits. */
static int64_t choose_rows(struct conv2d_rows_args *args, const braid_problem *p) {
    int64_t height = conv2d_out_size(p, 0), rows = height < MOST_ROWS ? height : MOST_ROWS;
    for (; rows > 0; rows--) {
        find_bytes(args, p, rows);
        if (conv2d_rows_shared(args, p) <= SHARED_BYTES && unit_lines(p, rows) <= MOST_BOX) break;
    }
    return rows;
}

static int64_t filter_blocks(const braid_problem *p, int i) {
    return launch_tiles(is_weight(p) ? p->out_channels[i] : p->out_pitch[i], ROWS_FILTERS);
}

/* Cycles of a row of a unit of stream i, by shared memory: what is spread, multiplied, loaded and stored. */
static double row_cycles(const braid_problem *p, int i) {
    double products = (is_weight(p) ? 2 : 1) * (double)operand_rows(p, i);
    double mixed = p->op == BRAID_OP_LI_CONV2D ? products + 400 : 0;
    return 130 + products + mixed + 8 * (double)(p->filter[1] * p->in_channels[i]);
}

/* What a unit of stream i costs, in no unit: in fwd the more the more taps there are; all streams of a weight gradient
 * have as many parts. */
static double unit_cost(const braid_problem *p, int i) {
    const double memory = 380;
    return is_weight(p) || row_cycles(p, i) < memory ? memory : row_cycles(p, i);
}

/* Divides the blocks among the streams. */
static int fill_parts(struct conv2d_rows_args *args, const braid_problem *p) {
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    double all = 0;
    for (int i = 0; i < p->streams; i++) all += unit_cost(p, i) * (double)filter_blocks(p, i);
    for (int i = 0; i < p->streams; i++) {
        int64_t parts = most((int64_t)(LAUNCH_PROCESSORS * unit_cost(p, i) / all + 1e-6), 1);
        args->plane[i].part_units = (int32_t)launch_tiles(args->units, parts);
        blocks[i] = filter_blocks(p, i) * launch_tiles(args->units, args->plane[i].part_units);
    }
    return launch_schedule(args->first_block, blocks, p->streams);
}

static int fill(struct conv2d_rows_args *args, const braid_problem *p, int32_t pixels, int32_t is_down) {
    memset(args, 0, sizeof *args);
    int64_t rows = choose_rows(args, p), down = launch_tiles(conv2d_out_size(p, 0), rows);
    int64_t across = launch_tiles(conv2d_out_size(p, 1), pixels);
    double units = (double)p->batch * (double)down * (double)across;
    if (units >= (double)LAUNCH_MAX_LENGTH) return 0;
    for (int i = 0; i < p->streams; i++) {
        struct conv2d_rows_plane *plane = &args->plane[i];
        plane->filters = (int32_t)p->out_channels[i];
        plane->lanes = (int32_t)(is_weight(p) ? p->out_channels[i] : p->out_pitch[i]);
        plane->before = (int32_t)(p->padding[1] * p->in_channels[i] + shift(p, i));
        plane->step = (int32_t)(p->stride[1] * p->in_channels[i]);
        plane->spread = (int32_t)(p->filter[1] * p->in_channels[i]);
        plane->taps = (int32_t)taps(p, i);
        plane->shift = (int32_t)shift(p, i);
        plane->box = (int32_t)box(p, i);
        plane->box_bytes = (int32_t)box_bytes(p, i, rows);
        plane->partial = args->part_elements;
        args->part_elements += p->out_channels[i] * (is_weight(p) ? taps(p, i) : 1);
    }
    args->planes = p->streams;
    args->units = (int32_t)units;
    args->unit_rows = (int32_t)rows;
    args->unit_lines = (int32_t)unit_lines(p, rows);
    args->unit_pixels = pixels;
    args->is_down = is_down;
    args->units_down = (int32_t)down;
    args->units_across = (int32_t)across;
    args->stride = (int32_t)p->stride[0];
    args->filter_rows = (int32_t)p->filter[0];
    args->padding = (int32_t)p->padding[0];
    for (int axis = 0; axis < 2; axis++) args->out_size[axis] = (int32_t)conv2d_out_size(p, axis);
    return fill_parts(args, p);
}

int conv2d_rows_fill(struct conv2d_rows_args *args, const braid_problem *p) { return fill(args, p, unit_pixels(p), 0); }

int conv2d_rows_fill_down(struct conv2d_rows_args *args, const braid_problem *p, int32_t pixels) {
    return fill(args, p, pixels, 1);
}

int32_t conv2d_rows_parts(const struct conv2d_rows_args *args) {
    return (int32_t)launch_tiles(args->units, args->plane[0].part_units);
}

static const char *refuses_streams(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] < 1 || p->in_channels[i] > MOST_CHANNELS) return "only 1 to 4 input channels";
        if (p->out_channels[i] < 1) return "a stream has no channels";
        if (p->in_pitch[i] != p->in_channels[i] || p->size[1] * p->in_channels[i] % PIECE || p->out_pitch[i] % PIECE)
            return "the copy engine needs lines of x and pixels of y at multiples of 16 bytes";
        if (taps(p, i) > ROWS_MOST_TAPS) return "only filters of up to 200 taps and channels";
        if (!is_weight(p) && taps(p, i) < ROWS_STEP) return "only filters of 16 taps and channels and more";
        if (box(p, i) > MOST_BOX) return "the line of 16 pixels has more than 256 elements";
    }
    return NULL;
}

const char *conv2d_rows_refuses(const braid_problem *p, const device *d) {
    struct conv2d_rows_args args;
    if (p->groups != 1) return "only one group";
    if (p->add) return "does not add";
    if (p->bias) return "a bias is left to other kernels";
    if (p->padding_mode != BRAID_PADDING_ZEROS) return "the copy engine pads with zeros only";
    if (p->dilation[0] != 1 || p->dilation[1] != 1) return "only undilated filters";
    if (p->batch < 1) return "there are no samples";
    for (int axis = 0; axis < 2; axis++) {
        if (p->size[axis] >= LAUNCH_MAX_LENGTH / 8 || p->padding[axis] >= MOST_BOX || p->stride[axis] > MOST_BOX ||
            p->filter[axis] > ROWS_MOST_TAPS)
            return launch_too_large;
    }
    const char *reason = launch_refuses_channels(p);
    if (!reason) reason = refuses_streams(p);
    if (!reason && choose_rows(&args, p) < 1) reason = "the x of a row of pixels does not fit in shared memory";
    if (!reason && !conv2d_rows_fill(&args, p)) reason = launch_too_large;
    return reason ? reason : cuda_refuses_tensor_maps(d);
}

braid_status conv2d_rows_map(cuda_tensor_map *to, const braid_problem *p, device *d, const void *memory,
                             int64_t channels, int64_t pitch) {
    int64_t rows = conv2d_out_size(p, 0), width = conv2d_out_size(p, 1), pixel = pitch * 2;
    cuda_tensor tensor = {.memory = memory,
                          .dtype = p->dtype,
                          .rank = 4,
                          .size = {channels, width, rows, p->batch},
                          .pitch = {pixel, pixel * width, pixel * width * rows},
                          .box = {ROWS_FILTERS, unit_pixels(p), 1, 1},
                          .swizzle = ROWS_ROW_BYTES};
    return cuda_tensor_map_make(to, d, &tensor);
}

braid_status conv2d_rows_bind(struct conv2d_rows_args *args, const braid_problem *p, device *d, const buffers *b,
                              int slot) {
    for (int i = 0; i < p->streams; i++) {
        struct conv2d_rows_plane *plane = &args->plane[i];
        int64_t line = p->size[1] * p->in_channels[i] * 2;
        cuda_tensor x = {.memory = b->plane[CONV2D_X][i],
                         .dtype = p->dtype,
                         .rank = 3,
                         .size = {p->size[1] * p->in_channels[i], p->size[0], p->batch},
                         .pitch = {line, line * p->size[0]},
                         .box = {plane->box, args->unit_lines, 1}};
        TRY(cuda_tensor_map_make(&plane->x, d, &x));
        TRY(conv2d_rows_map(&plane->y, p, d, b->plane[slot][i], plane->lanes, p->out_pitch[i]));
        plane->w = b->plane[CONV2D_W][i];
        plane->mask = b->plane[CONV2D_MASK][i];
    }
    args->workspace = b->workspace;
    return BRAID_OK;
}

braid_status conv2d_rows_launch(struct conv2d_rows_args *args, const braid_problem *p, device *d, const char *stem,
                                const launch_names *names, const buffers *b) {
    (void)conv2d_rows_fill(args, p);
    TRY(conv2d_rows_bind(args, p, d, b, CONV2D_Y));
    return cuda_launch(d, &(cuda_call){.stem = stem,
                                       .function = launch_name(names, p->dtype),
                                       .blocks = args->first_block[BRAID_MAX_PLANES],
                                       .threads = is_weight(p) ? ROWS_WEIGHT_THREADS : ROWS_FWD_THREADS,
                                       .shared_bytes = (size_t)conv2d_rows_shared(args, p),
                                       .args = args,
                                       .args_bytes = sizeof *args});
}

/* The longest block at the clock of a busy GPU, or memory at full speed. */
double conv2d_rows_seconds(const struct conv2d_rows_args *args, const braid_problem *p, double bytes, double least) {
    const double cycles_per_s = 1.5e9, bytes_per_s = 3.3e12, launches_s = is_weight(p) ? 1e-5 : 5e-6;
    double longest = 0, memory = bytes / bytes_per_s;
    for (int i = 0; i < p->streams; i++) {
        double row = row_cycles(p, i) > least ? row_cycles(p, i) : least;
        double cycles = row * args->unit_rows * args->plane[i].part_units;
        if (cycles > longest) longest = cycles;
    }
    double turns = (double)launch_tiles(args->first_block[BRAID_MAX_PLANES], LAUNCH_PROCESSORS);
    double blocks = turns * longest / cycles_per_s;
    return launches_s + (blocks > memory ? blocks : memory);
}

double conv2d_rows_cost(const braid_problem *p, const machine *on) {
    (void)on;
    struct conv2d_rows_args args;
    (void)conv2d_rows_fill(&args, p); /* `supports` has asked */
    return conv2d_rows_seconds(&args, p, op_bytes(p), 0);
}
