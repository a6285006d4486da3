/*
 * A convolution of one stream in cuDNN's words, shared by its passes and by the fused op.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_CUDNN_H
#define BRAID_KERNELS_CUDA_CONV2D_CUDNN_H

#include "kernels/cuda/cudnn_layer.h"

/* Why cuDNN cannot do a convolution, in words; NULL: it can. */
const char *conv2d_cudnn_supports(const braid_problem *p, const device *d);

/* Predicted seconds, for problems with the fields of conv2d. */
double conv2d_cudnn_cost(const braid_problem *p);

/* Stride, padding, dilation, f32 sums. */
cudnn_descriptor conv2d_cudnn_descriptor(const braid_problem *p, cudnn_call *call);

/* The operands of stream i. y may be CUDNN_VIRTUAL, in f32. */
cudnn_descriptor conv2d_cudnn_x(const braid_problem *p, int i, cudnn_call *call);
cudnn_descriptor conv2d_cudnn_w(const braid_problem *p, int i, cudnn_call *call);
cudnn_descriptor conv2d_cudnn_y(const braid_problem *p, int i, int slot, cudnn_call *call);

/* A value for every output channel, of a dtype of cuDNN. */
cudnn_descriptor conv2d_cudnn_channels(const braid_problem *p, int i, int slot, int dtype, cudnn_call *call);

/* Appends y = conv(x, w). */
void conv2d_cudnn_forward(const braid_problem *p, cudnn_call *call, cudnn_descriptor x, cudnn_descriptor w,
                          cudnn_descriptor y);

/* A kernel is listed twice: in f32 cuDNN works without tensor cores, and is held to the narrower bound. */
#define CONV2D_CUDNN_FUNCTIONS(create_function)                                                  \
    {                                                                                            \
        .supports = conv2d_cudnn_supports, .cost = conv2d_cudnn_cost, .create = create_function, \
        .launch = cudnn_layer_launch, .destroy = cudnn_layer_destroy                             \
    }

#endif
