/*
 * bn_finalize: scale, shift, center and rstd of every channel, and the running statistics. The
 * equations are in src/ops/bn_finalize.c. One block does all planes: there are few channels, and the
 * count of batches, which all planes read, is moved on once they have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_finalize.h"
#include "kernels/cuda/tile/mask.cuh"

/* The running statistics of a channel, moved towards this batch of `count` values. */
static __device__ __forceinline__ void move_running(const bn_finalize_plane &plane, int64_t c, float factor,
                                                    int64_t count) {
    const float unbiased = count > 1 ? plane.var[c] * ((float)count / (float)(count - 1)) : 0;
    plane.running_mean[c] = plane.running_mean[c] * (1 - factor) + plane.mean[c] * factor;
    plane.running_var[c] = plane.running_var[c] * (1 - factor) + unbiased * factor;
}

extern "C" __global__ void __launch_bounds__(BN_FINALIZE_THREADS)
    bn_finalize(const __grid_constant__ bn_finalize_args args) {
    const int64_t batches = *args.batches;
    const float factor = args.cumulative ? 1 / (float)(batches + 1) : args.momentum;
    int64_t c = threadIdx.x;
    for (int i = 0; i < args.planes; c -= args.plane[i++].channels) { /* channels are counted through all planes */
        const bn_finalize_plane &plane = args.plane[i];
        const int64_t count = mask_active(plane.mask, args.batch) * args.sample_pixels;
        for (; c < plane.channels; c += BN_FINALIZE_THREADS) {
            const float center = args.train ? plane.mean[c] : plane.running_mean[c];
            const float rstd = 1 / sqrtf((args.train ? plane.var[c] : plane.running_var[c]) + args.eps);
            const float scale = plane.gamma[c] * rstd;
            plane.center[c] = center;
            plane.rstd[c] = rstd;
            plane.scale[c] = scale;
            plane.shift[c] = plane.beta[c] - center * scale;
            if (args.train && count > 0) move_running(plane, c, factor, count);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && args.train) *args.batches = batches + 1;
}
