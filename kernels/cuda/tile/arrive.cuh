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

/* What this thread knows of is known on the whole device before what it does next, and the other way round. Lighter
 * than __threadfence, which puts all fences of the device in one order. */
static __device__ __forceinline__ void arrive_fence() {
#ifdef __CUDA_ARCH__
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
#else
    __threadfence();
#endif
}

/* How many have come to a counter, or had a moment ago. What they wrote before may be read. */
static __device__ __forceinline__ uint32_t arrive_look(const uint32_t *counter) {
    uint32_t come;
#ifdef __CUDA_ARCH__
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(come) : "l"(counter) : "memory");
#else
    come = __ldcv(counter);
#endif
    return come;
}

/* Comes to a counter, which goes from `last` back to zero. How many have come before: what they wrote may be read. */
static __device__ __forceinline__ uint32_t arrive_count(uint32_t *counter, uint32_t last) {
    uint32_t come;
#ifdef __CUDA_ARCH__
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(come) : "l"(counter), "r"(last) : "memory");
#else
    come = atomicInc(counter, last);
#endif
    return come;
}

/* For all threads of a block: waits until `count` have come to a counter, which must be certain without this block.
 * What they wrote before may then be read. */
static __device__ __forceinline__ void arrive_wait(const uint32_t *counter, uint32_t count) {
    if (threadIdx.x == 0) {
        while (arrive_look(counter) < count) __nanosleep(64);
    }
    __syncthreads();
}

/* For all threads of a block: true in the last of `count` blocks to come to a counter, which that one leaves at zero.
 * What any of them wrote to global memory before may then be read. */
static __device__ __forceinline__ bool arrives_last(uint32_t *counter, int32_t count) {
    bool is_last = false;
    __syncthreads();
    if (threadIdx.x == 0) {
        arrive_fence();
        is_last = atomicInc(counter, (uint32_t)count - 1) == (uint32_t)count - 1; /* and goes back to zero */
        if (is_last) arrive_fence();
    }
    return __syncthreads_or(is_last);
}

#endif
