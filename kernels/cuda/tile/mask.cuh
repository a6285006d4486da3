/*
 * How many samples of a stream are active.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_MASK_CUH
#define BRAID_KERNELS_CUDA_TILE_MASK_CUH

#include <stdint.h>

#include "kernels/cuda/tile/shape.h"

/* Active samples, counted by all threads of the block together; `shared` has room for one number each. */
static __device__ __forceinline__ int64_t mask_active(const uint32_t *mask, int64_t batch, int64_t *shared) {
    if (!mask) return batch;
    int64_t blanked = 0;
    for (int64_t word = threadIdx.x; word * 32 < batch; word += BLOCK_THREADS) {
        const int64_t rest = batch - word * 32;
        const uint32_t valid = rest < 32 ? (1u << rest) - 1 : 0xFFFFFFFFu;
        blanked += __popc(mask[word] & valid);
    }
    __syncthreads(); /* nobody reads the last count any more */
    shared[threadIdx.x] = blanked;
    __syncthreads();
    for (int half = BLOCK_THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    return batch - shared[0];
}

#endif
