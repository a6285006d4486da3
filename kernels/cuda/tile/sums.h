/*
 * What the parts of sums over pixels hand on in the workspace.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SUMS_H
#define BRAID_KERNELS_CUDA_TILE_SUMS_H

#include <stdalign.h>

/* Count, mean and sum of the squared distances from that mean: pieces of any size add up without losing digits.
 * Both kinds are moved at once. */
struct bn_moments {
    alignas(16) float count;
    float mean, square;
};

/* Sums of g and of g * (x - center), g being the gradient of the normalised value; in layernorm the latter is times
 * rstd, which differs from row to row. */
struct bn_gradients {
    alignas(8) float shift;
    float scale;
};

/* A sum of dy, behind the gradient of a bias. */
struct bias_sum {
    float dy;
};

/* Widest rows of layernorm whose gradients a warp adds row by row. */
#define LAYERNORM_WARP_CHANNELS 256

#endif
