/*
 * The host version of kernels/cuda/tile/registers.cuh, by the emulator (tests/emu/block.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_REGISTERS_CUH
#define BRAID_KERNELS_CUDA_TILE_REGISTERS_CUH

template <int count> static inline void registers_give(void) {
    static_assert(count >= 24 && count <= 256 && count % 8 == 0, "what the hardware takes");
}

template <int count> static inline void registers_take(void) {
    static_assert(count >= 24 && count <= 256 && count % 8 == 0, "what the hardware takes");
}

static inline int warp_uniform(int value) { return value; }

#endif
