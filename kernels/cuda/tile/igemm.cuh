/*
 * A matrix product by a block of 256 threads on sm_80's tensor cores: 128 rows, 128 columns, 32 terms of the
 * sums at a time, in four stages of shared memory that copies fill while older ones are multiplied. An operand lies in
 * one of two ways, as it comes from global memory: `along`, 32 terms of a row (or column) side by side, or `across`,
 * all rows (columns) of a term side by side. What is loaded is the kernel's business:
 *
 *     load(left, right)   starts the copies of the next stage into the operands' memory
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_IGEMM_CUH
#define BRAID_KERNELS_CUDA_TILE_IGEMM_CUH

#include "kernels/cuda/tile/igemm.h"
#include "kernels/cuda/tile/matrix.cuh"
#include "kernels/cuda/tile/mma.cuh"
#include "kernels/cuda/tile/shared.cuh"

/* Where a piece (8 numbers) lies in an operand of `length` rows or columns: neighbours in other banks. Along: the
 * pieces of a row are 4 pieces of terms; across: those of a term are length / 8 pieces of rows. */
static __device__ __forceinline__ int along_at(int row, int piece) {
    return (row * 4 + (piece ^ (row / 2 % 4))) * IGEMM_PIECE;
}

template <int length> static __device__ __forceinline__ int across_at(int term, int piece) {
    return (term * (length / IGEMM_PIECE) + (piece ^ (term % 8))) * IGEMM_PIECE;
}

/* The left operand of 16 rows and 16 terms. */
template <bool along>
static __device__ __forceinline__ void igemm_left(uint32_t (&a)[4], const uint16_t *left, int row, int term) {
    const int lane = (int)threadIdx.x % 32;
    if (along) {
        matrix_load_x4(a, shared_address(left + along_at(row + lane % 16, term / 8 + lane / 16)));
    } else {
        matrix_load_x4_transposed(
            a, shared_address(left + across_at<IGEMM_ROWS>(term + lane / 16 * 8 + lane % 8, row / 8 + lane / 8 % 2)));
    }
}

/* The right operands of 16 columns and 16 terms: b[0..1] of the first 8 columns, b[2..3] of the others. */
template <bool along, int columns>
static __device__ __forceinline__ void igemm_right(uint32_t (&b)[4], const uint16_t *right, int column, int term) {
    const int lane = (int)threadIdx.x % 32;
    if (along) {
        matrix_load_x4(b, shared_address(right + along_at(column + lane % 8 + lane / 16 * 8, term / 8 + lane / 8 % 2)));
    } else {
        matrix_load_x4_transposed(b,
                                  shared_address(right + across_at<columns>(term + lane % 16, column / 8 + lane / 16)));
    }
}

/* How the warps share the sums: each has 64 x 32 of 128 x 128, or 32 x 32 of 128 x 64. */
template <int columns> struct igemm_warp {
    static const int row_tiles = columns == 128 ? 4 : 2, column_tiles = 4;
    static __device__ __forceinline__ int row() { return (int)threadIdx.x / 32 / (columns / 32) * (16 * row_tiles); }
    static __device__ __forceinline__ int column() { return (int)threadIdx.x / 32 % (columns / 32) * 32; }
};

template <int columns> struct igemm_sums {
    float at[igemm_warp<columns>::row_tiles][igemm_warp<columns>::column_tiles][4];
};

/* The products of one stage. */
template <class number, bool left_along, bool right_along, int columns>
static __device__ __forceinline__ void igemm_multiply(igemm_sums<columns> *sums, const uint16_t *left,
                                                      const uint16_t *right) {
    typedef igemm_warp<columns> warp;
#pragma unroll
    for (int term = 0; term < IGEMM_DEPTH; term += 16) {
        uint32_t a[warp::row_tiles][4], b[warp::column_tiles / 2][4];
#pragma unroll
        for (int i = 0; i < warp::row_tiles; i++) igemm_left<left_along>(a[i], left, warp::row() + 16 * i, term);
#pragma unroll
        for (int j = 0; j < warp::column_tiles / 2; j++)
            igemm_right<right_along, columns>(b[j], right, warp::column() + 16 * j, term);
#pragma unroll
        for (int i = 0; i < warp::row_tiles; i++) {
#pragma unroll
            for (int j = 0; j < warp::column_tiles; j++) {
                const uint32_t half[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
                mma(sums->at[i][j], a[i], half, number());
            }
        }
    }
}

/* The sums of `stages` stages of 32 terms. Behind it all of the shared memory is free. */
template <class number, bool left_along, bool right_along, int columns, class loader>
static __device__ __forceinline__ void igemm_run(igemm_sums<columns> *sums, uint16_t *shared, int32_t stages,
                                                 loader *from) {
    const int left_size = IGEMM_ROWS * IGEMM_DEPTH, size = left_size + columns * IGEMM_DEPTH;
#pragma unroll
    for (int stage = 0; stage < IGEMM_STAGES - 1; stage++) {
        if (stage < stages) from->load(shared + stage * size, shared + stage * size + left_size);
        copy_async_commit();
    }
    for (int32_t stage = 0; stage < stages; stage++) {
        copy_async_wait<IGEMM_STAGES - 2>();
        __syncthreads();
        const int32_t next = stage + IGEMM_STAGES - 1;
        uint16_t *to = shared + next % IGEMM_STAGES * size;
        if (next < stages) from->load(to, to + left_size);
        copy_async_commit();
        const uint16_t *at = shared + stage % IGEMM_STAGES * size;
        igemm_multiply<number, left_along, right_along>(sums, at, at + left_size);
    }
    copy_async_wait<0>();
    __syncthreads();
}

#endif
