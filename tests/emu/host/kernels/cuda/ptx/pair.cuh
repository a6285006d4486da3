/*
 * The host version of kernels/cuda/ptx/pair.cuh, by the emulator (tests/emu/block.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_PAIR_CUH
#define BRAID_KERNELS_CUDA_PTX_PAIR_CUH

#include "kernels/cuda/ptx/number.cuh"

template <class number> static inline uint32_t pair_made(float first, float second) {
    number halves[2];
    store(&halves[0], first);
    store(&halves[1], second);
    return halves[0].bits | (uint32_t)halves[1].bits << 16;
}

template <class number> static inline float pair_at(uint32_t pair, int i) {
    number half;
    half.bits = (uint16_t)(pair >> (16 * i));
    return load(&half);
}

#endif
