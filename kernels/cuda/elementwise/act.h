/*
 * The arguments of act, forward and gradient.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_ELEMENTWISE_ACT_H
#define BRAID_KERNELS_CUDA_ELEMENTWISE_ACT_H

#include "kernels/cuda/tile/pixels.h"

struct act_fwd_args {
    struct {
        const void *x;
        void *y;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    int32_t activation;
};
PIXEL_ARGS_BYTES(act_fwd_args, 640);

struct act_bwd_data_args {
    struct {
        const void *x, *dy;
        void *dx;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    int32_t activation;
};
PIXEL_ARGS_BYTES(act_bwd_data_args, 712);

#endif
