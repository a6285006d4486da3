/*
 * conv2d data gradient by cuDNN.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/vendor/conv2d_cudnn.h"

static void describe(const braid_problem *p, int i, cudnn_call *call) {
    const float one = 1, zero = 0;
    cudnn_descriptor x = conv2d_cudnn_x(p, i, call), w = conv2d_cudnn_w(p, i, call);
    cudnn_descriptor dy = conv2d_cudnn_y(p, i, CONV2D_Y, call);
    cudnn_descriptor convolution = conv2d_cudnn_descriptor(p, call);
    cudnn_descriptor operation = cudnn_make(call, CUDNN_CONVOLUTION_BWD_DATA);
    cudnn_set(call, operation, CUDNN_BWD_DATA_CONVOLUTION, CUDNN_TYPE_DESCRIPTOR, 1, &convolution);
    cudnn_set(call, operation, CUDNN_BWD_DATA_DX, CUDNN_TYPE_DESCRIPTOR, 1, &x);
    cudnn_set(call, operation, CUDNN_BWD_DATA_W, CUDNN_TYPE_DESCRIPTOR, 1, &w);
    cudnn_set(call, operation, CUDNN_BWD_DATA_DY, CUDNN_TYPE_DESCRIPTOR, 1, &dy);
    cudnn_set(call, operation, CUDNN_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
    cudnn_set(call, operation, CUDNN_BWD_DATA_BETA, CUDNN_TYPE_FLOAT, 1, &zero);
    cudnn_operate(call, operation);
}

CONV2D_CUDNN_KERNELS(conv2d_bwd_data, describe)
