/*
 * conv2d forward and conv2d_scale_bias_act on the matrix units of sm_90a, 3x3 at stride 1: the tiles of
 * conv2d_fwd_halo_sm90a.cu, whose epilogue serves both.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_halo_launch.h"

#define STEM "conv2d_fwd_halo_sm90a"

static const halo_kernel of_128x192 = {
    {128, 192, 2, 0}, STEM, {NULL, "conv2d_fwd_halo_128x192_f16", "conv2d_fwd_halo_128x192_bf16"}};
HALO_FUNCTIONS(of_128x192)
const kernel_functions conv2d_fwd__cuda_halo_128x192 = HALO_KERNEL(of_128x192);
const kernel_functions conv2d_scale_bias_act__cuda_halo_128x192 = HALO_KERNEL(of_128x192);

static const halo_kernel of_128x232 = {
    {128, 232, 2, 0}, STEM, {NULL, "conv2d_fwd_halo_128x232_f16", "conv2d_fwd_halo_128x232_bf16"}};
HALO_FUNCTIONS(of_128x232)
const kernel_functions conv2d_fwd__cuda_halo_128x232 = HALO_KERNEL(of_128x232);
const kernel_functions conv2d_scale_bias_act__cuda_halo_128x232 = HALO_KERNEL(of_128x232);

static const halo_kernel of_64x240 = {
    {64, 240, 1, 0}, STEM, {NULL, "conv2d_fwd_halo_64x240_f16", "conv2d_fwd_halo_64x240_bf16"}};
HALO_FUNCTIONS(of_64x240)
const kernel_functions conv2d_fwd__cuda_halo_64x240 = HALO_KERNEL(of_64x240);
const kernel_functions conv2d_scale_bias_act__cuda_halo_64x240 = HALO_KERNEL(of_64x240);

static const halo_kernel of_rows112 = {
    {64, 112, 0, 0}, STEM, {NULL, "conv2d_fwd_halo_rows112_f16", "conv2d_fwd_halo_rows112_bf16"}};
HALO_FUNCTIONS(of_rows112)
const kernel_functions conv2d_fwd__cuda_halo_rows112 = HALO_KERNEL(of_rows112);
const kernel_functions conv2d_scale_bias_act__cuda_halo_rows112 = HALO_KERNEL(of_rows112);

static const halo_kernel of_rows136 = {
    {64, 136, 0, 0}, STEM, {NULL, "conv2d_fwd_halo_rows136_f16", "conv2d_fwd_halo_rows136_bf16"}};
HALO_FUNCTIONS(of_rows136)
const kernel_functions conv2d_fwd__cuda_halo_rows136 = HALO_KERNEL(of_rows136);
const kernel_functions conv2d_scale_bias_act__cuda_halo_rows136 = HALO_KERNEL(of_rows136);
