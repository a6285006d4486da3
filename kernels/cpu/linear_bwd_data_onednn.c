/*
 * The data gradient of a linear layer by oneDNN.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/linear_onednn.h"

#if BRAID_HAVE_DNNL_H

static dnnl_status_t describe(const braid_problem *p, int i, onednn_call *call) {
    linear_onednn s;
    dnnl_status_t status = linear_onednn_shape(p, i, &s);
    if (status == dnnl_success) status = linear_onednn_forward(&s, dnnl_forward_training, &call->forward);
    if (status != dnnl_success) return status;
    onednn_add(call, DNNL_ARG_DIFF_DST, LINEAR_Y, &s.y);
    onednn_add(call, DNNL_ARG_WEIGHTS, LINEAR_W, &s.w);
    onednn_add_output(call, DNNL_ARG_DIFF_SRC, LINEAR_X, &s.x);
    call->is_backward = 1;
    return onednn()->inner_product_backward_data_desc_init(&call->backward.inner_product, &s.x, &s.w_any, &s.y);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return onednn_layer_create(p, describe, state, workspace_bytes);
}

#else
#define create NULL
#endif

const kernel_functions linear_bwd_data__cpu_onednn = {onednn_supports, onednn_cost, create, onednn_launch, onednn_destroy};
