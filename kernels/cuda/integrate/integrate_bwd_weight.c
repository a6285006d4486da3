/*
 * integrate weight gradients on CUDA, by the kernels of the 1 x 1 convolution: for all streams, and then, in the same
 * workspace, for the integrated pathway and the bias.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/integrate/integrate_conv2d.h"

static int has_pathway(const braid_problem *p) { return p->integrated_in > 0 || p->bias; }

static const char *supports(const braid_problem *p, const device *d) {
    braid_problem streams = integrate_streams(p), pathway = integrate_pathway(p);
    const char *reason = conv2d_bwd_weight__cuda_direct.supports(&streams, d);
    return reason ? reason : conv2d_bwd_weight__cuda_direct.supports(&pathway, d);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    braid_problem streams = integrate_streams(p), pathway = integrate_pathway(p);
    size_t second = 0;
    TRY(conv2d_bwd_weight__cuda_direct.create(&streams, d, state, workspace_bytes));
    if (has_pathway(p)) TRY(conv2d_bwd_weight__cuda_direct.create(&pathway, d, state, &second));
    if (second > *workspace_bytes) *workspace_bytes = second;
    return BRAID_OK;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_problem streams = integrate_streams(p), pathway = integrate_pathway(p);
    buffers of_streams = integrate_streams_buffers(p, b), of_pathway = integrate_pathway_buffers(b);
    TRY(conv2d_bwd_weight__cuda_direct.launch(&streams, d, state, &of_streams));
    return has_pathway(p) ? conv2d_bwd_weight__cuda_direct.launch(&pathway, d, state, &of_pathway) : BRAID_OK;
}

const kernel_functions integrate_bwd_weight__cuda_direct = {
    .supports = supports, .cost = launch_cost, .create = create, .launch = launch, .destroy = launch_destroy};
