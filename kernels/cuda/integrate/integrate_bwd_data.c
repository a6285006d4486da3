/*
 * integrate data gradients on CUDA, by the kernel of the 1 x 1 convolution: a launch for all streams, and one for z.
 * Each adds to what its planes get from elsewhere, as that kernel does.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/integrate/integrate_conv2d.h"

static const char *supports(const braid_problem *p, const device *d) {
    braid_problem streams = integrate_streams(p), pathway = integrate_pathway(p);
    const char *reason = conv2d_bwd_data__cuda_direct.supports(&streams, d);
    return reason ? reason : conv2d_bwd_data__cuda_direct.supports(&pathway, d);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_problem streams = integrate_streams(p), pathway = integrate_pathway(p);
    buffers of_streams = integrate_streams_buffers(p, b), of_pathway = integrate_pathway_buffers(b);
    TRY(conv2d_bwd_data__cuda_direct.launch(&streams, d, state, &of_streams));
    return p->integrated_in > 0 ? conv2d_bwd_data__cuda_direct.launch(&pathway, d, state, &of_pathway) : BRAID_OK;
}

const kernel_functions integrate_bwd_data__cuda_direct = {.supports = supports, .cost = launch_cost, .launch = launch};
