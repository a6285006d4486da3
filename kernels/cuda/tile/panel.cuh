/*
 * Panels: matrices of 64 halves in a row, 128 bytes, in shared memory, in an order that the matrix units read without
 * waiting: 16-byte piece j of row r lies in place j ^ (r % 8) of its row, which is also the 128-byte swizzle of sm_90.
 * A panel begins at a multiple of 1024.
 *
 * Products are made by groups of 128 threads, 64 rows of sums each: panel_mma.cuh and panel_wgmma.cuh, two ways with
 * the same functions and the same places of the sums. Sum 4 j + i of thread t of a group belongs to row 16 (t / 32) +
 * t % 32 / 4 + 8 (i / 2) and column 8 j + 2 (t % 4) + i % 2.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_PANEL_CUH
#define BRAID_KERNELS_CUDA_TILE_PANEL_CUH

#include "kernels/cuda/ptx/matrix.cuh"
#include "kernels/cuda/ptx/mma.cuh"
#include "kernels/cuda/ptx/pair.cuh"
#include "kernels/cuda/tile/panel.h"
#include "kernels/cuda/tile/quad.cuh"
#include "kernels/cuda/ptx/shared.cuh"

static __device__ __forceinline__ unsigned char *panel_at(unsigned char *panel, int row, int piece) {
    return panel + row * PANEL_ROW_BYTES + ((piece ^ (row & 7)) << 4);
}

static __device__ __forceinline__ uint32_t panel_address(unsigned char *panel, int row, int piece) {
    return shared_address(panel_at(panel, row, piece));
}

/* A block of 256 threads loads 32 rows at a time: the row and the piece of this thread. */
static __device__ __forceinline__ int panel_row() { return (int)threadIdx.x / PANEL_PIECES; }

static __device__ __forceinline__ int panel_piece() { return (int)threadIdx.x % PANEL_PIECES; }

/* Which of the block's groups this thread belongs to. */
static __device__ __forceinline__ int panel_group() { return (int)threadIdx.x / PANEL_GROUP; }

/* The first of this thread's two rows of sums; the other one is 8 below. */
static __device__ __forceinline__ int panel_sum_row() {
    return (int)threadIdx.x % PANEL_GROUP / 32 * 16 + (int)threadIdx.x % 32 / 4;
}

/* Columns [32 j + panel_run_column(), + 8) of the thread's first (0) or second (1) row, rounded, side by side: 16
 * bytes. All lanes of a warp take part. */
static __device__ __forceinline__ int panel_run_column() { return (int)threadIdx.x % 4 * 8; }

template <class number, int count>
static __device__ __forceinline__ void panel_run(uint32_t (&run)[4], const float (&sum)[count], int second, int j) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = 4 * (4 * j + i) + 2 * second;
        run[i] = pair_made<number>(sum[at], sum[at + 1]);
    }
    quad_transpose(run);
}

/* The same with the run's own numbers added before they are rounded; `blank`: and nothing of the sums. */
template <class number, int count>
static __device__ __forceinline__ void panel_run_added(uint32_t (&run)[4], const float (&sum)[count], bool blank,
                                                       int second, int j) {
    quad_transpose(run); /* which turns a run back into the columns of the sums */
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = 4 * (4 * j + i) + 2 * second;
        const float first = blank ? 0 : sum[at], next = blank ? 0 : sum[at + 1];
        run[i] = pair_made<number>(first + pair_at<number>(run[i], 0), next + pair_at<number>(run[i], 1));
    }
    quad_transpose(run);
}

#endif
