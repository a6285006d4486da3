/*
 * y = x + z by oneDNN.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/vendor/onednn_layer.h"

#if BRAID_HAVE_DNNL_H

static dnnl_status_t describe(const braid_problem *p, int i, onednn_call *call) {
    dnnl_memory_desc_t pixels;
    dnnl_status_t status = onednn_pixels(&pixels, p, p->size, p->in_channels[i]);
    if (status != dnnl_success) return status;
    onednn_add(call, DNNL_ARG_SRC_0, ADD_X, &pixels);
    onednn_add(call, DNNL_ARG_SRC_1, ADD_Z, &pixels);
    onednn_add_output(call, DNNL_ARG_DST, ADD_Y, &pixels);
    return onednn()->binary_desc_init(&call->forward.binary, dnnl_binary_add, &pixels, &pixels, &pixels);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return onednn_layer_create(p, describe, ONEDNN_WEIGHTS_PACKED, state, workspace_bytes);
}

#else
#define create NULL
#endif

const kernel_functions add__cpu_onednn = {.supports = onednn_supports,
                                          .cost = onednn_cost,
                                          .create = create,
                                          .launch = onednn_launch,
                                          .destroy = onednn_destroy};
