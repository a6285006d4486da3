/*
 * Shapes of a convolution for cuDNN. Groups follow from the channels of x and w. Lanes between the channels and the
 * pitch can be skipped in an input, but nobody would write them in an output. More padding behind than before can be
 * said, but some engines of 9.14 compute something else then.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/vendor/conv2d_cudnn.h"

#define MAX_SIZE ((int64_t)INT32_MAX) /* elements of a plane: many engines count in 32 bits */
#define FEW_CHANNELS 8                /* fewer than this are padded, or none of its faster engines takes them */

static const char *refuses_sizes(const braid_problem *p) {
    const double in_pixels = (double)p->batch * (double)p->size[0] * (double)p->size[1],
                 out_pixels = (double)p->batch * (double)conv2d_out_size(p, 0) * (double)conv2d_out_size(p, 1);
    if (p->batch == 0) return "cuDNN is not called for a batch without samples";
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] == 0 || p->out_channels[i] == 0)
            return "cuDNN is not called for a stream without channels";
        if (in_pixels * (double)p->in_pitch[i] > (double)MAX_SIZE ||
            out_pixels * (double)p->out_pitch[i] > (double)MAX_SIZE)
            return "cuDNN is not called for planes of 2^31 elements or more";
    }
    return NULL;
}

static const char *refuses_problem(const braid_problem *p, const cudnn_way *way) {
    const char *reason = p->tf32 != way->tf32 ? vendor_other_products : conv2d_refuses_add(p);
    if (!reason && p->mask) reason = "cuDNN has no masks";
    if (!reason && p->padding_mode != BRAID_PADDING_ZEROS) reason = "cuDNN pads with zeros only";
    if (!reason && (p->extra_padding[0] || p->extra_padding[1]))
        reason = "cuDNN's engines want equal padding on both sides";
    if (!reason && p->bias && p->pass == BRAID_PASS_BWD_WEIGHT) reason = "cuDNN's call has no gradient of the bias";
    if (!reason && p->pass == BRAID_PASS_FWD && !vendor_is_dense(p->out_channels, p->out_pitch, p->streams))
        reason = "cuDNN does not write the lanes between channels and pitch of y";
    if (!reason && p->pass == BRAID_PASS_BWD_DATA && !vendor_is_dense(p->in_channels, p->in_pitch, p->streams))
        reason = "cuDNN does not write the lanes between channels and pitch of dx";
    return reason ? reason : refuses_sizes(p);
}

refusal conv2d_cudnn_refuses(const braid_problem *p, const device *d, const cudnn_way *way) {
    refusal refused = cuda_vendor_refuses(d, CUDA_CUDNN);
    if (!refused.kind) refused = refusal_unable(refuses_problem(p, way));
    return refused.kind ? refused : cudnn_layer_refuses(p, d, way);
}

/* By bench/results/h200/2026-11-16_tf32_f32.txt: in f32 it has something faster for gradients of weights alone. */
static double usual_cost(const braid_problem *p) {
    if (p->dtype != BRAID_DTYPE_F32 || p->tf32) return vendor_cost(p);
    return vendor_cost_at(p, p->pass == BRAID_PASS_BWD_WEIGHT ? 6e13 : 2e13);
}

double conv2d_cudnn_cost(const braid_problem *p, const machine *on) {
    (void)on;
    double flops_per_s = p->dtype == BRAID_DTYPE_F32 ? 1e13 : 3e13;
    int few = 0;
    for (int i = 0; i < p->streams; i++) {
        int sides = (p->in_channels[i] < FEW_CHANNELS) + (p->out_channels[i] < FEW_CHANNELS);
        if (sides > few) few = sides;
    }
    if (few == 2) flops_per_s /= 10;
    double arithmetic = op_of(p)->flops(p) / flops_per_s, usual = usual_cost(p);
    return few && arithmetic > usual ? arithmetic : usual;
}

