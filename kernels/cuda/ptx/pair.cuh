/*
 * Two 16-bit numbers in one register, the first in the low half, as matrix instructions take them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_PAIR_CUH
#define BRAID_KERNELS_CUDA_PTX_PAIR_CUH

#include <stdint.h>

#include "kernels/cuda/ptx/number.cuh"

/* Rounded to nearest even; bf16 denormals become zeros, as store does. */
template <class number> static __device__ __forceinline__ uint32_t pair_made(float first, float second);

template <> __device__ __forceinline__ uint32_t pair_made<f16>(float first, float second) {
    uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

template <> __device__ __forceinline__ uint32_t pair_made<bf16>(float first, float second) {
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(flush_denormal(second)), "f"(flush_denormal(first)));
    return pair;
}

/* Number `i` (0 or 1) of a pair. */
template <class number> static __device__ __forceinline__ float pair_at(uint32_t pair, int i) {
    number half;
    half.bits = (uint16_t)(pair >> (16 * i));
    return load(&half);
}

#endif
