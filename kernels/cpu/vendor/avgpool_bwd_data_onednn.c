/*
 * The gradient of avgpool by oneDNN.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/vendor/avgpool_onednn.h"

#if BRAID_HAVE_DNNL_H

static dnnl_status_t describe(const braid_problem *p, int i, onednn_call *call) {
    const dnnl_dims_t window = {p->size[0] / p->out_size[0], p->size[1] / p->out_size[1]}, none = {0, 0};
    dnnl_memory_desc_t x, y;
    dnnl_status_t status = avgpool_onednn_forward(p, i, dnnl_forward_training, call, &x, &y);
    if (status != dnnl_success) return status;
    onednn_add(call, DNNL_ARG_DIFF_DST, AVGPOOL_Y, &y);
    onednn_add_output(call, DNNL_ARG_DIFF_SRC, AVGPOOL_X, &x);
    call->is_backward = 1;
    return onednn()->pooling_v2_backward_desc_init(&call->backward.pooling, dnnl_pooling_avg_exclude_padding, &x, &y,
                                                   window, window, none, none, none);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return onednn_layer_create(p, describe, ONEDNN_WEIGHTS_PACKED, state, workspace_bytes);
}

#else
#define create NULL
#endif

const kernel_functions avgpool_bwd_data__cpu_onednn = {.supports = avgpool_onednn_supports,
                                                       .cost = onednn_cost,
                                                       .create = create,
                                                       .launch = onednn_launch,
                                                       .destroy = onednn_destroy};
