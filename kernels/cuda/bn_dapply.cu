/*
 * bn_dapply: the gradient of the input of batch normalisation. The equations are in
 * src/ops/bn_dapply.c. Zeros for blanked samples and for the lanes between the channels and the pitch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_dapply.h"
#include "kernels/cuda/tile/mask.cuh"
#include "kernels/cuda/tile/number.cuh"
#include "kernels/cuda/tile/pixels.cuh"

template <class number> static __device__ __forceinline__ void bn_dapply(const bn_dapply_args &args, int64_t *shared) {
    const pixel_work work = pixel_work_find(args.pixels);
    const bn_dapply_plane &plane = args.plane[work.plane];
    const bool blanked = mask_blanks(plane.mask, work.sample);
    float share = 0; /* 1 / active values; in evaluation the statistics do not depend on x */
    if (args.pixels.train)
        share = 1 / (float)(mask_active(plane.mask, args.pixels.batch, shared) * args.pixels.sample_pixels);
    for (int64_t c = work.lane; c < plane.pitch; c += work.lanes) {
        const bool inside = c < plane.channels && !blanked;
        const float rstd = inside ? plane.rstd[c] : 0, scale = inside ? plane.gamma[c] * rstd : 0;
        const float center = inside ? plane.center[c] : 0;
        const float mean_term = inside ? plane.dbeta[c] * share : 0,
                    slope = inside ? rstd * plane.dgamma[c] * share : 0;
        for (int64_t pixel = work.begin; pixel < work.end; pixel += work.step) {
            const int64_t at = pixel * plane.pitch + c;
            float value = 0;
            if (inside) {
                value = load((const number *)plane.dy + at);
                if (args.pixels.train)
                    value = value - mean_term - (load((const number *)plane.x + at) - center) * slope;
                value *= scale;
            }
            store((number *)plane.dx + at, value);
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_dapply_f32(const __grid_constant__ bn_dapply_args args) {
    __shared__ int64_t shared[BLOCK_THREADS];
    bn_dapply<f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_dapply_f16(const __grid_constant__ bn_dapply_args args) {
    __shared__ int64_t shared[BLOCK_THREADS];
    bn_dapply<f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_dapply_bf16(const __grid_constant__ bn_dapply_args args) {
    __shared__ int64_t shared[BLOCK_THREADS];
    bn_dapply<bf16>(args, shared);
}
