/*
 * normalize: y = (x / 255 - mean) / std, from dense bytes to numbers with a pitch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/pixels.cuh"

template <class number, int width> struct normalize : pixel_body<number, width> {
    typedef pixel_nothing inputs;
    float mean[width], deviation[width];
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void begin(int64_t c) {
        pack_channels(mean, this->plane.center + c, this->plane.channels - c);
        pack_channels(deviation, this->plane.scale + c, this->plane.channels - c);
    }
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t pixel, int64_t c, int64_t at) const {
        const uint8_t *x = (const uint8_t *)this->plane.x + pixel * this->plane.channels + c;
        float value[width];
#pragma unroll
        for (int j = 0; j < width; j++)
            value[j] = c + j < this->plane.channels ? ((float)x[j] / 255 - mean[j]) / deviation[j] : 0;
        this->put(this->plane.y, at, value, c);
    }
    __device__ __forceinline__ void blank(int64_t) const {}
};

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) normalize_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<normalize, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) normalize_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<normalize, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) normalize_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<normalize, bf16>(args);
}
