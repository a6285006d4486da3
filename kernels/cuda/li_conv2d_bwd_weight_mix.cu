/*
 * The last stage of li_conv2d's weight gradient for few input channels: dw = G + v^T H (kernels/cuda/li_conv2d_rows.h),
 * a thread for each weight, in f32 with one rounding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/li_conv2d_rows.h"
#include "kernels/cuda/tile/number.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shape.h"

template <class number> static __device__ __forceinline__ void li_conv2d_mix(const li_conv2d_mix_args &args) {
    const int i = schedule_plane(args.first_block, args.planes);
    const li_conv2d_mix_plane &plane = args.plane[i];
    const int32_t at = ((int32_t)blockIdx.x - args.first_block[i]) * BLOCK_THREADS + (int32_t)threadIdx.x;
    if (at >= plane.filters * plane.taps) return;
    const int32_t filter = at / plane.taps, tap = at - filter * plane.taps;
    float sum = plane.gradient[at];
#pragma unroll 8
    for (int32_t z = 0; z < args.integrated; z++)
        sum += load((const number *)plane.v + z * plane.filters + filter) * plane.mixed[z * plane.taps + tap];
    store((number *)plane.dw + at, sum);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    li_conv2d_mix_f16(const __grid_constant__ li_conv2d_mix_args args) {
    li_conv2d_mix<f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    li_conv2d_mix_bf16(const __grid_constant__ li_conv2d_mix_args args) {
    li_conv2d_mix<bf16>(args);
}
