/*
 * A convolution of one stream in oneDNN's words, shared by the three passes. The weights are offered
 * in any layout, so that the primitive may choose its blocked one; the activations are fixed to NHWC.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_VENDOR_CONV2D_ONEDNN_H
#define BRAID_KERNELS_CPU_VENDOR_CONV2D_ONEDNN_H

#include "kernels/cpu/vendor/onednn_layer.h"

#if BRAID_HAVE_DNNL_H

typedef struct conv2d_onednn {
    dnnl_memory_desc_t x, y, w, w_any;
    dnnl_memory_desc_t bias; /* of zero dims where there is none */
    dnnl_dims_t stride, dilation, padding_before, padding_after;
} conv2d_onednn;

/* The shapes of stream i. */
dnnl_status_t conv2d_onednn_shape(const braid_problem *p, int i, conv2d_onednn *out);

/* The forward descriptor: the call of the forward pass and the hint of the others. */
dnnl_status_t conv2d_onednn_forward(const conv2d_onednn *s, dnnl_prop_kind_t kind, onednn_descriptor *out);

#endif
#endif
