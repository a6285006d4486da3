/*
 * Several numbers side by side, moved at once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_PACK_CUH
#define BRAID_KERNELS_CUDA_TILE_PACK_CUH

#include "kernels/cuda/ptx/number.cuh"

/* One access where it has 16 bytes or less. */
template <class number, int width>
struct alignas(width == 1                          ? sizeof(number)
               : width == 4 && sizeof(number) == 2 ? 8
                                                   : 16) pack {
    number at[width];
};

/* As many numbers as 16 bytes hold. */
template <class number> struct widest { static const int width = 16 / sizeof(number); };

/* The address must be a multiple of 16 bytes, or of the size of the pack. */
template <int width, class number> static __device__ __forceinline__ pack<number, width> pack_read(const number *from) {
    pack<number, width> all;
    read_bytes<sizeof all>(&all, from);
    return all;
}

template <class number, int width>
static __device__ __forceinline__ void pack_open(float (&to)[width], const pack<number, width> &from) {
#pragma unroll
    for (int j = 0; j < width; j++) to[j] = load(&from.at[j]);
}

/* The first `inside` values, and zeros behind them. */
template <class number, int width>
static __device__ __forceinline__ void pack_write(number *to, const float (&from)[width], int64_t inside) {
    pack<number, width> all;
#pragma unroll
    for (int j = 0; j < width; j++) store(&all.at[j], j < inside ? from[j] : 0);
    write_bytes<sizeof all>(to, &all);
}

/* The same in fewer instructions, and more registers. */
template <class number, int width>
static __device__ __forceinline__ void pack_write_asking(number *to, const float (&from)[width], int64_t inside) {
    pack<number, width> all;
#pragma unroll
    for (int j = 0; j < width; j++) store(&all.at[j], from[j]);
    if (inside < width) { /* seldom, and asked once for all */
#pragma unroll
        for (int j = 0; j < width; j++) {
            if (j >= inside) all.at[j] = number();
        }
    }
    write_bytes<sizeof all>(to, &all);
}

/* The first `inside` values, and nothing behind them. */
template <class number, int width>
static __device__ __forceinline__ void pack_put(number *to, const float (&from)[width], int64_t inside) {
    if (inside >= width) {
        pack_write(to, from, width);
        return;
    }
#pragma unroll
    for (int j = 0; j < width; j++) {
        if (j < inside) store(to + j, from[j]);
    }
}

/* The first `inside` values of a vector of one float per channel, zeros behind them and where there is none. */
template <int width>
static __device__ __forceinline__ void pack_channels(float (&to)[width], const float *from, int64_t inside) {
    if (from && inside >= width) {
        const pack<f32, width> all = pack_read<width>((const f32 *)from);
        pack_open(to, all);
        return;
    }
#pragma unroll
    for (int j = 0; j < width; j++) to[j] = from && j < inside ? from[j] : 0;
}

#endif
