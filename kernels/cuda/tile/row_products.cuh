/*
 * Sums over pixels in the epilogues of convolutions (epilogue_rows.cuh) on the tensor cores (mma.cuh): of values a, and
 * of products a * b, for the 16 channels of a warp. Pairs of 16 pixels as the epilogue has them are an operand whose
 * rows are channels and whose columns are pixels, and also one with both in turn. So a times ones has the sums of a,
 * and a times b has those of a * b on its diagonal.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_ROW_PRODUCTS_CUH
#define BRAID_KERNELS_CUDA_TILE_ROW_PRODUCTS_CUH

#include "kernels/cuda/tile/mma.cuh"
#include "kernels/cuda/tile/mma_short.cuh"

/* Those of a thread's pairs that count, as epilogue_rows_live says; zeros for the others. */
template <int pairs>
static __device__ __forceinline__ void row_products_mask(uint32_t (&to)[pairs], const uint32_t (&from)[pairs],
                                                         uint32_t live) {
#pragma unroll
    for (int j = 0; j < pairs; j++) {
        const uint32_t of = live >> (j / 2 * 2);
        to[j] = from[j] & ((of & 1) * 0xFFFFu | (of >> 1 & 1) * 0xFFFF0000u);
    }
}

/* Two sums of everything, to which calls add in turns, since one waits long for the one before. */
template <class number> struct row_products {
    float sum[2][4] = {}, first[2][4] = {}, second[2][4] = {}; /* b of channels 0 to 7, and 8 to 15 */

    /* 16 pixels, or 8. All lanes of a warp take part. */
    __device__ __forceinline__ void include(int turn, const uint32_t (&a)[4], const uint32_t (&b)[4]) {
        const uint32_t ones[2] = {one_pair(number()), one_pair(number())};
        const uint32_t of_first[2] = {b[0], b[2]}, of_second[2] = {b[1], b[3]};
        mma(sum[turn % 2], a, ones, number());
        mma(first[turn % 2], a, of_first, number());
        mma(second[turn % 2], a, of_second, number());
    }
    __device__ __forceinline__ void include(int turn, const uint32_t (&a)[2], const uint32_t (&b)[2]) {
        mma_short(sum[turn % 2], a, one_pair(number()), number());
        mma_short(first[turn % 2], a, b[0], number());
        mma_short(second[turn % 2], a, b[1], number());
    }

    /* Channel i of a thread: all four that have it know its sum, and one of them that of the products. */
    __device__ __forceinline__ float sum_of(int i) const { return sum[0][2 * i] + sum[1][2 * i]; }
    __device__ __forceinline__ float product_of(int i) const {
        const float(&of)[2][4] = i ? second : first;
        return threadIdx.x / 4 % 2 ? of[0][2 * i + 1] + of[1][2 * i + 1] : of[0][2 * i] + of[1][2 * i];
    }
    static __device__ __forceinline__ bool has_products() { return threadIdx.x % 32 / 8 == threadIdx.x % 4; }
};

#endif
