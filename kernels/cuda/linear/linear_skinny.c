/*
 * From a linear layer to the launch of its kernel on small and skinny matrices. The tile, and for the weight gradient
 * the parts of the samples, are those with the shortest predicted time; they depend on the problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/linear/linear_skinny.h"

#include <math.h>

#include "core/dtype.h"
#include "kernels/cuda/launch/linear_conv2d.h"
#include "kernels/cuda/linear/linear_skinny_launch.h"
#include "kernels/cuda/linear/skinny.h"
#include "kernels/cuda/reduce/weight_sum_launch.h"

_Static_assert((int)LINEAR_ACT_X == (int)LINEAR_X && (int)LINEAR_ACT_W == (int)LINEAR_W &&
                   (int)LINEAR_ACT_BIAS == (int)LINEAR_BIAS && (int)LINEAR_ACT_MASK == (int)LINEAR_MASK &&
                   (int)LINEAR_ACT_Y == (int)LINEAR_Y,
               "the slots of linear are the first ones of linear_act");

/* How the work is cut, and how long it takes. */
typedef struct cut {
    int tile;
    int64_t parts;
    double seconds;
} cut;

static int64_t rows_of(const braid_problem *p, int i) {
    return p->pass == BRAID_PASS_BWD_WEIGHT ? p->out_channels[i] : p->batch;
}

static int64_t columns_of(const braid_problem *p, int i) {
    return p->pass == BRAID_PASS_FWD ? p->out_channels[i] : p->in_channels[i];
}

static int64_t terms_of(const braid_problem *p, int i) {
    if (p->pass == BRAID_PASS_BWD_WEIGHT) return p->batch;
    return p->pass == BRAID_PASS_FWD ? p->in_channels[i] : p->out_channels[i];
}

/* Columns that are written. */
static int64_t lanes_of(const braid_problem *p, int i) {
    if (p->pass == BRAID_PASS_BWD_WEIGHT) return p->in_channels[i];
    return p->pass == BRAID_PASS_FWD ? p->out_pitch[i] : p->in_pitch[i];
}

/* ---- Cutting ------------------------------------------------------------------------------------- */

static int has_slope(const braid_problem *p) { return p->op == BRAID_OP_LINEAR_ACT && p->pass != BRAID_PASS_FWD; }

/* Bytes of shared memory for sums of so many terms. */
static int shared_bytes(const braid_problem *p, int tile, int64_t terms) {
    const int bytes = (int)dtype_bytes(p->dtype), weights = p->pass == BRAID_PASS_BWD_WEIGHT;
    int64_t stages = launch_tiles(terms, SKINNY_DEPTH(tile, bytes));
    int stage = SKINNY_OPERAND(tile, bytes, !weights) * (has_slope(p) ? 2 : 1);
    stage += SKINNY_OPERAND(tile, bytes, p->pass == BRAID_PASS_FWD);
    const int loads = (int)(stages < SKINNY_STAGES(tile) ? stages : SKINNY_STAGES(tile)) * stage * bytes;
    const int sums = SKINNY_SUM_BYTES(tile, bytes);
    return loads > sums ? loads : sums;
}

/* Seconds that a multiprocessor needs for one stage of a block, and for what comes behind the last: multiply-adds, and
 * values of the activation. */
static double stage_seconds(const braid_problem *p, int tile) {
    const int bytes = (int)dtype_bytes(p->dtype), depth = SKINNY_DEPTH(tile, bytes);
    const double sums_per_s = bytes == 4 ? 1.1e11 : 3e11, values_per_s = 4e9, issue_s = 0.06e-6;
    const double slopes = !has_slope(p) ? 0 : p->activation == BRAID_ACTIVATION_RELU ? 0.1 : 1;
    return issue_s + (double)tile * tile * depth / sums_per_s + (double)tile * depth * slopes / values_per_s;
}

static double end_seconds(const braid_problem *p, int tile) {
    const double values_per_s = 4e9, written_per_s = 1e10;
    const int curved =
        p->op == BRAID_OP_LINEAR_ACT && p->pass == BRAID_PASS_FWD && p->activation != BRAID_ACTIVATION_RELU;
    return (double)tile * tile * (1 / written_per_s + (curved ? 1 / values_per_s : 0));
}

/* Blocks side by side on a multiprocessor. */
static double side_by_side(const braid_problem *p, int tile, int64_t terms) {
    const double shared = 227 * 1024, registers = p->dtype == BRAID_DTYPE_F32 ? 3 : 5;
    return fmin(registers, floor(shared / (shared_bytes(p, tile, terms) + 1024)));
}

