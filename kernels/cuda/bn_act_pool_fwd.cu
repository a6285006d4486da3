/*
 * bn_act_pool forward: the largest f(x * scale + shift) of every window.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/bn.cuh"

template <class number, int width> struct bn_act_pool_fwd : gradient_pool<number, width> {
    typedef pixel_nothing inputs;
    using gradient_pool<number, width>::gradient_pool;
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t pixel, int64_t c, int64_t at) const {
        const window_place out = window_place_of(pixel, this->args.window.out_size);
        this->put(this->plane.y, at, window_find<width>(*this, this->args.window, out, c).value, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.y, at); }
};

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_fwd_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<bn_act_pool_fwd, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_fwd_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<bn_act_pool_fwd, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_fwd_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<bn_act_pool_fwd, bf16>(args);
}
