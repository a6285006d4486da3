/*
 * integrate data gradients on CUDA by the matrix instructions of a warp: one launch for all streams and the integrated
 * pathway.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/integrate_panels_launch.h"

static const integrate_way way = {
    .stem = "integrate_bwd_data_mma",
    .narrow = {NULL, "integrate_bwd_data_mma_f16_64", "integrate_bwd_data_mma_bf16_64"},
    .stages_narrow = 3,
    .wide = {NULL, "integrate_bwd_data_mma_f16_128", "integrate_bwd_data_mma_bf16_128"},
    .stages_wide = 3,
};

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)state;
    return integrate_mma_launch(p, d, b, &way);
}

const kernel_functions integrate_bwd_data__cuda_mma = {
    .supports = integrate_panels_refuses, .cost = integrate_mma_cost, .launch = launch};
