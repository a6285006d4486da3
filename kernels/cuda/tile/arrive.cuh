/*
 * Blocks that share a result: each leaves its part in global memory and arrives at a counter, and the one that comes
 * last finds all parts there and adds them in an order of the problem's own, so that the bits do not depend on who came
 * when, and no second launch is needed. Counters are zero before and behind every launch (backend/cuda/cuda.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_ARRIVE_CUH
#define BRAID_KERNELS_CUDA_TILE_ARRIVE_CUH

#include <stdint.h>

/* For all threads of a block: true in the last of `count` blocks to come to a counter, which that one leaves at zero.
 * What any of them wrote to global memory before may then be read. */
static __device__ __forceinline__ bool arrives_last(uint32_t *counter, int32_t count) {
    bool is_last = false;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicInc(counter, (uint32_t)count - 1) == (uint32_t)count - 1; /* and goes back to zero */
        __threadfence();
    }
    return __syncthreads_or(is_last);
}

#endif
