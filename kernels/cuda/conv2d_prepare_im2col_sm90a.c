/*
 * conv2d_prepare on the matrix units, all streams in one launch of conv2d_prepare_im2col_sm90a.cu, which also does what
 * bn_finalize does.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_im2col_launch.h"
#include "kernels/cuda/conv2d_prepare_launch.h"

static const im2col_tile list[] = {
    {64, "conv2d_prepare_f16_lanes64", "conv2d_prepare_bf16_lanes64"},
    {112, "conv2d_prepare_f16_lanes112", "conv2d_prepare_bf16_lanes112"},
    {144, "conv2d_prepare_f16_lanes144", "conv2d_prepare_bf16_lanes144"},
    {176, "conv2d_prepare_f16_lanes176", "conv2d_prepare_bf16_lanes176"},
    {192, "conv2d_prepare_f16_lanes192", "conv2d_prepare_bf16_lanes192"},
    {208, "conv2d_prepare_f16_lanes208", "conv2d_prepare_bf16_lanes208"},
    {224, "conv2d_prepare_f16_lanes224", "conv2d_prepare_bf16_lanes224"},
    {256, "conv2d_prepare_f16_lanes256", "conv2d_prepare_bf16_lanes256"},
    {0},
};
static const im2col_tiles tiles = {"conv2d_prepare_im2col_sm90a", 0, IM2COL_MOMENTS, list};

static const char *supports(const braid_problem *p, const device *d) {
    const braid_problem conv = conv2d_prepare_conv(p);
    return conv2d_im2col_refuses_sums(&conv, d, tiles.sums);
}

/* Behind the last tile the parts of all blocks are added. */
static double cost(const braid_problem *p) {
    const braid_problem conv = conv2d_prepare_conv(p);
    const double join_s = 3e-6;
    return conv2d_im2col_cost(&conv, &tiles) + join_s;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    const braid_problem conv = conv2d_prepare_conv(p);
    (void)d;
    return conv2d_im2col_create_sums(&conv, &tiles, state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const braid_problem conv = conv2d_prepare_conv(p);
    const struct bn_finalize_args norm = conv2d_prepare_norm(p, b);
    const im2col_beside beside = {.norm = &norm, .workspace = b->workspace};
    return conv2d_im2col_launch_sums(&conv, d, state, b, &beside, &tiles);
}

const kernel_functions conv2d_prepare__cuda_im2col_lanes = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = conv2d_im2col_destroy};
