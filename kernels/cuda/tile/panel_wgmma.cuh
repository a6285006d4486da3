/*
 * Products of panels by the matrix units of sm_90, which a group of four warps feeds. They go on while the threads do
 * other things: panel_wait says when the sums are there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_PANEL_WGMMA_CUH
#define BRAID_KERNELS_CUDA_TILE_PANEL_WGMMA_CUH

#include "kernels/cuda/tile/barrier.cuh"
#include "kernels/cuda/tile/panel.cuh"
#include "kernels/cuda/tile/wgmma.cuh"

#define PANEL_BEHIND 1 /* steps whose panels may still be read while the copies of new ones are started */

/* See panel_mma.cuh. */
template <class number, bool turned_a, bool turned_b, int count>
static __device__ __forceinline__ void panel_add(float (&sum)[count], unsigned char *a, unsigned char *b, bool add) {
    const uint32_t from_a = shared_address(a), from_b = shared_address(b);
    const shared_matrix left = turned_a ? matrix_down_rows(from_a, PANEL_SQUARE_BYTES) : matrix_along_rows(from_a);
    const shared_matrix right = turned_b ? matrix_down_rows(from_b, PANEL_SQUARE_BYTES) : matrix_along_rows(from_b);
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        wgmma<number, 2 * count, turned_a, turned_b>(sum, matrix_moved(left, k * (turned_a ? 2048 : 32)),
                                                     matrix_moved(right, k * (turned_b ? 2048 : 32)), add || k > 0);
}

static __device__ __forceinline__ void panel_ready() { fence_async(); }

static __device__ __forceinline__ void panel_begin() { wgmma_begin(); }

static __device__ __forceinline__ void panel_end() { wgmma_commit(); }

template <int left, int count> static __device__ __forceinline__ void panel_wait(float (&sum)[count]) {
    wgmma_wait<left>();
    if (left == 0) wgmma_hold(sum);
}

#endif
