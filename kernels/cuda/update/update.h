/*
 * The argument of the optimisers and of clip_norm: flat arrays of all parameters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_UPDATE_UPDATE_H
#define BRAID_KERNELS_CUDA_UPDATE_UPDATE_H

#include <stdint.h>

#define UPDATE_PACKS 4               /* packs of 4 elements that a thread updates, at most */
#define CLIP_NORM_ALONE_THREADS 1024 /* of the only block that adds few elements */

struct update_args {
    float *w;
    const float *g;
    float *m, *v;            /* NULL: the optimiser has none */
    void *half;              /* NULL: there is no copy */
    const int64_t *segments; /* [segment_count][2]: first element, group */
    const float *hyper;      /* [group][3]: learning rate, weight decay, active */
    const int64_t *step;
    const float *scale;
    int64_t count, segment_count;
    double beta_mean, beta_square;
    double log_mean, log_square; /* their logarithms */
    int64_t packs;               /* that a thread updates */
    float momentum, alpha, eps;
    int32_t nesterov, half_dtype, vector; /* vector 1: all addresses allow accesses of 16 bytes */
};

struct clip_norm_args {
    const float *g, *loss;
    const void *h; /* gradients in half precision, cast to y */
    float *y;
    float *loss_scale, *norm, *scale;
    int64_t *scaling, *step;
    double *workspace;  /* [blocks] */
    uint32_t *counters; /* tile/arrive.cuh */
    double limit;
    int64_t count, halves, blocks; /* elements of g and of h */
    int64_t vector;
};

#define UPDATE_ARGS_BYTES 152
#define CLIP_NORM_ARGS_BYTES 128

#ifdef __cplusplus
static_assert(sizeof(struct update_args) == UPDATE_ARGS_BYTES, "kernel and launcher agree on update_args");
static_assert(sizeof(struct clip_norm_args) == CLIP_NORM_ARGS_BYTES, "kernel and launcher agree on clip_norm_args");
#else
_Static_assert(sizeof(struct update_args) == UPDATE_ARGS_BYTES, "kernel and launcher agree on update_args");
_Static_assert(sizeof(struct clip_norm_args) == CLIP_NORM_ARGS_BYTES, "kernel and launcher agree on clip_norm_args");
#endif

#endif
