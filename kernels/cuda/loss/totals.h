/*
 * The arguments of sums over all elements: mse and balance forward.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LOSS_TOTALS_H
#define BRAID_KERNELS_CUDA_LOSS_TOTALS_H

#include "kernels/cuda/tile/pixels.h"

struct mse_fwd_args {
    struct {
        const void *x, *t;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    float *loss;
    double *totals;     /* [blocks]: the workspace */
    uint32_t *counters; /* one: arrive.cuh */
};
PIXEL_ARGS_BYTES(mse_fwd_args, 664);

struct balance_fwd_args {
    struct {
        const void *x;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    float *loss;
    float *norms;
    double *totals;     /* [blocks]: the workspace */
    uint32_t *counters; /* one: arrive.cuh */
    double eps;
};
PIXEL_ARGS_BYTES(balance_fwd_args, 608);

#endif
