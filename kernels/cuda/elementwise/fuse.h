/*
 * The argument of fuse, of all its passes. y and dy have the columns of all streams side by side.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_ELEMENTWISE_FUSE_H
#define BRAID_KERNELS_CUDA_ELEMENTWISE_FUSE_H

#include "kernels/cuda/tile/pixels.h"

struct fuse_args {
    struct {
        const void *x;
        void *dx;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    void *y;
    const void *dy;
    const float *logits; /* [streams], or [batch][streams] where gated */
    float *dlogits;
    double *products;                 /* [batch][streams]: the workspace of the weight gradient */
    int64_t width;                    /* columns of all streams together, ... */
    int64_t column[BRAID_MAX_PLANES]; /* ... and the first of each */
    int32_t fusion;
};
PIXEL_ARGS_BYTES(fuse_args, 768);

#endif
