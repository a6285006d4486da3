/*
 * integrate weight gradients on CUDA by the matrix instructions of a warp: a launch that makes the sums of parts of the
 * pixels, for all streams and the integrated pathway, and weight_sum, which adds them in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/integrate_panels_launch.h"

static const integrate_way way = {
    .stem = "integrate_bwd_weight_mma",
    .narrow = {NULL, "integrate_bwd_weight_mma_f16_64", "integrate_bwd_weight_mma_bf16_64"},
    .stages_narrow = 2,
    .wide = {NULL, "integrate_bwd_weight_mma_f16_128", "integrate_bwd_weight_mma_bf16_128"},
    .stages_wide = 3,
};

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    *state = NULL;
    return integrate_mma_workspace(p, workspace_bytes);
}

static braid_status parts(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)state;
    return integrate_mma_launch_weights(p, d, b, &way);
}

const kernel_functions integrate_bwd_weight__cuda_mma = {.supports = integrate_panels_refuses,
                                                         .cost = integrate_mma_cost,
                                                         .create = create,
                                                         .destroy = launch_destroy,
                                                         .parts = parts,
                                                         .adder = &weight_sum_adder,
                                                         .sums = integrate_mma_sums};
