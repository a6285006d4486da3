/*
 * Exchanges among the four lanes that hold one row of a product's sums.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_QUAD_CUH
#define BRAID_KERNELS_CUDA_TILE_QUAD_CUH

#include <stdint.h>

/* word[j] of lane i goes to word[i] of lane j, lanes counted within each four. All lanes of a warp take part. */
static __device__ __forceinline__ void quad_transpose(uint32_t (&word)[4]) {
#pragma unroll
    for (int step = 1; step <= 2; step *= 2) {
        const bool upper = threadIdx.x & (unsigned)step;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (j & step) continue;
            const uint32_t given = upper ? word[j] : word[j + step];
            const uint32_t taken = __shfl_xor_sync(0xFFFFFFFFu, given, step);
            if (upper) {
                word[j] = taken;
            } else {
                word[j + step] = taken;
            }
        }
    }
}

#endif
