/*
 * The host version of kernels/cuda/ptx/mma_short.cuh: terms that are zero on both sides add nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_MMA_SHORT_CUH
#define BRAID_KERNELS_CUDA_PTX_MMA_SHORT_CUH

#include "kernels/cuda/ptx/mma.cuh"

template <class number> static inline void mma_short(float (&sum)[4], const uint32_t (&a)[2], uint32_t b, number) {
    const uint32_t long_a[4] = {a[0], a[1], 0, 0}, long_b[2] = {b, 0};
    mma(sum, long_a, long_b, number());
}

#endif
