/*
 * What follows from the statistics of a channel: scale, shift, center, rstd and the running statistics. The equations
 * are in src/ops/bn_finalize.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_BN_FINALIZE_CUH
#define BRAID_KERNELS_CUDA_TILE_BN_FINALIZE_CUH

#include "kernels/cuda/tile/bn_finalize.h"
#include "kernels/cuda/tile/mask.cuh"

/* What a channel has before. */
struct bn_channel {
    float running_mean, running_var, gamma, beta;
};

static __device__ __forceinline__ bn_channel bn_channel_of(const bn_finalize_plane &plane, int64_t c) {
    const bn_channel of = {plane.running_mean[c], plane.running_var[c], plane.gamma[c], plane.beta[c]};
    return of;
}

/* How far the running statistics of plane i move towards this batch, and how many batches are counted. */
static __device__ __forceinline__ float bn_factor(const bn_finalize_args &args, int i, int64_t batches) {
    return args.cumulative ? 1 / (float)(batches + 1 + (args.each ? i : 0)) : args.momentum;
}

static __device__ __forceinline__ int64_t bn_counted(const bn_finalize_args &args) {
    return args.each ? args.planes : 1;
}

/* One channel of this mean and variance; `factor` is how far the running statistics move towards this batch. */
static __device__ __forceinline__ void bn_finish(const bn_finalize_args &args, const bn_finalize_plane &plane,
                                                 int64_t c, const bn_channel &of, float mean, float var, float factor) {
    const int64_t count = args.train ? mask_active(plane.mask, args.batch) * args.sample_pixels : 0;
    const float rstd = 1 / sqrtf(var + args.eps), scale = of.gamma * rstd;
    plane.center[c] = mean;
    plane.rstd[c] = rstd;
    plane.scale[c] = scale;
    plane.shift[c] = of.beta - mean * scale;
    if (count == 0) return;
    const float unbiased = count > 1 ? var * ((float)count / (float)(count - 1)) : 0;
    plane.running_mean[c] = of.running_mean * (1 - factor) + mean * factor;
    plane.running_var[c] = of.running_var * (1 - factor) + unbiased * factor;
}

#endif
