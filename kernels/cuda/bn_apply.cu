/*
 * bn_apply: y = x * scale + shift, channel by channel; zeros for blanked samples and for the lanes
 * between the channels and the pitch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_apply.h"
#include "kernels/cuda/tile/number.cuh"
#include "kernels/cuda/tile/pixels.cuh"

template <class number> static __device__ __forceinline__ void bn_apply(const bn_apply_args &args) {
    const pixel_work work = pixel_work_find(args.pixels);
    const bn_apply_plane &plane = args.plane[work.plane];
    const bool blanked = mask_blanks(plane.mask, work.sample);
    for (int64_t pixel = work.begin; pixel < work.end; pixel += work.step) {
        for (int64_t c = work.lane; c < plane.pitch; c += work.lanes) {
            const int64_t at = pixel * plane.pitch + c;
            float value = 0;
            if (c < plane.channels && !blanked)
                value = load((const number *)plane.x + at) * plane.scale[c] + plane.shift[c];
            store((number *)plane.y + at, value);
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_apply_f32(const __grid_constant__ bn_apply_args args) {
    bn_apply<f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_apply_f16(const __grid_constant__ bn_apply_args args) {
    bn_apply<f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_apply_bf16(const __grid_constant__ bn_apply_args args) {
    bn_apply<bf16>(args);
}
