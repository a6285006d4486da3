/*
 * conv2d forward and conv2d_scale_bias_act on the matrix units, all streams in one launch of
 * conv2d_fwd_implicit_gemm_sm90a.cu, whose epilogue serves both.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/implicit_gemm/conv2d_implicit_gemm_launch.h"

static const char stem[] = "conv2d_fwd_implicit_gemm_sm90a";

#define TILE(name, columns, split, sums) IMPLICIT_TILE("conv2d_fwd", name, columns, split, sums)
static const implicit_tile lanes_list[] = {IMPLICIT_LANES_TILES(TILE){0}};
static const implicit_tile pixels_list[] = {IMPLICIT_PIXELS_TILES(TILE){0}};
static const implicit_tiles lanes = {stem, lanes_list}, pixels = {stem, pixels_list};

IMPLICIT_FUNCTIONS(lanes)
const kernel_functions conv2d_fwd__cuda_implicit_gemm_lanes = IMPLICIT_KERNEL(lanes);
const kernel_functions conv2d_scale_bias_act__cuda_implicit_gemm_lanes = IMPLICIT_KERNEL(lanes);

IMPLICIT_FUNCTIONS(pixels)
const kernel_functions conv2d_fwd__cuda_implicit_gemm_pixels = IMPLICIT_KERNEL(pixels);
const kernel_functions conv2d_scale_bias_act__cuda_implicit_gemm_pixels = IMPLICIT_KERNEL(pixels);
