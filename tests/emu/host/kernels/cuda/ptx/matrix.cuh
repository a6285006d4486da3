/*
 * The host version of kernels/cuda/ptx/matrix.cuh, by the emulator (tests/emu/block.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_MATRIX_CUH
#define BRAID_KERNELS_CUDA_PTX_MATRIX_CUH

#include <string.h>

#include "tests/emu/block.h"

/* The two 16-bit elements of a thread in one matrix: where they lie, by the addresses that the lanes gave. */
static inline unsigned char *emu_matrix_element(int matrix, int element, bool transposed, emu_place at) {
    const unsigned lane = threadIdx.x % 32, along = 2 * (lane % 4) + (unsigned)element;
    const unsigned row = transposed ? along : lane / 4, column = transposed ? lane / 4 : along;
    uint32_t address;
    memcpy(&address, emu_warp_slot((unsigned)matrix * 8 + row), sizeof address);
    if (address % 16) emu_fail("a row of a matrix that is not at a multiple of 16", at);
    return emu_shared(address, 16, at) + 2 * column;
}

static inline void emu_matrix_share(uint32_t address, emu_place at) {
    memcpy(emu_warp_slot(threadIdx.x % 32), &address, sizeof address);
    emu_warp_meet(at);
}

static inline void emu_matrix_store(uint32_t to, const uint32_t *from, int count, bool transposed, emu_place at) {
    emu_matrix_share(to, at);
    for (int i = 0; i < 2 * count; i++) {
        const uint16_t half = (uint16_t)(from[i / 2] >> 16 * (i % 2));
        memcpy(emu_matrix_element(i / 2, i % 2, transposed, at), &half, 2);
    }
    emu_warp_meet(at);
}

static inline void emu_matrix_load(uint32_t *to, uint32_t from, int count, bool transposed, emu_place at) {
    emu_matrix_share(from, at);
    for (int i = 0; i < count; i++) {
        uint16_t half[2];
        for (int j = 0; j < 2; j++) memcpy(&half[j], emu_matrix_element(i, j, transposed, at), 2);
        to[i] = half[0] | (uint32_t)half[1] << 16;
    }
    emu_warp_meet(at);
}

static inline void matrix_store_x4(uint32_t to, const uint32_t (&from)[4], EMU_HERE_PARAMETERS) {
    emu_matrix_store(to, from, 4, false, EMU_HERE);
}

static inline void matrix_store_x2(uint32_t to, const uint32_t (&from)[2], EMU_HERE_PARAMETERS) {
    emu_matrix_store(to, from, 2, false, EMU_HERE);
}

static inline void matrix_store_x4_transposed(uint32_t to, const uint32_t (&from)[4], EMU_HERE_PARAMETERS) {
    emu_matrix_store(to, from, 4, true, EMU_HERE);
}

static inline void matrix_store_x2_transposed(uint32_t to, const uint32_t (&from)[2], EMU_HERE_PARAMETERS) {
    emu_matrix_store(to, from, 2, true, EMU_HERE);
}

static inline void matrix_load_x4(uint32_t (&to)[4], uint32_t from, EMU_HERE_PARAMETERS) {
    emu_matrix_load(to, from, 4, false, EMU_HERE);
}

static inline void matrix_load_x2(uint32_t (&to)[2], uint32_t from, EMU_HERE_PARAMETERS) {
    emu_matrix_load(to, from, 2, false, EMU_HERE);
}

static inline void matrix_load_x4_transposed(uint32_t (&to)[4], uint32_t from, EMU_HERE_PARAMETERS) {
    emu_matrix_load(to, from, 4, true, EMU_HERE);
}

static inline void matrix_load_x2_transposed(uint32_t (&to)[2], uint32_t from, EMU_HERE_PARAMETERS) {
    emu_matrix_load(to, from, 2, true, EMU_HERE);
}

#endif
