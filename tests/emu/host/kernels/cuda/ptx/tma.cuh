/*
 * The host version of kernels/cuda/ptx/tma.cuh, by the emulator (tests/emu/block.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_TMA_CUH
#define BRAID_KERNELS_CUDA_PTX_TMA_CUH

#include "tests/emu/block.h"

static inline void tma_prefetch(const cuda_tensor_map *map) { (void)map; }

static inline void tma_load_2d(uint32_t to, const cuda_tensor_map *map, uint32_t barrier, int c0, int c1,
                               EMU_HERE_PARAMETERS) {
    const int at[] = {c0, c1};
    emu_load(to, map, barrier, 2, at, nullptr, EMU_HERE);
}

static inline void tma_load_3d(uint32_t to, const cuda_tensor_map *map, uint32_t barrier, int c0, int c1, int c2,
                               EMU_HERE_PARAMETERS) {
    const int at[] = {c0, c1, c2};
    emu_load(to, map, barrier, 3, at, nullptr, EMU_HERE);
}

static inline void tma_load_4d(uint32_t to, const cuda_tensor_map *map, uint32_t barrier, int c0, int c1, int c2,
                               int c3, EMU_HERE_PARAMETERS) {
    const int at[] = {c0, c1, c2, c3};
    emu_load(to, map, barrier, 4, at, nullptr, EMU_HERE);
}

static inline void tma_load_5d(uint32_t to, const cuda_tensor_map *map, uint32_t barrier, int c0, int c1, int c2,
                               int c3, int c4, EMU_HERE_PARAMETERS) {
    const int at[] = {c0, c1, c2, c3, c4};
    emu_load(to, map, barrier, 5, at, nullptr, EMU_HERE);
}

static inline void tma_load_im2col_4d(uint32_t to, const cuda_tensor_map *map, uint32_t barrier, int c, int w, int h,
                                      int n, uint16_t offset_w, uint16_t offset_h, EMU_HERE_PARAMETERS) {
    const int at[] = {c, w, h, n}, offset[] = {offset_w, offset_h};
    emu_load(to, map, barrier, 4, at, offset, EMU_HERE);
}

static inline void tma_store_2d(const cuda_tensor_map *map, uint32_t from, int c0, int c1, EMU_HERE_PARAMETERS) {
    const int at[] = {c0, c1};
    emu_store(map, from, 2, at, EMU_HERE);
}

static inline void tma_store_3d(const cuda_tensor_map *map, uint32_t from, int c0, int c1, int c2,
                                EMU_HERE_PARAMETERS) {
    const int at[] = {c0, c1, c2};
    emu_store(map, from, 3, at, EMU_HERE);
}

static inline void tma_store_4d(const cuda_tensor_map *map, uint32_t from, int c0, int c1, int c2, int c3,
                                EMU_HERE_PARAMETERS) {
    const int at[] = {c0, c1, c2, c3};
    emu_store(map, from, 4, at, EMU_HERE);
}

static inline void tma_commit(void) { emu_store_commit(); }

template <int left> static inline void tma_wait_read(void) { emu_store_wait(left); }

template <int left> static inline void tma_wait(void) { emu_store_wait(left); }

#endif
