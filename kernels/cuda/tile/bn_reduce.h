/*
 * What kernels of conv2d_dgrad_bn_reduce need of a stream beside its convolution, for kernels and their launchers
 * alike: see row_bn_reduce.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_BN_REDUCE_H
#define BRAID_KERNELS_CUDA_TILE_BN_REDUCE_H

/* Vectors over the channels of a stream. scale and shift are NULL where the ReLU is read off x. */
struct bn_reduce_plane {
    const float *scale, *shift, *center, *rstd;
    float *dgamma, *dbeta;
};

#endif
