/*
 * y = x * scale + shift by oneDNN: batch normalization with given statistics, mean 0 and variance 1.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/vendor/onednn_layer.h"

#if BRAID_HAVE_DNNL_H

static dnnl_status_t describe(const braid_problem *p, int i, onednn_call *call) {
    const unsigned flags = dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift;
    dnnl_memory_desc_t pixels, channels;
    dnnl_status_t status = onednn_pixels(&pixels, p, p->size, p->in_channels[i]);
    if (status == dnnl_success) status = onednn_vector(&channels, p, p->in_channels[i]);
    if (status != dnnl_success) return status;
    onednn_add(call, DNNL_ARG_SRC, BN_APPLY_X, &pixels);
    onednn_add_fill(call, DNNL_ARG_MEAN, 0.0f, &channels);
    onednn_add_fill(call, DNNL_ARG_VARIANCE, 1.0f, &channels);
    onednn_add(call, DNNL_ARG_SCALE, BN_APPLY_SCALE, &channels);
    onednn_add(call, DNNL_ARG_SHIFT, BN_APPLY_SHIFT, &channels);
    onednn_add_output(call, DNNL_ARG_DST, BN_APPLY_Y, &pixels);
    return onednn()->batch_normalization_forward_desc_init(&call->forward.batch_normalization, dnnl_forward_inference,
                                                           &pixels, 0.0f, flags);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return onednn_layer_create(p, describe, ONEDNN_WEIGHTS_PACKED, state, workspace_bytes);
}

#else
#define create NULL
#endif

const kernel_functions bn_apply__cpu_onednn = {.supports = onednn_supports,
                                               .cost = onednn_cost,
                                               .create = create,
                                               .launch = onednn_launch,
                                               .destroy = onednn_destroy};
