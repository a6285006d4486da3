/*
 * A matrix product by a block of 256 threads on sm_80's tensor cores: 128 rows, 128 columns, 32 terms of the
 * sums at a time (16 of f32), in four stages of shared memory that copies fill while older ones are multiplied. An
 * operand lies in one of two ways, as it comes from global memory: `along`, the terms of a row (or column) side by
 * side, or `across`, all rows (columns) of a term side by side. Numbers are f16, bf16, tf32 (f32 that is rounded when
 * it is multiplied) or f32. What is loaded is the kernel's business:
 *
 *     load(left, right)   starts the copies of the next stage into the operands' memory
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_MMA_MMA_TILE_CUH
#define BRAID_KERNELS_CUDA_CONV_MMA_MMA_TILE_CUH

#include "kernels/cuda/conv/mma/mma_tile.h"
#include "kernels/cuda/ptx/matrix.cuh"
#include "kernels/cuda/ptx/mma.cuh"
#include "kernels/cuda/ptx/shared.cuh"

/* Numbers of a piece, which is 16 bytes, and terms of a stage, which is four pieces of a row. */
template <class number> struct mma_numbers { static const int piece = 16 / (int)sizeof(number), depth = 4 * piece; };

/* Where a piece lies in an operand of `length` rows or columns: neighbours in other banks. Along: the pieces of a row
 * are 4 pieces of terms; across: those of a term are length / piece pieces of rows. */
template <class number> static __device__ __forceinline__ int along_at(int row, int piece) {
    return (row * 4 + (piece ^ (row / 2 % 4))) * mma_numbers<number>::piece;
}

template <class number, int length> static __device__ __forceinline__ int across_at(int term, int piece) {
    if (sizeof(number) == 2) return (term * (length / MMA_PIECE) + (piece ^ (term % 8))) * MMA_PIECE;
    return term * (length + MMA_WORD_GAP) + piece * mma_numbers<number>::piece;
}

/* Numbers of one stage of an operand. */
template <class number, bool along, int length> static __device__ __forceinline__ constexpr int mma_size() {
    return mma_numbers<number>::depth * (length + (along || sizeof(number) == 2 ? 0 : MMA_WORD_GAP));
}

/* A word of f32 or TF32 from an operand that lies across. */
template <class number, int length>
static __device__ __forceinline__ uint32_t across_word(const number *operand, int term, int row) {
    return ((const uint32_t *)operand)[across_at<number, length>(term, 0) + row];
}

/* The left operand of 16 rows and two pieces of terms, from piece `at` on: 16 terms, or 8 of f32. */
template <class number, bool along>
static __device__ __forceinline__ void mma_left(uint32_t (&a)[4], const number *left, int row, int at) {
    const int lane = (int)threadIdx.x % 32, term = at * mma_numbers<number>::piece;
    if (along) {
        matrix_load_x4(a, shared_address(left + along_at<number>(row + lane % 16, at + lane / 16)));
    } else if (sizeof(number) == 2) {
        matrix_load_x4_transposed(a, shared_address(left + across_at<number, MMA_ROWS>(term + lane / 16 * 8 + lane % 8,
                                                                                       row / 8 + lane / 8 % 2)));
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++)
            a[j] = across_word<number, MMA_ROWS>(left, term + lane % 4 + j / 2 * 4, row + lane / 4 + j % 2 * 8);
    }
}

/* The right operands of 16 columns: b[0..1] of the first 8 columns, b[2..3] of the others. */
template <class number, bool along, int columns>
static __device__ __forceinline__ void mma_right(uint32_t (&b)[4], const number *right, int column, int at) {
    const int lane = (int)threadIdx.x % 32, term = at * mma_numbers<number>::piece;
    if (along) {
        matrix_load_x4(b,
                       shared_address(right + along_at<number>(column + lane % 8 + lane / 16 * 8, at + lane / 8 % 2)));
    } else if (sizeof(number) == 2) {
        matrix_load_x4_transposed(
            b, shared_address(right + across_at<number, columns>(term + lane % 16, column / 8 + lane / 16)));
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++)
            b[j] = across_word<number, columns>(right, term + lane % 4 + j % 2 * 4, column + lane / 4 + j / 2 * 8);
    }
}

/* How the warps share the sums: each has 64 x 32 of 128 x 128, or 32 x 32 of 128 x 64. */
template <int columns> struct mma_warp_tile {
    static const int row_tiles = columns == 128 ? 4 : 2, column_tiles = 4;
    static __device__ __forceinline__ int row() { return (int)threadIdx.x / 32 / (columns / 32) * (16 * row_tiles); }
    static __device__ __forceinline__ int column() { return (int)threadIdx.x / 32 % (columns / 32) * 32; }
};

