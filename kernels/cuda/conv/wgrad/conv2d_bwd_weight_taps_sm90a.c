/*
 * conv2d weight gradient of 3x3 filters at stride 1 on Hopper's matrix units: the launcher.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/conv/wgrad/weight_tiles_launch.h"

#define MOST_BOX 256      /* pixels of a box along one axis */
#define STEP_CYCLES 288.0 /* three warpgroups, 64 x 192 x 16 each */
#define THREADS 512

/* A unit of whole rows: see the kernel. The pixels behind the box stand for the last taps of the last pixels. */
static weight_piece whole_rows(int64_t rows, int64_t width) {
    int64_t steps = launch_tiles(rows * (width + 1), WEIGHT_STEP), box = (rows + 2) * (width + 1);
    int64_t read = steps * WEIGHT_STEP + 2 * (width + 1) + 2, pixels = box > read ? box : read;
    return (weight_piece){.rows = (int)rows,
                          .columns = (int)width,
                          .pitch = (int)width + 1,
                          .dy_box = {(int)rows, (int)width + 1},
                          .x_box = {(int)rows + 2, (int)width + 1},
                          .dy_boxes = 1,
                          .x_boxes = 1,
                          .dy_bytes = steps * WEIGHT_STEP * WEIGHT_PIXEL_BYTES,
                          .x_bytes = launch_tiles(pixels * WEIGHT_PIXEL_BYTES, 1024) * 1024};
}

/* A unit of a part of one row. */
static weight_piece part_of_row(int64_t columns) {
    return (weight_piece){.rows = 1,
                          .columns = (int)columns,
                          .pitch = (int)columns,
                          .dy_box = {1, (int)columns},
                          .x_box = {3, (int)columns + 2},
                          .dy_boxes = 1,
                          .x_boxes = 1,
                          .dy_bytes = columns * WEIGHT_PIXEL_BYTES,
                          .x_bytes = launch_tiles(3 * (columns + 2) * WEIGHT_PIXEL_BYTES, 1024) * 1024};
}

static void offer(weight_plan *plan, weight_piece piece, const braid_problem *p) {
    if (weight_tiles_stages(&piece) < 2) return;
    double cycles = weight_tiles_cycles(&piece, p, STEP_CYCLES);
    if (plan->cycles > 0 && cycles >= plan->cycles) return;
    plan->cycles = cycles;
    plan->piece = piece;
}

static int make_plan(weight_plan *plan, const braid_problem *p) {
    int64_t height = p->size[0], width = p->size[1];
    memset(plan, 0, sizeof *plan);
    for (int64_t rows = 1; rows <= height && rows + 2 <= MOST_BOX && width + 1 <= MOST_BOX; rows++)
        offer(plan, whole_rows(rows, width), p);
    for (int64_t columns = WEIGHT_STEP; columns + 2 <= MOST_BOX && columns < width + WEIGHT_STEP;
         columns += WEIGHT_STEP)
        offer(plan, part_of_row(columns), p);
    plan->args.tile_rows = 64;
    plan->args.tile_blocks = 9;
    plan->args.warpgroup_blocks = 3;
    return weight_tiles_plan(plan, p);
}

static const char *supports(const braid_problem *p, const device *d) {
    weight_plan plan;
    for (int axis = 0; axis < 2; axis++) {
        if (p->filter[axis] != 3 || p->stride[axis] != 1 || p->dilation[axis] != 1 || p->padding[axis] != 1 ||
            p->extra_padding[axis])
            return "only 3x3 filters at stride 1 with padding 1, without dilation";
    }
    const char *reason = weight_tiles_refuses(p, d);
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
    static const launch_names names[2] = {
        {NULL, "conv2d_bwd_weight_taps_f16", "conv2d_bwd_weight_taps_bf16"},
        {NULL, "conv2d_bwd_weight_taps_tree_f16", "conv2d_bwd_weight_taps_tree_bf16"},
    };
    const weight_plan *plan = state;
    return weight_tiles_launch(plan, p, d, b,
                               &(cuda_call){.stem = "conv2d_bwd_weight_taps_sm90a",
                                            .function = launch_name(&names[plan->args.has_tree], p->dtype),
                                            .threads = THREADS});
}

const kernel_functions conv2d_bwd_weight__cuda_taps_wgmma = {.supports = supports,
                                                             .cost = cost,
                                                             .create = create,
                                                             .narrow = weight_tiles_narrow,
                                                             .destroy = weight_tiles_destroy,
                                                             .parts = parts,
                                                             .adder = &weight_sum_adder,
                                                             .sums = weight_tiles_sums};
