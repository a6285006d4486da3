/*
 * integrate forward on CUDA by the matrix units of sm_90: one launch for all streams and the integrated pathway.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/integrate_panels_launch.h"

static const integrate_function staying = {
    {NULL, "integrate_fwd_wgmma_f16_128_staying", "integrate_fwd_wgmma_bf16_128_staying"}, 5};

static const integrate_way way = {
    .stem = "integrate_fwd_sm90a",
    .narrow = {{NULL, "integrate_fwd_wgmma_f16_64", "integrate_fwd_wgmma_bf16_64"}, 4},
    .wide = {{NULL, "integrate_fwd_wgmma_f16_128", "integrate_fwd_wgmma_bf16_128"}, 3},
    .if_staying = &staying,
    .shared_bytes = 229376,
    .flops = 4.5e14,
    .bytes_per_s = 3.3e12,
};

static double cost(const braid_problem *p) { return integrate_panels_cost(p, &way); }

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)state;
    return integrate_panels_launch(p, d, b, &way);
}

const kernel_functions integrate_fwd__cuda_wgmma = {
    .supports = integrate_panels_refuses, .cost = cost, .launch = launch};
