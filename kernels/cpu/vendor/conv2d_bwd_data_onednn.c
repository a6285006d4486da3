/*
 * The data gradient of a convolution by oneDNN.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/vendor/conv2d_onednn.h"

#if BRAID_HAVE_DNNL_H

static dnnl_status_t describe(const braid_problem *p, int i, onednn_call *call) {
    conv2d_onednn s;
    dnnl_status_t status = conv2d_onednn_shape(p, i, &s);
    if (status == dnnl_success) status = conv2d_onednn_forward(&s, dnnl_forward_training, &call->forward);
    if (status != dnnl_success) return status;
    onednn_add(call, DNNL_ARG_DIFF_DST, CONV2D_Y, &s.y);
    onednn_add(call, DNNL_ARG_WEIGHTS, CONV2D_W, &s.w);
    onednn_add_output(call, DNNL_ARG_DIFF_SRC, CONV2D_X, &s.x);
    call->is_backward = 1;
    return onednn()->dilated_convolution_backward_data_desc_init(&call->backward.convolution, dnnl_convolution_direct,
                                                                 &s.x, &s.w_any, &s.y, s.stride, s.dilation,
                                                                 s.padding_before, s.padding_after);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return onednn_layer_create(p, describe, ONEDNN_WEIGHTS_PACKED, state, workspace_bytes);
}

#else
#define create NULL
#endif

const kernel_functions conv2d_bwd_data__cpu_onednn = {.supports = onednn_supports,
                                                      .cost = onednn_packed_cost,
                                                      .create = create,
                                                      .launch = onednn_launch,
                                                      .destroy = onednn_destroy};
