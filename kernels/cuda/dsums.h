/*
 * What kernels of conv2d_dsums need of a stream beside its convolution, for kernels and their launchers alike: see
 * tile/row_dsums.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_DSUMS_H
#define BRAID_KERNELS_CUDA_DSUMS_H

/* Vectors over the channels of a stream. scale and shift are NULL where the ReLU is read off x. */
struct dsums_plane {
    const float *scale, *shift, *center, *rstd;
    float *dgamma, *dbeta;
};

#endif
