/*
 * The argument of integrate forward.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_H
#define BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_H

#include <stdint.h>

#include "braid.h"

/* One stream, or the integrated pathway: x [B][H][W][channels] is read with a stride. */
struct integrate_source {
    const void *x, *weights; /* weights [outputs][channels] */
    const uint32_t *mask;
    int64_t pitch;
    int32_t channels;
    int32_t size[2], stride[2];
};

struct integrate_args {
    struct integrate_source source[BRAID_MAX_PLANES];
    const void *bias; /* NULL: none */
    void *y;          /* [B][P][Q][outputs] */
    int64_t batch;
    int32_t sources, outputs;
    int32_t out_size[2];
};

#define INTEGRATE_ARGS_BYTES 544

#ifdef __cplusplus
static_assert(sizeof(struct integrate_args) == INTEGRATE_ARGS_BYTES, "kernel and launcher agree on integrate_args");
#else
_Static_assert(sizeof(struct integrate_args) == INTEGRATE_ARGS_BYTES, "kernel and launcher agree on integrate_args");
#endif

#endif
