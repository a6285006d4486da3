/*
 * The linear layer by oneDNN's inner product. Packing the weights pays for large batches only, so
 * that the product of the weights as they lie is a second candidate.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/vendor/linear_onednn.h"

#if BRAID_HAVE_DNNL_H

static dnnl_status_t describe(const braid_problem *p, int i, onednn_call *call) {
    linear_onednn s;
    dnnl_status_t status = linear_onednn_shape(p, i, call->weights, &s);
    if (status != dnnl_success) return status;
    onednn_add(call, DNNL_ARG_SRC, LINEAR_X, &s.x);
    onednn_add(call, DNNL_ARG_WEIGHTS, LINEAR_W, &s.w);
    if (p->bias) onednn_add(call, DNNL_ARG_BIAS, LINEAR_BIAS, &s.bias);
    onednn_add_output(call, DNNL_ARG_DST, LINEAR_Y, &s.y);
    return linear_onednn_forward(&s, dnnl_forward_inference, &call->forward);
}

static braid_status create_packed(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return onednn_layer_create(p, describe, ONEDNN_WEIGHTS_PACKED, state, workspace_bytes);
}

static braid_status create_plain(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return onednn_layer_create(p, describe, ONEDNN_WEIGHTS_PLAIN, state, workspace_bytes);
}

#else
#define create_packed NULL
#define create_plain NULL
#endif

const kernel_functions linear_fwd__cpu_onednn_packed = {.supports = onednn_supports,
                                                        .cost = onednn_packed_cost,
                                                        .create = create_packed,
                                                        .launch = onednn_launch,
                                                        .destroy = onednn_destroy};
const kernel_functions linear_fwd__cpu_onednn_plain = {.supports = onednn_supports,
                                                       .cost = onednn_cost,
                                                       .create = create_plain,
                                                       .launch = onednn_launch,
                                                       .destroy = onednn_destroy};
