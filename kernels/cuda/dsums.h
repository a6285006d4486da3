/*
 * What kernels of conv2d_dsums need of a stream beside its convolution, and how the parts of its sums are grouped, for
 * kernels and their launchers alike: see tile/row_dsums.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_DSUMS_H
#define BRAID_KERNELS_CUDA_DSUMS_H

#include <stdint.h>

#include "kernels/cuda/sums.h"

#define DSUMS_CHANNELS 64    /* that a warpgroup adds up */
#define DSUMS_GROUP_PARTS 16 /* that are added at once */

/* For every 64 channels: one for the groups of parts, and one for each of them. */
#define DSUMS_GROUPS(parts) (((parts) + DSUMS_GROUP_PARTS - 1) / DSUMS_GROUP_PARTS)
#define DSUMS_COUNTERS(parts) (1 + DSUMS_GROUPS(parts))

/* Vectors over the channels of a stream. scale and shift are NULL where the ReLU is read off x. */
struct dsums_plane {
    const float *scale, *shift, *center, *rstd;
    float *dgamma, *dbeta;
};

#endif
