/*
 * Products of panels by the matrix instructions of a warp (sm_80 and newer): each warp of a group makes 16 rows of
 * sums. They are there when panel_add returns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_PANEL_MMA_CUH
#define BRAID_KERNELS_CUDA_INTEGRATE_PANEL_MMA_CUH

#include "kernels/cuda/tile/panel.cuh"

/* sum = a b + (add ? sum : 0), over the 64 terms that one panel holds. a has 64 rows, those of the group; where it is
 * turned its rows are the terms and its columns the group's rows. b has a row for each column of the sum; where it is
 * turned its rows are the terms, and each further 64 columns are a panel of their own. */
template <class number, bool turned_a, bool turned_b, int count>
static __device__ __forceinline__ void panel_add(float (&sum)[count], unsigned char *a, unsigned char *b, bool add) {
    if (!add) {
        for (int j = 0; j < count; j++) sum[j] = 0;
    }
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32 % 4;
    /* What this lane reads of the first 16 terms; 16 columns on in a panel are 2 pieces, which the order turns into the
     * exclusive or of the address, and 16 rows are 2048 bytes. */
    const uint32_t from_a = turned_a ? panel_address(a, lane % 8 + lane / 16 * 8, 2 * warp + lane / 8 % 2)
                                     : panel_address(a, 16 * warp + lane % 16, lane / 16);
    const uint32_t from_b =
        turned_b ? panel_address(b, lane % 16, lane / 16) : panel_address(b, lane / 16 * 8 + lane % 8, lane / 8 % 2);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint32_t left[4], right[4];
        if (turned_a) {
            matrix_load_x4_transposed(left, from_a + (uint32_t)k * 2048);
        } else {
            matrix_load_x4(left, from_a ^ (uint32_t)k << 5);
        }
#pragma unroll
        for (int j = 0; j < count / 8; j++) { /* 16 columns of the sum's 2 * count */
            if (turned_b) {
                const uint32_t panel = from_b + (uint32_t)(j / 4 * PANEL_SQUARE_BYTES);
                matrix_load_x4_transposed(right, (panel ^ (uint32_t)(j % 4) << 5) + (uint32_t)k * 2048);
            } else {
                matrix_load_x4(right, (from_b ^ (uint32_t)k << 5) + (uint32_t)j * 2048);
            }
            const uint32_t first[2] = {right[0], right[1]}, second[2] = {right[2], right[3]};
            mma(*(float(*)[4])(sum + 8 * j), left, first, number());
            mma(*(float(*)[4])(sum + 8 * j + 4), left, second, number());
        }
    }
}

#endif
