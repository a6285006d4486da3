/*
 * A block's share of a matrix product: a 64 x 64 tile of the output, made by 256 threads of 4 x 4
 * outputs each, from slices of both operands that the block has put into shared memory as floats.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_GEMM_CUH
#define BRAID_KERNELS_CUDA_TILE_GEMM_CUH

#include "kernels/cuda/tile/shape.h"

/* One slice of the reduction axis, k slowest. Rows are longer than the tile to spread them over the banks. */
struct __align__(16) gemm_slice {
    float a[TILE_K][TILE_M + 4];
    float b[TILE_K][TILE_N + 4];
};

/* The outputs of one thread: rows gemm_row() + 0..3, columns gemm_column() + 0..3 of the block's tile. */
struct gemm_sums {
    float at[4][4];
};

static __device__ __forceinline__ int gemm_row(void) { return (int)threadIdx.x / 16 * 4; }

static __device__ __forceinline__ int gemm_column(void) { return (int)threadIdx.x % 16 * 4; }

static __device__ __forceinline__ void gemm_clear(gemm_sums *sums) {
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) sums->at[i][j] = 0;
    }
}

/* sums += a^T * b over the slice. */
static __device__ __forceinline__ void gemm_add(gemm_sums *sums, const gemm_slice *slice) {
    const int row = gemm_row(), column = gemm_column();
#pragma unroll
    for (int k = 0; k < TILE_K; k++) {
        float a[4], b[4];
        for (int i = 0; i < 4; i++) a[i] = slice->a[k][row + i];
        for (int j = 0; j < 4; j++) b[j] = slice->b[k][column + j];
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) sums->at[i][j] += a[i] * b[j];
        }
    }
}

#endif
