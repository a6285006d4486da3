/*
 * The host version of kernels/cuda/ptx/shared.cuh, by the emulator (tests/emu/block.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_SHARED_CUH
#define BRAID_KERNELS_CUDA_PTX_SHARED_CUH

#include <string.h>

#include "tests/emu/block.h"

static inline void *shared_memory(void) { return emu_shared_begin(); }

static inline uint32_t shared_address(const void *at) { return emu_shared_address(at); }

static inline void shared_read(uint32_t (&to)[4], uint32_t from, EMU_HERE_PARAMETERS) {
    if (from % 16) emu_fail("a read at an address that is not a multiple of 16", EMU_HERE);
    memcpy(to, emu_shared(from, 16, EMU_HERE), 16);
}

static inline void shared_write(uint32_t to, const uint32_t (&from)[4], EMU_HERE_PARAMETERS) {
    if (to % 16) emu_fail("a write at an address that is not a multiple of 16", EMU_HERE);
    memcpy(emu_shared(to, 16, EMU_HERE), from, 16);
}

static inline void shared_clear(uint32_t to, EMU_HERE_PARAMETERS) {
    const uint32_t zeros[4] = {0, 0, 0, 0};
    shared_write(to, zeros, file, line);
}

static inline uint32_t shared_read_word(uint32_t from, EMU_HERE_PARAMETERS) {
    uint32_t word;
    if (from % 4) emu_fail("a read at an address that is not a multiple of 4", EMU_HERE);
    memcpy(&word, emu_shared(from, 4, EMU_HERE), 4);
    return word;
}

static inline void shared_write_word(uint32_t to, uint32_t word, EMU_HERE_PARAMETERS) {
    if (to % 4) emu_fail("a write at an address that is not a multiple of 4", EMU_HERE);
    memcpy(emu_shared(to, 4, EMU_HERE), &word, 4);
}

static inline float shared_read_f32(uint32_t from, EMU_HERE_PARAMETERS) {
    float value;
    if (from % 4) emu_fail("a read at an address that is not a multiple of 4", EMU_HERE);
    memcpy(&value, emu_shared(from, 4, EMU_HERE), 4);
    return value;
}

static inline void shared_read_pair(float (&to)[2], uint32_t from, EMU_HERE_PARAMETERS) {
    if (from % 8) emu_fail("a read at an address that is not a multiple of 8", EMU_HERE);
    memcpy(to, emu_shared(from, 8, EMU_HERE), 8);
}

static inline void shared_write_f32(uint32_t to, float value, EMU_HERE_PARAMETERS) {
    if (to % 4) emu_fail("a write at an address that is not a multiple of 4", EMU_HERE);
    memcpy(emu_shared(to, 4, EMU_HERE), &value, 4);
}

#endif
