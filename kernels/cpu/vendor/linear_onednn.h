/*
 * A linear layer of one stream in oneDNN's words (an inner product), shared by the three passes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_VENDOR_LINEAR_ONEDNN_H
#define BRAID_KERNELS_CPU_VENDOR_LINEAR_ONEDNN_H

#include "kernels/cpu/vendor/onednn_layer.h"

#if BRAID_HAVE_DNNL_H

typedef struct linear_onednn {
    dnnl_memory_desc_t x, y, w;
    dnnl_memory_desc_t w_call; /* as the primitive sees them: w, or any layout */
    dnnl_memory_desc_t bias;   /* of zero dims where there is none */
} linear_onednn;

/* The shapes of stream i. */
static inline dnnl_status_t linear_onednn_shape(const braid_problem *p, int i, onednn_weights weights,
                                                linear_onednn *out) {
    *out = (linear_onednn){.x = {0}};
    dnnl_status_t status = onednn_matrix(&out->x, p, p->batch, p->in_channels[i]);
    if (status == dnnl_success) status = onednn_matrix(&out->y, p, p->batch, p->out_channels[i]);
    if (status == dnnl_success) status = onednn_matrix(&out->w, p, p->out_channels[i], p->in_channels[i]);
    out->w_call = out->w;
    if (status == dnnl_success && weights == ONEDNN_WEIGHTS_PACKED) status = onednn_any(&out->w_call, &out->w);
    if (status == dnnl_success && p->bias) status = onednn_vector(&out->bias, p, p->out_channels[i]);
    return status;
}

/* The forward descriptor: the call of the forward pass and the hint of the others. */
static inline dnnl_status_t linear_onednn_forward(const linear_onednn *s, dnnl_prop_kind_t kind,
                                                  onednn_descriptor *out) {
    return onednn()->inner_product_forward_desc_init(&out->inner_product, kind, &s->x, &s->w_call, &s->bias, &s->y);
}

#endif
#endif
