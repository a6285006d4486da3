/*
 * mse gradient: dx = 2 (x - t) dloss / (B C), the difference taken in float.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/pixels.cuh"

template <class number, int width> struct mse_bwd_data : pixel_body<number, width> {
    struct inputs {
        pack<number, width> x, t;
    };
    float factor;
    __device__ __forceinline__ mse_bwd_data(const pixel_args &all, int i) : pixel_body<number, width>(all, i) {
        factor = (float)(2 * (double)*all.loss / ((double)all.map.sample_pixels * (double)this->plane.channels));
    }
    __device__ __forceinline__ void fetch(inputs &in, int64_t at) const {
        in.x = this->take(this->plane.x, at);
        in.t = this->take(this->plane.z, at);
    }
    __device__ __forceinline__ void make(const inputs &in, int64_t, int64_t c, int64_t at) const {
        float x[width], t[width];
        pack_open(x, in.x);
        pack_open(t, in.t);
#pragma unroll
        for (int j = 0; j < width; j++) x[j] = factor * (x[j] - t[j]);
        this->put(this->plane.dx, at, x, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
};

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) mse_bwd_data_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<mse_bwd_data, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) mse_bwd_data_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<mse_bwd_data, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) mse_bwd_data_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<mse_bwd_data, bf16>(args);
}
