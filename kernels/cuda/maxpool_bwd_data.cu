/*
 * maxpool gradient: every window hands its dy to the place that it took, which is found again from x.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/slide.cuh"

template <class number, int width> struct maxpool_bwd_data : pixel_body<number, width> {
    typedef pixel_nothing inputs;
    static const int ahead = 1;
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t pixel, int64_t c, int64_t at) const {
        float sum[width];
        window_gradient(sum, *this, this->args.window, pixel, c);
        this->put(this->plane.dx, at, sum, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
    __device__ __forceinline__ void value(float (&x)[width], int64_t pixel, int64_t c) const {
        pack_open(x, this->take(this->plane.x, pixel * this->plane.pitch + c));
    }
};

/* Windows as tile/slide.cuh has them. */
template <class number, int width> struct maxpool_slide : pixel_body<number, width> {
    struct factors {};
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void begin(factors &, int64_t) const {}
    __device__ __forceinline__ void use(const factors &) const {}
    __device__ __forceinline__ uint32_t key(uint32_t x, int) const { return x; }
    __device__ __forceinline__ uint32_t open(uint32_t, int) const { return 0xFFFFFFFFu; }
    __device__ __forceinline__ uint32_t make(const float (&g)[word<number>::width], uint32_t, int) const {
        return word<number>::close(g);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
};

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    maxpool_bwd_data_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<maxpool_bwd_data, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    maxpool_bwd_data_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<maxpool_bwd_data, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    maxpool_bwd_data_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<maxpool_bwd_data, bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    maxpool_slide_f32(const __grid_constant__ pixel_args args) {
    __shared__ slide_shared shared;
    slide_kernel<maxpool_slide, f32>(args, shared, nullptr);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    maxpool_slide_f16(const __grid_constant__ pixel_args args) {
    __shared__ slide_shared shared;
    slide_kernel<maxpool_slide, f16>(args, shared, nullptr);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    maxpool_slide_bf16(const __grid_constant__ pixel_args args) {
    __shared__ slide_shared shared;
    slide_kernel<maxpool_slide, bf16>(args, shared, nullptr);
}