cudnn_descriptor conv2d_cudnn_descriptor(const braid_problem *p, cudnn_call *call) {
    const int compute = CUDNN_FLOAT, mode = CUDNN_CROSS_CORRELATION;
    const int64_t axes = 2, after[2] = {p->padding[0] + p->extra_padding[0], p->padding[1] + p->extra_padding[1]};
    cudnn_descriptor d = cudnn_make(call, CUDNN_CONVOLUTION);
    cudnn_set(call, d, CUDNN_CONVOLUTION_COMPUTE, CUDNN_TYPE_DTYPE, 1, &compute);
    cudnn_set(call, d, CUDNN_CONVOLUTION_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    cudnn_set(call, d, CUDNN_CONVOLUTION_AXES, CUDNN_TYPE_INT64, 1, &axes);
    cudnn_set(call, d, CUDNN_CONVOLUTION_STRIDE, CUDNN_TYPE_INT64, 2, p->stride);
    cudnn_set(call, d, CUDNN_CONVOLUTION_DILATION, CUDNN_TYPE_INT64, 2, p->dilation);
    cudnn_set(call, d, CUDNN_CONVOLUTION_PADDING_BEFORE, CUDNN_TYPE_INT64, 2, p->padding);
    cudnn_set(call, d, CUDNN_CONVOLUTION_PADDING_AFTER, CUDNN_TYPE_INT64, 2, after);
    cudnn_finish(call, d);
    return d;
}

cudnn_descriptor conv2d_cudnn_x(const braid_problem *p, int i, cudnn_call *call) {
    const int64_t h = p->size[0], w = p->size[1], pitch = p->in_pitch[i];
    const int64_t dims[4] = {p->batch, p->in_channels[i], h, w}, strides[4] = {h * w * pitch, 1, w * pitch, pitch};
    return cudnn_tensor(call, CONV2D_X, cudnn_dtype(p->dtype), dims, strides);
}

cudnn_descriptor conv2d_cudnn_w(const braid_problem *p, int i, cudnn_call *call) {
    const int64_t c = p->in_channels[i] / p->groups, r = p->filter[0], s = p->filter[1];
    const int64_t dims[4] = {p->out_channels[i], c, r, s}, strides[4] = {r * s * c, 1, s * c, c};
    return cudnn_tensor(call, CONV2D_W, cudnn_dtype(p->dtype), dims, strides);
}

cudnn_descriptor conv2d_cudnn_y(const braid_problem *p, int i, int slot, cudnn_call *call) {
    const int64_t h = conv2d_out_size(p, 0), w = conv2d_out_size(p, 1), pitch = p->out_pitch[i];
    const int64_t dims[4] = {p->batch, p->out_channels[i], h, w}, strides[4] = {h * w * pitch, 1, w * pitch, pitch};
    return cudnn_tensor(call, slot, slot == CUDNN_VIRTUAL ? CUDNN_FLOAT : cudnn_dtype(p->dtype), dims, strides);
}

cudnn_descriptor conv2d_cudnn_channels(const braid_problem *p, int i, int slot, int dtype, cudnn_call *call) {
    const int64_t k = p->out_channels[i];
    const int64_t dims[4] = {1, k, 1, 1}, strides[4] = {k, 1, k, k};
    return cudnn_tensor(call, slot, dtype, dims, strides);
}

void conv2d_cudnn_forward(const braid_problem *p, cudnn_call *call, cudnn_descriptor x, cudnn_descriptor w,
                          cudnn_descriptor y) {
    const float one = 1, zero = 0;
    cudnn_descriptor convolution = conv2d_cudnn_descriptor(p, call);
    cudnn_descriptor operation = cudnn_make(call, CUDNN_CONVOLUTION_FWD);
    cudnn_set(call, operation, CUDNN_FWD_CONVOLUTION, CUDNN_TYPE_DESCRIPTOR, 1, &convolution);
    cudnn_set(call, operation, CUDNN_FWD_X, CUDNN_TYPE_DESCRIPTOR, 1, &x);
    cudnn_set(call, operation, CUDNN_FWD_W, CUDNN_TYPE_DESCRIPTOR, 1, &w);
    cudnn_set(call, operation, CUDNN_FWD_Y, CUDNN_TYPE_DESCRIPTOR, 1, &y);
    cudnn_set(call, operation, CUDNN_FWD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
    cudnn_set(call, operation, CUDNN_FWD_BETA, CUDNN_TYPE_FLOAT, 1, &zero);
    cudnn_operate(call, operation);
}
