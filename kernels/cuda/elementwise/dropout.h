/*
 * The argument of dropout, and of its gradient: there x is dy, and y is dx.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_ELEMENTWISE_DROPOUT_H
#define BRAID_KERNELS_CUDA_ELEMENTWISE_DROPOUT_H

#include "kernels/cuda/tile/pixels.h"

struct dropout_args {
    struct {
        const void *x;
        void *y;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    int32_t limit; /* kept are 24 bits of at least this ... */
    float kept;    /* ... times this */
    const int64_t *key;
};
PIXEL_ARGS_BYTES(dropout_args, 656);

#endif
