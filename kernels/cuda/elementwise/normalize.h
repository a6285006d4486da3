/*
 * The argument of normalize.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_ELEMENTWISE_NORMALIZE_H
#define BRAID_KERNELS_CUDA_ELEMENTWISE_NORMALIZE_H

#include "kernels/cuda/tile/pixels.h"

struct normalize_args {
    struct {
        const void *x;
        void *y;
        const float *mean, *deviation;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    int64_t folded[BRAID_MAX_PLANES]; /* channels of one of the pixels that were folded into one; 0: none were */
};
PIXEL_ARGS_BYTES(normalize_args, 856);

#endif
