/*
 * conv2d forward by cuDNN: a convolution, and an addition of the bias in the same graph.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/vendor/conv2d_cudnn.h"

static void describe(const braid_problem *p, int i, cudnn_call *call) {
    cudnn_descriptor x = conv2d_cudnn_x(p, i, call), w = conv2d_cudnn_w(p, i, call);
    cudnn_descriptor y = conv2d_cudnn_y(p, i, CONV2D_Y, call);
    if (!p->bias) {
        conv2d_cudnn_forward(p, call, x, w, y);
        return;
    }
    cudnn_descriptor bias = conv2d_cudnn_channels(p, i, CONV2D_BIAS, cudnn_dtype(p->dtype), call);
    cudnn_descriptor sum = conv2d_cudnn_y(p, i, CUDNN_VIRTUAL, call);
    conv2d_cudnn_forward(p, call, x, w, sum);
    cudnn_pointwise(call, CUDNN_POINTWISE_ADD, sum, bias, y);
}

CONV2D_CUDNN_KERNELS(conv2d_fwd, describe)
