/*
 * What all pixels of a channel share in the gradient of batch normalisation's input.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_NORM_CUH
#define BRAID_KERNELS_CUDA_TILE_NORM_CUH

/* dx = g * of_g + x * of_x + rest. */
struct bn_factors {
    float of_g, of_x, rest;
};

/* `share` is 1 / active values; in evaluation 0, for the statistics do not depend on x. */
static __device__ __forceinline__ bn_factors bn_factors_of(float gamma, float rstd, float center, float dgamma,
                                                           float dbeta, float share) {
    bn_factors all;
    all.of_g = gamma * rstd;
    all.of_x = -all.of_g * rstd * share * dgamma;
    all.rest = -all.of_x * center - all.of_g * dbeta * share;
    return all;
}

#endif
