/*
 * Matrix products of a warp on the tensor cores with 8 terms, half of those of mma.cuh: there is no a[2], a[3], b[1].
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_MMA_SHORT_CUH
#define BRAID_KERNELS_CUDA_PTX_MMA_SHORT_CUH

#include "kernels/cuda/ptx/number.cuh"

static __device__ __forceinline__ void mma_short(float (&sum)[4], const uint32_t (&a)[2], uint32_t b, f16) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
}

static __device__ __forceinline__ void mma_short(float (&sum)[4], const uint32_t (&a)[2], uint32_t b, bf16) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
}

#endif
