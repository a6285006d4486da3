/*
 * conv2d_dsums on the matrix units, all streams in one launch of conv2d_dsums_im2col_sm90a.cu.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_im2col_launch.h"
#include "kernels/cuda/dsums_launch.h"

static const char stem[] = "conv2d_dsums_im2col_sm90a";

static const im2col_tile by_r_list[] = {
    {112, "conv2d_dsums_f16_lanes112", "conv2d_dsums_bf16_lanes112"},
    {144, "conv2d_dsums_f16_lanes144", "conv2d_dsums_bf16_lanes144"},
    {176, "conv2d_dsums_f16_lanes176", "conv2d_dsums_bf16_lanes176"},
    {192, "conv2d_dsums_f16_lanes192", "conv2d_dsums_bf16_lanes192"},
    {224, "conv2d_dsums_f16_lanes224", "conv2d_dsums_bf16_lanes224"},
    {256, "conv2d_dsums_f16_lanes256", "conv2d_dsums_bf16_lanes256"},
    {0},
};
static const im2col_tiles by_r = {stem, 0, IM2COL_SUMS_BY_R, by_r_list};

static const im2col_tile by_x_list[] = {
    {112, "conv2d_dsums_x_f16_lanes112", "conv2d_dsums_x_bf16_lanes112"},
    {144, "conv2d_dsums_x_f16_lanes144", "conv2d_dsums_x_bf16_lanes144"},
    {176, "conv2d_dsums_x_f16_lanes176", "conv2d_dsums_x_bf16_lanes176"},
    {224, "conv2d_dsums_x_f16_lanes224", "conv2d_dsums_x_bf16_lanes224"},
    {0},
};
static const im2col_tiles by_x = {stem, 0, IM2COL_SUMS_BY_X, by_x_list};

static int reads_x(const braid_problem *p) { return (p->add & CONV2D_DSUMS_ADD_Z) != 0; }

static const im2col_tiles *tiles_of(const braid_problem *p) { return reads_x(p) ? &by_x : &by_r; }

static const char *supports(const braid_problem *p, const device *d) {
    const braid_problem conv = conv2d_dsums_conv(p);
    return conv2d_im2col_refuses_sums(&conv, d, tiles_of(p)->sums);
}

/* Behind the last tile the sums of all blocks are added. The planes beside may be what takes longest. */
static double cost(const braid_problem *p) {
    const braid_problem conv = conv2d_dsums_conv(p);
    const double bytes_per_s = 3e12, launch_s = 5e-6, join_s = 3e-6;
    const double memory = launch_s + op_bytes(p) / bytes_per_s, tiles = conv2d_im2col_cost(&conv, tiles_of(p));
    return (tiles > memory ? tiles : memory) + join_s;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    const braid_problem conv = conv2d_dsums_conv(p);
    (void)d;
    return conv2d_im2col_create_sums(&conv, tiles_of(p), state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const braid_problem conv = conv2d_dsums_conv(p);
    const buffers of_conv = conv2d_dsums_operands(p, b, 0), of_norm = conv2d_dsums_operands(p, b, 1);
    const im2col_beside beside = {.sums = &of_norm, .workspace = b->workspace};
    return conv2d_im2col_launch_sums(&conv, d, state, &of_conv, &beside, tiles_of(p));
}

const kernel_functions conv2d_dsums__cuda_im2col_lanes = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = conv2d_im2col_destroy};
