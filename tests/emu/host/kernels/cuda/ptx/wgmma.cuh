/*
 * The host version of kernels/cuda/ptx/wgmma.cuh, by the emulator (tests/emu/block.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_WGMMA_CUH
#define BRAID_KERNELS_CUDA_PTX_WGMMA_CUH

#include "kernels/cuda/ptx/number.cuh"
#include "tests/emu/block.h"

struct shared_matrix {
    uint32_t low, high;
};

static inline shared_matrix matrix_described(uint32_t address, uint32_t leading, uint32_t stride) {
    return {((address & 0x3FFFFu) >> 4) | leading >> 4 << 16, stride >> 4 | 1u << 30};
}

static inline shared_matrix matrix_along_rows(uint32_t address) { return matrix_described(address, 16, 1024); }

static inline shared_matrix matrix_down_rows(uint32_t address, uint32_t leading) {
    return matrix_described(address, leading, 1024);
}

static inline shared_matrix matrix_moved(shared_matrix from, uint32_t bytes) {
    return {from.low + (bytes >> 4), from.high};
}

static inline int emu_is_bf16(f16) { return 0; }

static inline int emu_is_bf16(bf16) { return 1; }

template <class number, int columns, int transposed_a = 0, int transposed_b = 0>
static inline void wgmma(float (&sum)[columns / 2], shared_matrix a, shared_matrix b, int add, EMU_HERE_PARAMETERS) {
    static_assert(columns % 8 == 0 && columns >= 8 && columns <= 256, "what the hardware takes");
    emu_wgmma({sum,
               columns,
               emu_is_bf16(number()),
               transposed_a,
               transposed_b,
               add,
               (uint64_t)a.high << 32 | a.low,
               (uint64_t)b.high << 32 | b.low,
               false,
               {}},
              EMU_HERE);
}

template <class number, int columns, int transposed_b = 0>
static inline void wgmma_held(float (&sum)[columns / 2], const uint32_t (&a)[4], shared_matrix b, int add,
                              EMU_HERE_PARAMETERS) {
    static_assert(columns == 56 || columns == 64, "what wgmma_shapes.cuh has");
    emu_wgmma({sum,
               columns,
               emu_is_bf16(number()),
               0,
               transposed_b,
               add,
               0,
               (uint64_t)b.high << 32 | b.low,
               true,
               {a[0], a[1], a[2], a[3]}},
              EMU_HERE);
}

static inline void wgmma_begin(void) {}

static inline void wgmma_commit(void) { emu_wgmma_commit(); }

template <int left> static inline void wgmma_wait(EMU_HERE_PARAMETERS) { emu_wgmma_wait(left, EMU_HERE); }

template <int count> static inline void wgmma_hold(float (&sum)[count]) { (void)sum; }

#endif
