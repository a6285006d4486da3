/*
 * conv2d forward and conv2d_scale_bias_act on the matrix units of sm_90a, 3x3 at stride 1: the tiles of
 * conv2d_fwd_halo_sm90a.cu, whose epilogue serves both.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_halo_launch.h"

#define STEM "conv2d_fwd_halo_sm90a"

static const halo_kernel of_128x192 = {
    {128, 192, 2}, STEM, {NULL, "conv2d_fwd_halo_128x192_f16", "conv2d_fwd_halo_128x192_bf16"}};

static const char *supports_128x192(const braid_problem *p, const device *d) {
    return conv2d_halo_refuses(p, d, &of_128x192.shape);
}

static double cost_128x192(const braid_problem *p) { return conv2d_halo_cost(p, &of_128x192.shape); }

static braid_status launch_128x192(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)state;
    return conv2d_halo_launch(p, d, &of_128x192, b);
}

const kernel_functions conv2d_fwd__cuda_halo_128x192 = {
    .supports = supports_128x192, .cost = cost_128x192, .launch = launch_128x192};

const kernel_functions conv2d_scale_bias_act__cuda_halo_128x192 = {
    .supports = supports_128x192, .cost = cost_128x192, .launch = launch_128x192};

static const halo_kernel of_128x232 = {
    {128, 232, 2}, STEM, {NULL, "conv2d_fwd_halo_128x232_f16", "conv2d_fwd_halo_128x232_bf16"}};

static const char *supports_128x232(const braid_problem *p, const device *d) {
    return conv2d_halo_refuses(p, d, &of_128x232.shape);
}

static double cost_128x232(const braid_problem *p) { return conv2d_halo_cost(p, &of_128x232.shape); }

static braid_status launch_128x232(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)state;
    return conv2d_halo_launch(p, d, &of_128x232, b);
}

const kernel_functions conv2d_fwd__cuda_halo_128x232 = {
    .supports = supports_128x232, .cost = cost_128x232, .launch = launch_128x232};

const kernel_functions conv2d_scale_bias_act__cuda_halo_128x232 = {
    .supports = supports_128x232, .cost = cost_128x232, .launch = launch_128x232};

static const halo_kernel of_64x240 = {
    {64, 240, 1}, STEM, {NULL, "conv2d_fwd_halo_64x240_f16", "conv2d_fwd_halo_64x240_bf16"}};

static const char *supports_64x240(const braid_problem *p, const device *d) {
    return conv2d_halo_refuses(p, d, &of_64x240.shape);
}

static double cost_64x240(const braid_problem *p) { return conv2d_halo_cost(p, &of_64x240.shape); }

static braid_status launch_64x240(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)state;
    return conv2d_halo_launch(p, d, &of_64x240, b);
}

const kernel_functions conv2d_fwd__cuda_halo_64x240 = {
    .supports = supports_64x240, .cost = cost_64x240, .launch = launch_64x240};

const kernel_functions conv2d_scale_bias_act__cuda_halo_64x240 = {
    .supports = supports_64x240, .cost = cost_64x240, .launch = launch_64x240};

static const halo_kernel of_rows112 = {
    {64, 112, 0}, STEM, {NULL, "conv2d_fwd_halo_rows112_f16", "conv2d_fwd_halo_rows112_bf16"}};

static const char *supports_rows112(const braid_problem *p, const device *d) {
    return conv2d_halo_refuses(p, d, &of_rows112.shape);
}

static double cost_rows112(const braid_problem *p) { return conv2d_halo_cost(p, &of_rows112.shape); }

static braid_status launch_rows112(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)state;
    return conv2d_halo_launch(p, d, &of_rows112, b);
}

const kernel_functions conv2d_fwd__cuda_halo_rows112 = {
    .supports = supports_rows112, .cost = cost_rows112, .launch = launch_rows112};

const kernel_functions conv2d_scale_bias_act__cuda_halo_rows112 = {
    .supports = supports_rows112, .cost = cost_rows112, .launch = launch_rows112};

static const halo_kernel of_rows136 = {
    {64, 136, 0}, STEM, {NULL, "conv2d_fwd_halo_rows136_f16", "conv2d_fwd_halo_rows136_bf16"}};

static const char *supports_rows136(const braid_problem *p, const device *d) {
    return conv2d_halo_refuses(p, d, &of_rows136.shape);
}

static double cost_rows136(const braid_problem *p) { return conv2d_halo_cost(p, &of_rows136.shape); }

static braid_status launch_rows136(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)state;
    return conv2d_halo_launch(p, d, &of_rows136, b);
}

const kernel_functions conv2d_fwd__cuda_halo_rows136 = {
    .supports = supports_rows136, .cost = cost_rows136, .launch = launch_rows136};

const kernel_functions conv2d_scale_bias_act__cuda_halo_rows136 = {
    .supports = supports_rows136, .cost = cost_rows136, .launch = launch_rows136};
