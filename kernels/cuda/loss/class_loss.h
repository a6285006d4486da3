/*
 * The argument of the losses over classes, softmax_xent and focal.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LOSS_CLASS_LOSS_H
#define BRAID_KERNELS_CUDA_LOSS_CLASS_LOSS_H

#include <stdint.h>

/* What one sample adds to the batch. */
struct class_share {
    double loss, weight, right;
};

struct class_loss_args {
    const void *x;
    const int32_t *labels;
    const float *weights; /* NULL: all are 1 */
    float *loss;          /* dloss in the gradient */
    int64_t *correct;
    void *dx;
    struct class_share *workspace; /* [batch] */
    int64_t batch, classes, pitch;
    double smoothing, alpha, gamma;
    int32_t lanes, focal;
    int64_t alone; /* 1: one block makes the mean of all rows */
};

#define CLASS_LOSS_ARGS_BYTES 120

#ifdef __cplusplus
static_assert(sizeof(struct class_loss_args) == CLASS_LOSS_ARGS_BYTES, "kernel and launcher agree on class_loss_args");
#else
_Static_assert(sizeof(struct class_loss_args) == CLASS_LOSS_ARGS_BYTES, "kernel and launcher agree on class_loss_args");
#endif

#endif
