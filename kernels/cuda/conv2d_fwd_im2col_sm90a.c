/*
 * conv2d forward and conv2d_scale_bias_act on the matrix units, all streams in one launch of
 * conv2d_fwd_im2col_sm90a.cu, whose epilogue serves both.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_im2col_launch.h"

static const char stem[] = "conv2d_fwd_im2col_sm90a";

static const im2col_tile lanes_list[] = {
    {64, "conv2d_fwd_f16_lanes64", "conv2d_fwd_bf16_lanes64"},
    {112, "conv2d_fwd_f16_lanes112", "conv2d_fwd_bf16_lanes112"},
    {144, "conv2d_fwd_f16_lanes144", "conv2d_fwd_bf16_lanes144"},
    {176, "conv2d_fwd_f16_lanes176", "conv2d_fwd_bf16_lanes176"},
    {192, "conv2d_fwd_f16_lanes192", "conv2d_fwd_bf16_lanes192"},
    {208, "conv2d_fwd_f16_lanes208", "conv2d_fwd_bf16_lanes208"},
    {224, "conv2d_fwd_f16_lanes224", "conv2d_fwd_bf16_lanes224"},
    {256, "conv2d_fwd_f16_lanes256", "conv2d_fwd_bf16_lanes256"},
    {0},
};
static const im2col_tiles lanes = {stem, 0, IM2COL_NO_SUMS, lanes_list};

static const im2col_tile pixels_list[] = {
    {32, "conv2d_fwd_f16_pixels32", "conv2d_fwd_bf16_pixels32"},
    {64, "conv2d_fwd_f16_pixels64", "conv2d_fwd_bf16_pixels64"},
    {112, "conv2d_fwd_f16_pixels112", "conv2d_fwd_bf16_pixels112"},
    {144, "conv2d_fwd_f16_pixels144", "conv2d_fwd_bf16_pixels144"},
    {176, "conv2d_fwd_f16_pixels176", "conv2d_fwd_bf16_pixels176"},
    {0},
};
static const im2col_tiles pixels = {stem, 1, IM2COL_NO_SUMS, pixels_list};

IM2COL_FUNCTIONS(lanes)
const kernel_functions conv2d_fwd__cuda_im2col_lanes = IM2COL_KERNEL(lanes);
const kernel_functions conv2d_scale_bias_act__cuda_im2col_lanes = IM2COL_KERNEL(lanes);

IM2COL_FUNCTIONS(pixels)
const kernel_functions conv2d_fwd__cuda_im2col_pixels = IM2COL_KERNEL(pixels);
const kernel_functions conv2d_scale_bias_act__cuda_im2col_pixels = IM2COL_KERNEL(pixels);
