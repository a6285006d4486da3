/*
 * Products of panels by the matrix units of sm_90, which a group of four warps feeds. They go on while the threads do
 * other things; wgmma.cuh says how to wait.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_PANEL_WGMMA_CUH
#define BRAID_KERNELS_CUDA_INTEGRATE_PANEL_WGMMA_CUH

#include "kernels/cuda/tile/panel.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

/* As in panel_mma.cuh, begun and committed as one group of products; a and b are shared addresses. */
template <class number, bool turned_a, bool turned_b, int count>
static __device__ __forceinline__ void panel_add(float (&sum)[count], uint32_t a, uint32_t b, bool add) {
    const shared_matrix left = turned_a ? matrix_down_rows(a, PANEL_SQUARE_BYTES) : matrix_along_rows(a);
    const shared_matrix right = turned_b ? matrix_down_rows(b, PANEL_SQUARE_BYTES) : matrix_along_rows(b);
    wgmma_begin();
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        wgmma<number, 2 * count, turned_a, turned_b>(sum, matrix_moved(left, k * (turned_a ? 2048 : 32)),
                                                     matrix_moved(right, k * (turned_b ? 2048 : 32)), add || k > 0);
    wgmma_commit();
}

#endif
