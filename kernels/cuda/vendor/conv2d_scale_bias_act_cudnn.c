/*
 * conv2d_scale_bias_act by cuDNN: convolution, scale, shift, residual and activation as one graph, with
 * everything between in f32.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/vendor/conv2d_cudnn.h"

_Static_assert((int)CONV2D_SCALE_BIAS_ACT_X == (int)CONV2D_X && (int)CONV2D_SCALE_BIAS_ACT_W == (int)CONV2D_W,
               "x and w are found in the slots of conv2d");

/* No default: the compiler names a new activation that has no mode here. */
static int activation_mode(braid_activation activation) {
    switch (activation) {
        case BRAID_ACTIVATION_RELU: return CUDNN_POINTWISE_RELU;
        case BRAID_ACTIVATION_GELU: return CUDNN_POINTWISE_GELU;
        case BRAID_ACTIVATION_GELU_TANH: return CUDNN_POINTWISE_GELU_TANH;
        case BRAID_ACTIVATION_NONE: /* it has no pointwise operation at all */
        case BRAID_ACTIVATION_COUNT: break;
    }
    return CUDNN_POINTWISE_RELU;
}

static void describe(const braid_problem *p, int i, cudnn_call *call) {
    const int acts = p->activation != BRAID_ACTIVATION_NONE;
    cudnn_descriptor x = conv2d_cudnn_x(p, i, call), w = conv2d_cudnn_w(p, i, call);
    cudnn_descriptor scale = conv2d_cudnn_channels(p, i, CONV2D_SCALE_BIAS_ACT_SCALE, CUDNN_FLOAT, call);
    cudnn_descriptor shift = conv2d_cudnn_channels(p, i, CONV2D_SCALE_BIAS_ACT_SHIFT, CUDNN_FLOAT, call);
    cudnn_descriptor z = p->add ? conv2d_cudnn_y(p, i, CONV2D_SCALE_BIAS_ACT_Z, call) : NULL;
    cudnn_descriptor y = conv2d_cudnn_y(p, i, CONV2D_SCALE_BIAS_ACT_Y, call);
    cudnn_descriptor sum = conv2d_cudnn_y(p, i, CUDNN_VIRTUAL, call),
                     scaled = conv2d_cudnn_y(p, i, CUDNN_VIRTUAL, call);
    cudnn_descriptor shifted = p->add || acts ? conv2d_cudnn_y(p, i, CUDNN_VIRTUAL, call) : y;
    cudnn_descriptor added = p->add && acts ? conv2d_cudnn_y(p, i, CUDNN_VIRTUAL, call) : p->add ? y : shifted;
    conv2d_cudnn_forward(p, call, x, w, sum);
    cudnn_pointwise(call, CUDNN_POINTWISE_MUL, sum, scale, scaled);
    cudnn_pointwise(call, CUDNN_POINTWISE_ADD, scaled, shift, shifted);
    if (p->add) cudnn_pointwise(call, CUDNN_POINTWISE_ADD, shifted, z, added);
    if (acts) cudnn_pointwise(call, activation_mode(p->activation), added, NULL, y);
}

CONV2D_CUDNN_KERNEL(conv2d_scale_bias_act__cuda_cudnn_1, describe, 0, 0)
CONV2D_CUDNN_KERNEL(conv2d_scale_bias_act__cuda_cudnn_2, describe, 1, 0)
