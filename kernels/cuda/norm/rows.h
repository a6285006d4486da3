/*
 * The arguments of layernorm and rownorm where some lanes of a block have a row.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_NORM_ROWS_H
#define BRAID_KERNELS_CUDA_NORM_ROWS_H

#include "kernels/cuda/tile/pixels.h"

struct layernorm_fwd_args {
    struct {
        const void *x;
        void *y;
        const float *gamma, *beta;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    double eps;
};
PIXEL_ARGS_BYTES(layernorm_fwd_args, 792);

struct layernorm_bwd_data_args {
    struct {
        const void *x, *dy;
        void *dx;
        const float *gamma;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    double eps;
};
PIXEL_ARGS_BYTES(layernorm_bwd_data_args, 792);

/* Mean and 1 / deviation of every row, for the gradients of gamma and beta. */
struct layernorm_rows_args {
    struct {
        const void *x;
        float *mean, *rstd;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    double eps;
};
PIXEL_ARGS_BYTES(layernorm_rows_args, 720);

struct rownorm_fwd_args {
    struct {
        const void *x;
        void *y;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    double eps;
};
PIXEL_ARGS_BYTES(rownorm_fwd_args, 648);

struct rownorm_bwd_data_args {
    struct {
        const void *x, *dy;
        void *dx;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    double eps;
};
PIXEL_ARGS_BYTES(rownorm_bwd_data_args, 720);

#endif
