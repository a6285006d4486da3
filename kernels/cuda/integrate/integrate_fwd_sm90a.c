/*
 * integrate forward on CUDA by the matrix units of sm_90: one launch for all streams and the integrated pathway.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/integrate/integrate_panels_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)state;
    return integrate_tma_launch_forward(p, d, b);
}

const kernel_functions integrate_fwd__cuda_wgmma = {
    .supports = integrate_tma_refuses, .cost = integrate_tma_cost, .launch = launch};
