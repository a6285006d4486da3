/*
 * bn_finalize: scale, shift, center and rstd of every channel, and the running statistics. The
 * equations are in src/ops/bn_finalize.c. A thread has a channel, counted through all planes, and asks for all that it
 * needs before it writes anything. With avg=cumulative there is one block, because all planes read the count of
 * batches, which is moved on once they have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_finalize.h"
#include "kernels/cuda/tile/mask.cuh"

/* One channel; `factor` is how far the running statistics move towards this batch. */
static __device__ __forceinline__ void finalize(const bn_finalize_args &args, const bn_finalize_plane &plane, int64_t c,
                                                float factor) {
    const float running_mean = plane.running_mean[c], running_var = plane.running_var[c];
    const float mean = args.train ? plane.mean[c] : running_mean, var = args.train ? plane.var[c] : running_var;
    const float gamma = plane.gamma[c], beta = plane.beta[c];
    const int64_t count = args.train ? mask_active(plane.mask, args.batch) * args.sample_pixels : 0;
    const float rstd = 1 / sqrtf(var + args.eps), scale = gamma * rstd;
    plane.center[c] = mean;
    plane.rstd[c] = rstd;
    plane.scale[c] = scale;
    plane.shift[c] = beta - mean * scale;
    if (count == 0) return;
    const float unbiased = count > 1 ? var * ((float)count / (float)(count - 1)) : 0;
    plane.running_mean[c] = running_mean * (1 - factor) + mean * factor;
    plane.running_var[c] = running_var * (1 - factor) + unbiased * factor;
}

extern "C" __global__ void __launch_bounds__(BN_FINALIZE_THREADS)
    bn_finalize(const __grid_constant__ bn_finalize_args args) {
    const bool counts = blockIdx.x == 0 && threadIdx.x == 0 && args.train;
    const int64_t batches = args.cumulative || counts ? *args.batches : 0;
    const float factor = args.cumulative ? 1 / (float)(batches + 1) : args.momentum;
    int64_t c = (int64_t)blockIdx.x * BN_FINALIZE_THREADS + threadIdx.x;
    for (int i = 0; i < args.planes; c -= args.plane[i++].channels) {
        for (; c < args.plane[i].channels; c += (int64_t)gridDim.x * BN_FINALIZE_THREADS)
            finalize(args, args.plane[i], c, factor);
    }
    __syncthreads();
    if (counts) *args.batches = batches + 1;
}