static double predict(const braid_problem *p, int tile, int64_t parts) {
    const double launch_s = 2.2e-6, sum_s = 3e-6, bytes_per_s = 2.5e12, block_s = 1e-6;
    const double wait_s = p->pass == BRAID_PASS_BWD_WEIGHT ? 0.4e-6 : 0.2e-6;
    const int depth = SKINNY_DEPTH(tile, (int)dtype_bytes(p->dtype));
    double blocks = 0, elements = 0;
    int64_t terms = 1;
    for (int i = 0; i < p->streams; i++) {
        blocks +=
            (double)launch_tiles(rows_of(p, i), tile) * (double)launch_tiles(lanes_of(p, i), tile) * (double)parts;
        elements += (double)rows_of(p, i) * (double)columns_of(p, i);
        int64_t sums = launch_tiles(terms_of(p, i), parts);
        if (sums > terms) terms = sums;
    }
    double stages = (double)launch_tiles(terms, depth), work = stages * stage_seconds(p, tile) + end_seconds(p, tile);
    double each = ceil(blocks / LAUNCH_PROCESSORS), together = fmin(each, side_by_side(p, tile, terms));
    double alone = block_s + fmax(work * together, stages * wait_s);
    double sum = parts > 1 ? sum_s + 8 * elements * (double)parts / bytes_per_s : 0;
    return launch_s + fmax(alone * ceil(each / fmax(together, 1)), op_bytes(p) / bytes_per_s) + sum;
}

static cut choose_cut(const braid_problem *p) {
    cut best = {0, 1, INFINITY};
    for (int tile = 16; tile <= 64; tile *= 2) {
        const int64_t depth = SKINNY_DEPTH(tile, (int)dtype_bytes(p->dtype));
        for (int64_t parts = 1; parts <= LAUNCH_PROCESSORS; parts += parts < 4 ? 1 : parts / 4) {
            if (parts > 1 && (p->pass != BRAID_PASS_BWD_WEIGHT || p->batch < 2 * depth * parts)) break;
            double seconds = predict(p, tile, parts);
            if (seconds < best.seconds) best = (cut){tile, parts, seconds};
        }
    }
    return best;
}

double linear_skinny_cost(const braid_problem *p, const machine *on) { return (void)on, choose_cut(p).seconds; }

/* ---- The argument -------------------------------------------------------------------------------- */

/* 1 where rows can be moved 16 bytes at a time; NULL is no row. */
static int32_t is_aligned(const void *memory, int64_t pitch, const braid_problem *p) {
    return (uintptr_t)memory % 16 == 0 && pitch * (int64_t)dtype_bytes(p->dtype) % 16 == 0;
}

static void bind(struct skinny_plane *plane, const braid_problem *p, const buffers *b, int i) {
    const int fused = p->op == BRAID_OP_LINEAR_ACT, forward = p->pass == BRAID_PASS_FWD;
    void *x = b->plane[LINEAR_X][i], *w = b->plane[LINEAR_W][i], *y = b->plane[LINEAR_Y][i];
    void *dy = fused ? b->plane[LINEAR_ACT_DY][i] : y;
    plane->left = forward ? x : dy;
    plane->right = p->pass == BRAID_PASS_BWD_WEIGHT ? x : w;
    plane->out = forward ? y : p->pass == BRAID_PASS_BWD_DATA ? x : w;
    plane->bias = p->pass == BRAID_PASS_BWD_DATA ? NULL : b->plane[LINEAR_BIAS][i];
    plane->mask = b->plane[LINEAR_MASK][i];
    plane->kept = fused && forward ? b->plane[LINEAR_ACT_U][i] : NULL;
    if (fused && !forward) plane->slope = p->activation == BRAID_ACTIVATION_RELU ? y : b->plane[LINEAR_ACT_U][i];
}

static void fill_plane(struct skinny_plane *plane, const braid_problem *p, const buffers *b, int i) {
    const int forward = p->pass == BRAID_PASS_FWD, weights = p->pass == BRAID_PASS_BWD_WEIGHT;
    plane->rows = (int32_t)rows_of(p, i);
    plane->columns = (int32_t)columns_of(p, i);
    plane->terms = (int32_t)terms_of(p, i);
    plane->lanes = (int32_t)lanes_of(p, i);
    plane->left_pitch = forward ? p->in_pitch[i] : p->out_pitch[i];
    plane->right_pitch = weights ? p->in_pitch[i] : p->in_channels[i];
    plane->out_pitch = lanes_of(p, i);
    if (!b) return;
    bind(plane, p, b, i);
    plane->left_aligned =
        is_aligned(plane->left, plane->left_pitch, p) && is_aligned(plane->slope, plane->left_pitch, p);
    plane->right_aligned = is_aligned(plane->right, plane->right_pitch, p);
    plane->out_aligned = is_aligned(plane->out, plane->out_pitch, p) && is_aligned(plane->kept, plane->out_pitch, p);
}

