/*
 * The argument of conv2d_pool_dapply for few input channels on Hopper's matrix units
 * (conv2d_pool_dapply_rows_sm90a.cu): that of conv2d's weight gradient, and what the gradient of its output is made of.
 *
 * Units are 56 pixels wide and lie one below the other. Some warps go down their windows, each 14 columns of them by 16
 * filters, whose places are the unit's, and one to their right, which may have taken some of those.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_POOL_ROWS_H
#define BRAID_KERNELS_CUDA_CONV2D_POOL_ROWS_H

#include "kernels/cuda/conv2d_rows.h"
#include "kernels/cuda/pixels.h"

#define POOL_ROWS_PIXELS 56
#define POOL_ROWS_STAGES 6 /* rows of the gradient under way */
#define POOL_ROWS_MAKERS 8 /* warps that make it */
#define POOL_ROWS_SPREADERS 3
#define POOL_ROWS_THREADS 512 /* one warpgroup that multiplies, makers, those that spread, and one warp that loads x */

/* The normalisation behind a convolution. */
struct conv2d_pool_plane {
    const void *x, *dy; /* r, and the gradient of the pooled values */
    const float *scale, *shift, *center, *rstd, *gamma, *dgamma, *dbeta;
    int64_t pitch, channels;
};

struct conv2d_pool_rows_args {
    struct conv2d_rows_args rows;
    struct conv2d_pool_plane norm[BRAID_MAX_PLANES];
    struct pixel_window window;
    int32_t batch;
};

#define CONV2D_POOL_ROWS_ARGS_BYTES 3904

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_pool_rows_args) == CONV2D_POOL_ROWS_ARGS_BYTES, "kernel and launcher agree");
#else
_Static_assert(sizeof(struct conv2d_pool_rows_args) == CONV2D_POOL_ROWS_ARGS_BYTES, "kernel and launcher agree");
#endif

#endif
