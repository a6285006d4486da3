/*
 * The host version of kernels/cuda/ptx/registers.cuh, by the emulator (tests/emu/block.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_REGISTERS_CUH
#define BRAID_KERNELS_CUDA_PTX_REGISTERS_CUH

#include "tests/emu/block.h"

template <int count> static inline void registers_give(EMU_HERE_PARAMETERS) {
    static_assert(count >= 24 && count <= 256 && count % 8 == 0, "what the hardware takes");
    emu_registers(count, EMU_HERE);
}

template <int count> static inline void registers_take(EMU_HERE_PARAMETERS) {
    static_assert(count >= 24 && count <= 256 && count % 8 == 0, "what the hardware takes");
    emu_registers(count, EMU_HERE);
}

static inline int warp_uniform(int value) { return value; }

#endif
