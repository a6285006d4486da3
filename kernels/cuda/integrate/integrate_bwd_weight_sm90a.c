/*
 * integrate weight gradients on CUDA by the matrix units of sm_90, for all streams and the integrated pathway: one
 * launch, and where there are many parts weight_sum.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/integrate/integrate_panels_launch.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    *state = NULL;
    return integrate_tma_workspace(p, workspace_bytes);
}

static braid_status parts(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)state;
    return integrate_tma_launch_weights(p, d, b);
}

const kernel_functions integrate_bwd_weight__cuda_wgmma = {.supports = integrate_tma_refuses,
                                                           .cost = integrate_tma_cost,
                                                           .create = create,
                                                           .destroy = launch_destroy,
                                                           .parts = parts,
                                                           .adder = &weight_sum_adder,
                                                           .sums = integrate_tma_sums};
