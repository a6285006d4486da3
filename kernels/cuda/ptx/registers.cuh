/*
 * Registers that warpgroups hand to each other: a producer gives, the consumers take. Every thread of a
 * warpgroup does it, and the kernel says its threads in __launch_bounds__(threads, 1).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_REGISTERS_CUH
#define BRAID_KERNELS_CUDA_PTX_REGISTERS_CUH

/* Keeps `count` registers for each thread, a multiple of 8 from 24 to 256. */
template <int count> static __device__ __forceinline__ void registers_give(void) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(count) : "memory");
}

template <int count> static __device__ __forceinline__ void registers_take(void) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(count) : "memory");
}

/* A value that all lanes of a warp hold alike, said so that the compiler knows. */
static __device__ __forceinline__ int warp_uniform(int value) { return __shfl_sync(0xFFFFFFFFu, value, 0); }

#endif
