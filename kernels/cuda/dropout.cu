/*
 * dropout, and its gradient, which is the same rule on dy: the bits are made again from the key. Element e of a plane,
 * counted densely, has number e of its sequence (src/ops/dropout.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/philox.cuh"
#include "kernels/cuda/tile/pixels.cuh"

template <class number, int width> struct dropout : pixel_body<number, width> {
    typedef pack<number, width> inputs;
    const philox_keys keys;
    const uint64_t stream;
    __device__ __forceinline__ dropout(const pixel_args &all, int i)
        : pixel_body<number, width>(all, i), keys((uint64_t)all.key[0]),
          stream((uint64_t)all.key[1] * 16 + (uint64_t)i) {}
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
    __device__ __forceinline__ void make(const inputs &x, int64_t pixel, int64_t c, int64_t at) const {
        const uint64_t first = (uint64_t)(pixel * this->plane.channels + c);
        float value[width];
        pack_open(value, x);
        if (width > 1 && first % 4 == 0) {
            drop<true>(value, first);
        } else {
            drop<false>(value, first);
        }
        this->put(this->plane.y, at, value, c);
    }
    /* Whole: the first element has the first of four numbers, which the compiler then chooses. */
    template <bool whole> __device__ __forceinline__ void drop(float (&value)[width], uint64_t first) const {
        philox bits = philox_block(keys, stream, first / 4);
#pragma unroll
        for (int j = 0; j < width; j++) {
            const uint32_t number_at = whole ? (uint32_t)j : (uint32_t)first + j;
            if (j > 0 && number_at % 4 == 0) bits = philox_block(keys, stream, (first + j) / 4);
            const bool kept = (int32_t)(philox_word(bits, number_at) >> 8) >= this->args.limit;
            value[j] = kept ? value[j] * this->args.kept : 0;
        }
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.y, at); }
};

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) dropout_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<dropout, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) dropout_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dropout, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) dropout_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dropout, bf16>(args);
}
