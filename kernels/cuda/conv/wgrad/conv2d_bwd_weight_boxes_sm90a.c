/*
 * conv2d weight gradient on Hopper's matrix units for any filter, stride and dilation: the launcher.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/conv/wgrad/weight_tiles_launch.h"

#define MOST_BOX 256     /* pixels of a box along one axis */
#define MOST_STRIDE 8    /* of a copy */
#define MOST_PIXELS 128  /* of a unit */
#define MOST_BLOCKS 4    /* of a tile */
#define BLOCK_CYCLES 64. /* of a step and block: two warpgroups, 64 x 64 x 16 each */
#define THREADS 384

static weight_piece rectangle(int64_t rows, int64_t columns, int blocks) {
    int64_t bytes = launch_tiles(rows * columns, WEIGHT_STEP) * WEIGHT_STEP * WEIGHT_PIXEL_BYTES;
    return (weight_piece){.rows = (int)rows,
                          .columns = (int)columns,
                          .pitch = (int)columns,
                          .dy_box = {(int)rows, (int)columns},
                          .x_box = {(int)rows, (int)columns},
                          .dy_boxes = 2,
                          .x_boxes = blocks,
                          .dy_bytes = bytes,
                          .x_bytes = bytes};
}

/* The cheapest rectangle for tiles of so many blocks, and its cycles. */
static weight_piece choose_rectangle(const braid_problem *p, int blocks, double *least) {
    int64_t height = conv2d_out_size(p, 0), width = conv2d_out_size(p, 1);
    weight_piece best = {0};
    *least = 0;
    for (int64_t columns = 1; columns <= width && (columns - 1) * p->stride[1] < MOST_BOX && columns <= MOST_PIXELS;
         columns++) {
        for (int64_t rows = 1; rows <= height && (rows - 1) * p->stride[0] < MOST_BOX && rows * columns <= MOST_PIXELS;
             rows++) {
            weight_piece piece = rectangle(rows, columns, blocks);
            double cycles = weight_tiles_cycles(&piece, p, BLOCK_CYCLES * blocks);
            if (*least > 0 && cycles >= *least) continue;
            *least = cycles;
            best = piece;
        }
    }
    return best;
}

/* Tiles side by side, of all streams. */
static double column_tiles(const braid_problem *p, int blocks) {
    double tiles = 0;
    for (int i = 0; i < p->streams; i++) {
        int64_t all = p->filter[0] * p->filter[1] * launch_tiles(p->in_channels[i], WEIGHT_BLOCK);
        tiles += (double)launch_tiles(all, blocks);
    }
    return tiles;
}

static int make_plan(weight_plan *plan, const braid_problem *p) {
    double least = 0;
    memset(plan, 0, sizeof *plan);
    for (int blocks = 1; blocks <= MOST_BLOCKS; blocks++) {
        double cycles;
        weight_piece piece = choose_rectangle(p, blocks, &cycles);
        double all = cycles * column_tiles(p, blocks);
        if (least > 0 && all >= least) continue;
        least = all;
        plan->piece = piece;
        plan->cycles = cycles;
    }
    plan->args.tile_rows = 128;
    plan->args.tile_blocks = plan->args.warpgroup_blocks = plan->piece.x_boxes;
    plan->args.stacked = 1;
    return weight_tiles_plan(plan, p);
}

static const char *supports(const braid_problem *p, const device *d) {
    weight_plan plan;
    const char *reason = weight_tiles_refuses(p, d);
    if (!reason && (p->stride[0] > MOST_STRIDE || p->stride[1] > MOST_STRIDE))
        reason = "the copy engine takes strides up to 8";
    if (!reason && (p->filter[0] >= LAUNCH_MAX_LENGTH / p->filter[1])) reason = launch_too_large;
    if (!reason && !make_plan(&plan, p)) reason = launch_too_large;
    return reason;
}

static double cost(const braid_problem *p, const machine *on) {
    (void)on;
    weight_plan plan;
    (void)make_plan(&plan, p); /* `supports` has asked */
    return weight_tiles_cost(&plan, p);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    weight_plan plan;
    (void)d;
    (void)make_plan(&plan, p);
    return weight_tiles_create(&plan, state, workspace_bytes);
}

static braid_status parts(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names[2][MOST_BLOCKS] = {
        {
            {NULL, "conv2d_bwd_weight_boxes_x1_f16", "conv2d_bwd_weight_boxes_x1_bf16"},
            {NULL, "conv2d_bwd_weight_boxes_x2_f16", "conv2d_bwd_weight_boxes_x2_bf16"},
            {NULL, "conv2d_bwd_weight_boxes_x3_f16", "conv2d_bwd_weight_boxes_x3_bf16"},
            {NULL, "conv2d_bwd_weight_boxes_x4_f16", "conv2d_bwd_weight_boxes_x4_bf16"},
        },
        {
            {NULL, "conv2d_bwd_weight_boxes_x1_tree_f16", "conv2d_bwd_weight_boxes_x1_tree_bf16"},
            {NULL, "conv2d_bwd_weight_boxes_x2_tree_f16", "conv2d_bwd_weight_boxes_x2_tree_bf16"},
            {NULL, "conv2d_bwd_weight_boxes_x3_tree_f16", "conv2d_bwd_weight_boxes_x3_tree_bf16"},
            {NULL, "conv2d_bwd_weight_boxes_x4_tree_f16", "conv2d_bwd_weight_boxes_x4_tree_bf16"},
        },
    };
    const weight_plan *plan = state;
    return weight_tiles_launch(
        plan, p, d, b,
        &(cuda_call){.stem = "conv2d_bwd_weight_boxes_sm90a",
                     .function = launch_name(&names[plan->args.has_tree][plan->args.tile_blocks - 1], p->dtype),
                     .threads = THREADS});
}

const kernel_functions conv2d_bwd_weight__cuda_boxes_wgmma = {.supports = supports,
                                                              .cost = cost,
                                                              .create = create,
                                                              .narrow = weight_tiles_narrow,
                                                              .destroy = weight_tiles_destroy,
                                                              .parts = parts,
                                                              .adder = &weight_sum_adder,
                                                              .sums = weight_tiles_sums};
