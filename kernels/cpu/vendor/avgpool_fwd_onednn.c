/*
 * avgpool by oneDNN, and what its gradient shares with it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/vendor/avgpool_onednn.h"

const char *avgpool_onednn_supports(const braid_problem *p, const device *d) {
    for (int axis = 0; axis < 2; axis++) {
        if (p->out_size[axis] == 0 || p->size[axis] % p->out_size[axis])
            return "oneDNN has windows of one size only: the output must divide the input";
    }
    return onednn_supports(p, d);
}

#if BRAID_HAVE_DNNL_H

dnnl_status_t avgpool_onednn_forward(const braid_problem *p, int i, dnnl_prop_kind_t kind, onednn_call *call,
                                     dnnl_memory_desc_t *x, dnnl_memory_desc_t *y) {
    const dnnl_dims_t window = {p->size[0] / p->out_size[0], p->size[1] / p->out_size[1]}, none = {0, 0};
    dnnl_status_t status = onednn_pixels(x, p, p->size, p->in_channels[i]);
    if (status == dnnl_success) status = onednn_pixels(y, p, p->out_size, p->in_channels[i]);
    if (status != dnnl_success) return status;
    return onednn()->pooling_v2_forward_desc_init(&call->forward.pooling, kind, dnnl_pooling_avg_exclude_padding, x, y,
                                                  window, window, none, none, none);
}

static dnnl_status_t describe(const braid_problem *p, int i, onednn_call *call) {
    dnnl_memory_desc_t x, y;
    dnnl_status_t status = avgpool_onednn_forward(p, i, dnnl_forward_inference, call, &x, &y);
    onednn_add(call, DNNL_ARG_SRC, AVGPOOL_X, &x);
    onednn_add_output(call, DNNL_ARG_DST, AVGPOOL_Y, &y);
    return status;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return onednn_layer_create(p, describe, ONEDNN_WEIGHTS_PACKED, state, workspace_bytes);
}

#else
#define create NULL
#endif

const kernel_functions avgpool_fwd__cpu_onednn = {.supports = avgpool_onednn_supports,
                                                  .cost = onednn_cost,
                                                  .create = create,
                                                  .launch = onednn_launch,
                                                  .destroy = onednn_destroy};
