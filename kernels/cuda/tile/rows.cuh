/*
 * Threads side by side along a row, and what they make of it together: `lanes` of them (a power of two, up to a whole
 * block), joined halves upon halves in a fixed order. All threads of the block call these together.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_ROWS_CUH
#define BRAID_KERNELS_CUDA_TILE_ROWS_CUH

#include <math.h>
#include <stdint.h>

#include "kernels/cuda/tile/shape.h"

/* The sum of the lanes of a row, for all of them; `shared` has a place for each thread of the block. */
static __device__ __forceinline__ double row_sum(double *shared, double mine, int32_t lanes) {
    const int32_t lane = (int32_t)threadIdx.x % lanes;
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int32_t half = lanes / 2; half > 0; half /= 2) {
        if (lane < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    const double sum = shared[threadIdx.x - lane];
    __syncthreads(); /* nobody reads it any more */
    return sum;
}

/* The larger of two values; a NaN before every number. */
static __device__ __forceinline__ double row_larger(double a, double b) { return isnan(a) || a > b ? a : b; }

static __device__ __forceinline__ double row_largest(double *shared, double mine, int32_t lanes) {
    const int32_t lane = (int32_t)threadIdx.x % lanes;
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int32_t half = lanes / 2; half > 0; half /= 2) {
        if (lane < half) shared[threadIdx.x] = row_larger(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    const double largest = shared[threadIdx.x - lane];
    __syncthreads();
    return largest;
}

#endif