/* False where the blocks are too many for one launch. b is NULL where there is no memory yet. */
static int fill(struct skinny_args *args, const cut *by, const braid_problem *p, const buffers *b) {
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    *args =
        (struct skinny_args){.planes = p->streams, .parts = (int32_t)by->parts, .workspace = b ? b->workspace : NULL};
    args->activation = (int32_t)(p->op == BRAID_OP_LINEAR_ACT ? p->activation : BRAID_ACTIVATION_NONE);
    args->part_terms = (int32_t)launch_tiles(p->batch, by->parts);
    for (int i = 0; i < p->streams; i++) {
        struct skinny_plane *plane = &args->plane[i];
        fill_plane(plane, p, b, i);
        plane->column_tiles = (int32_t)launch_tiles(plane->lanes, by->tile);
        plane->partial = args->part_elements;
        args->part_elements += (int64_t)plane->rows * (plane->columns + (p->bias ? 1 : 0));
        blocks[i] = launch_tiles(plane->rows, by->tile) * plane->column_tiles * by->parts;
    }
    return launch_schedule(args->first_block, blocks, p->streams);
}

const char *linear_skinny_refuses(const braid_problem *p, const device *d) {
    const braid_problem conv = linear_conv2d(p);
    struct skinny_args args;
    (void)d;
    const char *reason = launch_refuses_channels(p);
    if (p->batch >= LAUNCH_MAX_LENGTH) reason = "a batch has 2^30 samples or more";
    for (int i = 0; i < p->streams && !reason; i++) {
        if (p->in_channels[i] < 1 || p->out_channels[i] < 1) reason = "a stream has no channels";
    }
    if (!reason && p->pass == BRAID_PASS_BWD_WEIGHT) reason = weight_sum_refuses(&conv);
    if (reason) return reason;
    const cut by = choose_cut(p);
    return fill(&args, &by, p, NULL) ? NULL : launch_too_large;
}

/* ---- Launching ----------------------------------------------------------------------------------- */

braid_status linear_skinny_create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    const braid_problem conv = linear_conv2d(p);
    const cut by = choose_cut(p);
    (void)d;
    *state = NULL;
    *workspace_bytes = 0;
    return by.parts > 1 ? weight_sum_bytes(&conv, by.parts, workspace_bytes) : BRAID_OK;
}

void linear_skinny_destroy(device *d, void *state) { launch_destroy(d, state); }

/* By pass, tile and dtype. */
static const struct {
    const char *stem;
    launch_names names[3];
} functions[] = {
    [BRAID_PASS_FWD] = {"linear_fwd_skinny",
                        {{"linear_fwd_skinny16_f32", "linear_fwd_skinny16_f16", "linear_fwd_skinny16_bf16"},
                         {"linear_fwd_skinny32_f32", "linear_fwd_skinny32_f16", "linear_fwd_skinny32_bf16"},
                         {"linear_fwd_skinny64_f32", "linear_fwd_skinny64_f16", "linear_fwd_skinny64_bf16"}}},
    [BRAID_PASS_BWD_DATA] =
        {"linear_bwd_data_skinny",
         {{"linear_bwd_data_skinny16_f32", "linear_bwd_data_skinny16_f16", "linear_bwd_data_skinny16_bf16"},
          {"linear_bwd_data_skinny32_f32", "linear_bwd_data_skinny32_f16", "linear_bwd_data_skinny32_bf16"},
          {"linear_bwd_data_skinny64_f32", "linear_bwd_data_skinny64_f16", "linear_bwd_data_skinny64_bf16"}}},
    [BRAID_PASS_BWD_WEIGHT] =
        {"linear_bwd_weight_skinny",
         {{"linear_bwd_weight_skinny16_f32", "linear_bwd_weight_skinny16_f16", "linear_bwd_weight_skinny16_bf16"},
          {"linear_bwd_weight_skinny32_f32", "linear_bwd_weight_skinny32_f16", "linear_bwd_weight_skinny32_bf16"},
          {"linear_bwd_weight_skinny64_f32", "linear_bwd_weight_skinny64_f16", "linear_bwd_weight_skinny64_bf16"}}},
};

braid_status linear_skinny_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const cut by = choose_cut(p);
    struct skinny_args args;
    int64_t terms = 0;
    (void)state;
    if (!fill(&args, &by, p, b)) return fail(BRAID_ERROR_ARGUMENT, "linear: %s", launch_too_large);
    const launch_names *names = &functions[p->pass].names[by.tile == 16 ? 0 : by.tile == 32 ? 1 : 2];
    for (int i = 0; i < p->streams; i++) {
        int64_t sums = launch_tiles(terms_of(p, i), by.parts);
        if (sums > terms) terms = sums;
    }
    TRY(cuda_launch(d, &(cuda_call){.stem = functions[p->pass].stem,
                                    .function = launch_name(names, p->dtype),
                                    .blocks = args.first_block[BRAID_MAX_PLANES],
                                    .threads = SKINNY_THREADS,
                                    .shared_bytes = (size_t)shared_bytes(p, by.tile, terms),
                                    .args = &args,
                                    .args_bytes = sizeof args}));
    const braid_problem conv = linear_conv2d(p);
    return by.parts > 1 ? weight_sum_conv2d(&conv, (int32_t)by.parts, d, b) : BRAID_OK;
}
