/*
 * Shapes of a convolution for oneDNN: dilation counts from 0, padding after the last pixel is a field
 * of its own, and groups are a fifth axis of the weights. Ours lie as K,R,S,C, which are strides.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/vendor/conv2d_onednn.h"

#if BRAID_HAVE_DNNL_H

/* [g][K/g][C/g][R][S], or [K][C][R][S] without groups, over memory [K][R][S][C/g]. */
static dnnl_status_t weights(const braid_problem *p, int i, dnnl_memory_desc_t *out) {
    const int64_t g = p->groups, k = p->out_channels[i] / g, c = p->in_channels[i] / g, r = p->filter[0],
                  s = p->filter[1];
    const dnnl_dims_t dims = {g, k, c, r, s};
    const dnnl_dims_t strides = {k * r * s * c, r * s * c, 1, s * c, c};
    const int skip = g == 1;
    return onednn()->memory_desc_init_by_strides(out, 5 - skip, dims + skip, onednn_dtype(p), strides + skip);
}

dnnl_status_t conv2d_onednn_shape(const braid_problem *p, int i, conv2d_onednn *out) {
    const int64_t out_size[2] = {conv2d_out_size(p, 0), conv2d_out_size(p, 1)};
    *out = (conv2d_onednn){.stride = {p->stride[0], p->stride[1]},
                           .dilation = {p->dilation[0] - 1, p->dilation[1] - 1},
                           .padding_before = {p->padding[0], p->padding[1]},
                           .padding_after = {p->padding[0] + p->extra_padding[0], p->padding[1] + p->extra_padding[1]}};
    dnnl_status_t status = onednn_pixels(&out->x, p, p->size, p->in_channels[i]);
    if (status == dnnl_success) status = onednn_pixels(&out->y, p, out_size, p->out_channels[i]);
    if (status == dnnl_success) status = weights(p, i, &out->w);
    if (status == dnnl_success) status = onednn_any(&out->w_any, &out->w);
    if (status == dnnl_success && p->bias) status = onednn_vector(&out->bias, p, p->out_channels[i]);
    return status;
}

dnnl_status_t conv2d_onednn_forward(const conv2d_onednn *s, dnnl_prop_kind_t kind, onednn_descriptor *out) {
    return onednn()->dilated_convolution_forward_desc_init(&out->convolution, kind, dnnl_convolution_direct, &s->x,
                                                           &s->w_any, &s->bias, &s->y, s->stride, s->dilation,
                                                           s->padding_before, s->padding_after);
}

#endif
