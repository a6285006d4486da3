/*
 * Threads side by side along a row, and what they make of it together: `lanes` of them (a power of two, up to a whole
 * block), joined in a fixed order. All threads of the block call these together.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_ROWS_CUH
#define BRAID_KERNELS_CUDA_TILE_ROWS_CUH

#include <math.h>
#include <stdint.h>

#include "kernels/cuda/tile/shape.h"

/* The larger of two values; a NaN before every number. */
static __device__ __forceinline__ double row_larger(double a, double b) { return isnan(a) || a > b ? a : b; }

/* 1 / value and 1 / sqrt(value), by one step of Newton's from a float: divisions in double would take most of the time
 * of a short row. Good to 40 bits. */
static __device__ __forceinline__ double row_inverse(double value) {
    const float near = (float)value;
    if (!(fabsf(near) > 1e-30f && fabsf(near) < 1e30f)) return 1 / value;
    const double first = (double)(1 / near);
    return first * (2 - value * first);
}

static __device__ __forceinline__ double row_inverse_root(double value) {
    const float near = (float)value;
    if (!(near > 1e-30f && near < 1e30f)) return 1 / sqrt(value);
    const double first = (double)(1 / sqrtf(near));
    return first * (1.5 - 0.5 * value * first * first);
}

struct row_adds {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

struct row_compares {
    static __device__ __forceinline__ double join(double a, double b) { return row_larger(a, b); }
};

/* What the lanes of a row have together, for all of them: those of a warp by shuffles, the warps through `shared`,
 * which has a place for each. */
template <class rule> static __device__ __forceinline__ double row_joined(double *shared, double mine, int32_t lanes) {
    for (int32_t half = (lanes < 32 ? lanes : 32) / 2; half > 0; half /= 2)
        mine = rule::join(mine, __shfl_xor_sync(0xFFFFFFFFu, mine, half));
    if (lanes <= 32) return mine;
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = mine;
    __syncthreads();
    const int32_t warps = lanes / 32;
    const double *row = shared + (int32_t)threadIdx.x / lanes * warps;
    double all = row[0];
    for (int32_t j = 1; j < warps; j++) all = rule::join(all, row[j]);
    __syncthreads(); /* nobody reads it any more */
    return all;
}

static __device__ __forceinline__ double row_sum(double *shared, double mine, int32_t lanes) {
    return row_joined<row_adds>(shared, mine, lanes);
}

static __device__ __forceinline__ double row_largest(double *shared, double mine, int32_t lanes) {
    return row_joined<row_compares>(shared, mine, lanes);
}

#endif
