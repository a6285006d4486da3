/*
 * A convolution of one stream in cuDNN's words, shared by its passes and by the fused op.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_VENDOR_CONV2D_CUDNN_H
#define BRAID_KERNELS_CUDA_VENDOR_CONV2D_CUDNN_H

#include "kernels/cuda/vendor/cudnn_layer.h"

/* Why cuDNN cannot do a convolution. */
refusal conv2d_cudnn_refuses(const braid_problem *p, const device *d, const cudnn_way *way);

/* Predicted seconds: as vendor_cost says, but slower where a stream has few channels, or few on both sides. */
double conv2d_cudnn_cost(const braid_problem *p, const machine *on);

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

/* `const kernel_functions name`: what `describe` says, by the engine of a rank that counts from 0. In f32 cuDNN works
 * without tensor cores, and its kernels are others in the list, held to the narrower bound; those of TF32 are again
 * others. */
#define CONV2D_CUDNN_KERNEL(name, describe, rank, tf32)                                                 \
    static const cudnn_way name##_way = {describe, rank, tf32};                                         \
    static refusal name##_refuses(const braid_problem *p, const device *d) {                            \
        return conv2d_cudnn_refuses(p, d, &name##_way);                                                 \
    }                                                                                                   \
    static braid_status name##_create(const braid_problem *p, device *d, void **state, size_t *bytes) { \
        return cudnn_layer_create(p, d, &name##_way, state, bytes);                                     \
    }                                                                                                   \
    const kernel_functions name = {.refuses = name##_refuses,                                           \
                                   .cost = conv2d_cudnn_cost,                                           \
                                   .create = name##_create,                                             \
                                   .launch = cudnn_layer_launch,                                        \
                                   .destroy = cudnn_layer_destroy};

/* The four best engines in halves, the two best in f32 and in TF32. */
#define CONV2D_CUDNN_KERNELS(op, describe)                       \
    CONV2D_CUDNN_KERNEL(op##__cuda_cudnn_1, describe, 0, 0)      \
    CONV2D_CUDNN_KERNEL(op##__cuda_cudnn_2, describe, 1, 0)      \
    CONV2D_CUDNN_KERNEL(op##__cuda_cudnn_3, describe, 2, 0)      \
    CONV2D_CUDNN_KERNEL(op##__cuda_cudnn_4, describe, 3, 0)      \
    CONV2D_CUDNN_KERNEL(op##_f32__cuda_cudnn_1, describe, 0, 0)  \
    CONV2D_CUDNN_KERNEL(op##_f32__cuda_cudnn_2, describe, 1, 0)  \
    CONV2D_CUDNN_KERNEL(op##_tf32__cuda_cudnn_1, describe, 0, 1) \
    CONV2D_CUDNN_KERNEL(op##_tf32__cuda_cudnn_2, describe, 1, 1)

#endif
