/*
 * The weight and bias gradients of a convolution by oneDNN, in one call for each stream.
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
    onednn_add(call, DNNL_ARG_SRC, CONV2D_X, &s.x);
    onednn_add(call, DNNL_ARG_DIFF_DST, CONV2D_Y, &s.y);
    onednn_add_output(call, DNNL_ARG_DIFF_WEIGHTS, CONV2D_W, &s.w);
    if (p->bias) onednn_add_output(call, DNNL_ARG_DIFF_BIAS, CONV2D_BIAS, &s.bias);
    call->is_backward = 1;
    return onednn()->dilated_convolution_backward_weights_desc_init(
        &call->backward.convolution, dnnl_convolution_direct, &s.x, &s.w_any, &s.bias, &s.y, s.stride, s.dilation,
        s.padding_before, s.padding_after);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return onednn_layer_create(p, describe, ONEDNN_WEIGHTS_PACKED, state, workspace_bytes);
}

#else
#define create NULL
#endif

/* 1 where filters of 1x1 pass over the last columns of an image. */
static int leaves_columns(const braid_problem *p) {
    if (p->filter[0] != 1 || p->filter[1] != 1 || p->stride[1] < 2) return 0;
    return (p->size[1] + 2 * p->padding[1] + p->extra_padding[1] - 1) % p->stride[1] != 0;
}

/* Version 2.6 leaves weights unwritten in bf16: of some groups, and of images narrower than the stride. With AVX2 its
 * sums over few input channels are wrong where columns are left. */
static const char *supports(const braid_problem *p, const device *d) {
    for (int i = 0; i < p->streams && leaves_columns(p); i++) {
        if (p->in_channels[i] < 8) return "no filters of 1x1 that leave columns of few channels";
    }
    if (p->dtype == BRAID_DTYPE_BF16 && p->groups > 1) return "no groups in bf16";
    if (p->dtype == BRAID_DTYPE_BF16 && p->size[1] < p->stride[1]) return "no image narrower than the stride in bf16";
    return onednn_supports(p, d);
}

const kernel_functions conv2d_bwd_weight__cpu_onednn = {.supports = supports,
                                                        .cost = onednn_packed_cost,
                                                        .create = create,
                                                        .launch = onednn_launch,
                                                        .destroy = onednn_destroy};