template <int columns> struct mma_sums {
    float at[mma_warp_tile<columns>::row_tiles][mma_warp_tile<columns>::column_tiles][4];
};

/* Operands as the tensor cores take them. */
template <class number, int count> static __device__ __forceinline__ void mma_ready(uint32_t (&)[count], number) {}
template <int count> static __device__ __forceinline__ void mma_ready(uint32_t (&words)[count], tf32) {
#pragma unroll
    for (int j = 0; j < count; j++) words[j] = tf32_word(words[j]);
}

template <class number> struct mma_product {
    /* The products of two pieces of terms, from piece `at` on. */
    template <bool left_along, bool right_along, int columns>
    static __device__ __forceinline__ void add(mma_sums<columns> *sums, const number *left, const number *right,
                                               int at) {
        typedef mma_warp_tile<columns> warp;
        uint32_t a[warp::row_tiles][4], b[warp::column_tiles / 2][4];
#pragma unroll
        for (int i = 0; i < warp::row_tiles; i++) {
            mma_left<number, left_along>(a[i], left, warp::row() + 16 * i, at);
            mma_ready(a[i], number());
        }
#pragma unroll
        for (int j = 0; j < warp::column_tiles / 2; j++) {
            mma_right<number, right_along, columns>(b[j], right, warp::column() + 16 * j, at);
            mma_ready(b[j], number());
        }
#pragma unroll
        for (int i = 0; i < warp::row_tiles; i++) {
#pragma unroll
            for (int j = 0; j < warp::column_tiles; j++) {
                const uint32_t half[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
                mma(sums->at[i][j], a[i], half, number());
            }
        }
    }
};

/* f32 by three products of TF32: every operand is the sum of a large and a small number, and the product of the small
 * ones is left out. It is 2^-24 of the whole, as is what the small numbers lose. */
template <> struct mma_product<f32> {
    template <bool left_along, bool right_along, int columns>
    static __device__ __forceinline__ void add(mma_sums<columns> *sums, const f32 *left, const f32 *right, int at) {
        typedef mma_warp_tile<columns> warp;
        uint32_t large[warp::column_tiles][2], small[warp::column_tiles][2];
#pragma unroll
        for (int j = 0; j < warp::column_tiles / 2; j++) {
            uint32_t b[4];
            mma_right<f32, right_along, columns>(b, right, warp::column() + 16 * j, at);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                large[2 * j + k / 2][k % 2] = tf32_word(b[k]);
                small[2 * j + k / 2][k % 2] = tf32_rest(b[k]);
            }
        }
#pragma unroll
        for (int i = 0; i < warp::row_tiles; i++) {
            uint32_t a[4], rest[4];
            mma_left<f32, left_along>(a, left, warp::row() + 16 * i, at);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                rest[k] = tf32_rest(a[k]);
                a[k] = tf32_word(a[k]);
            }
#pragma unroll
            for (int j = 0; j < warp::column_tiles; j++) {
                mma(sums->at[i][j], rest, large[j], tf32());
                mma(sums->at[i][j], a, small[j], tf32());
                mma(sums->at[i][j], a, large[j], tf32());
            }
        }
    }
};

/* The sums of `stages` stages. Behind it all of the shared memory is free. */
template <class number, bool left_along, bool right_along, int columns, class loader>
static __device__ __forceinline__ void mma_run(mma_sums<columns> *sums, number *shared, int32_t stages, loader *from) {
    const int left_size = mma_size<number, left_along, MMA_ROWS>();
    const int size = left_size + mma_size<number, right_along, columns>();
#pragma unroll
    for (int stage = 0; stage < MMA_STAGES - 1; stage++) {
        if (stage < stages) from->load(shared + stage * size, shared + stage * size + left_size);
        copy_async_commit();
    }
    for (int32_t stage = 0; stage < stages; stage++) {
        copy_async_wait<MMA_STAGES - 2>();
        __syncthreads();
        const int32_t next = stage + MMA_STAGES - 1;
        number *to = shared + next % MMA_STAGES * size;
        if (next < stages) from->load(to, to + left_size);
        copy_async_commit();
        const number *at = shared + stage % MMA_STAGES * size;
#pragma unroll
        for (int piece = 0; piece < 4; piece += 2)
            mma_product<number>::template add<left_along, right_along>(sums, at, at + left_size, piece);
    }
    copy_async_wait<0>();
    __syncthreads();
}

#endif
