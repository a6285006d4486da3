/*
 * bn_stats: mean and biased variance of every channel over the active pixels, in an order that depends on the problem
 * alone (tile/moments.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/moments.cuh"

static __device__ __forceinline__ void column_write(const pixel_args &args, int plane, int32_t channel,
                                                    const bn_moments &all) {
    args.plane[plane].mean[channel] = all.mean;
    args.plane[plane].var[channel] = moments_var(all);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_stats_parts(const __grid_constant__ pixel_args args) {
    __shared__ bn_moments shared[BLOCK_THREADS];
    columns_second(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4) bn_stats_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_distances shared[widest<f32>::width * BLOCK_THREADS];
    columns_kernel<moments, f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4) bn_stats_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_distances shared[widest<f16>::width * BLOCK_THREADS];
    columns_kernel<moments, f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4) bn_stats_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_distances shared[widest<bf16>::width * BLOCK_THREADS];
    columns_kernel<moments, bf16>(args, shared);
}
