/*
 * The host version of kernels/cuda/ptx/barrier.cuh, by the emulator (tests/emu/block.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_BARRIER_CUH
#define BRAID_KERNELS_CUDA_PTX_BARRIER_CUH

#include "tests/emu/block.h"

#define BARRIER_BYTES 8

static inline void barrier_init(uint32_t barrier, uint32_t arrivals, EMU_HERE_PARAMETERS) {
    emu_phase_init(barrier, arrivals, EMU_HERE);
}

static inline void barrier_publish(void) {}

static inline void barrier_expect(uint32_t barrier, uint32_t bytes, EMU_HERE_PARAMETERS) {
    emu_phase_arrive(barrier, bytes, EMU_HERE);
}

static inline void barrier_arrive(uint32_t barrier, EMU_HERE_PARAMETERS) { emu_phase_arrive(barrier, 0, EMU_HERE); }

static inline void barrier_wait(uint32_t barrier, uint32_t parity, EMU_HERE_PARAMETERS) {
    emu_phase_wait(barrier, parity, EMU_HERE);
}

static inline void fence_async(void) {}

static inline void named_sync(int id, int threads, EMU_HERE_PARAMETERS) { emu_named(id, threads, true, EMU_HERE); }

static inline void named_arrive(int id, int threads, EMU_HERE_PARAMETERS) { emu_named(id, threads, false, EMU_HERE); }

#endif
