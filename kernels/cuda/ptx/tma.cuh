/*
 * The copy engine: boxes of a tensor, as a tensor map describes it (src/backend/cuda/tensor_map.h), to and from
 * shared memory. One thread asks for a copy. A load tells a barrier the bytes of the whole box, whatever lies beyond
 * the edge; what does is zero, and is not stored (a store counts the innermost size in pieces of 16 bytes).
 * Coordinates are of the first element, innermost first, and may be negative. Shared addresses are multiples of 128, of
 * 1024 where 128-byte swizzles begin.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_TMA_CUH
#define BRAID_KERNELS_CUDA_PTX_TMA_CUH

#include <stdint.h>

#include "backend/cuda/tensor_map.h"

/* Brings the map itself closer, before its first use. */
static __device__ __forceinline__ void tma_prefetch(const cuda_tensor_map *map) {
    asm volatile("prefetch.tensormap [%0];" : : "l"((uint64_t)map) : "memory");
}

#define TMA_LOAD(rank) "cp.async.bulk.tensor." rank ".shared::cluster.global.tile.mbarrier::complete_tx::bytes "
#define TMA_STORE(rank) "cp.async.bulk.tensor." rank ".global.shared::cta.tile.bulk_group "

static __device__ __forceinline__ void tma_load_2d(uint32_t to, const cuda_tensor_map *map, uint32_t barrier, int c0,
                                                   int c1) {
    asm volatile(TMA_LOAD("2d") "[%0], [%1, {%2, %3}], [%4];"
                 :
                 : "r"(to), "l"((uint64_t)map), "r"(c0), "r"(c1), "r"(barrier)
                 : "memory");
}

static __device__ __forceinline__ void tma_load_3d(uint32_t to, const cuda_tensor_map *map, uint32_t barrier, int c0,
                                                   int c1, int c2) {
    asm volatile(TMA_LOAD("3d") "[%0], [%1, {%2, %3, %4}], [%5];"
                 :
                 : "r"(to), "l"((uint64_t)map), "r"(c0), "r"(c1), "r"(c2), "r"(barrier)
                 : "memory");
}

static __device__ __forceinline__ void tma_load_4d(uint32_t to, const cuda_tensor_map *map, uint32_t barrier, int c0,
                                                   int c1, int c2, int c3) {
    asm volatile(TMA_LOAD("4d") "[%0], [%1, {%2, %3, %4, %5}], [%6];"
                 :
                 : "r"(to), "l"((uint64_t)map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(barrier)
                 : "memory");
}

static __device__ __forceinline__ void tma_load_5d(uint32_t to, const cuda_tensor_map *map, uint32_t barrier, int c0,
                                                   int c1, int c2, int c3, int c4) {
    asm volatile(TMA_LOAD("5d") "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
                 :
                 : "r"(to), "l"((uint64_t)map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(barrier)
                 : "memory");
}

/* By an im2col map of [n][h][w][c]: the map's number of pixels from (n, h, w) on, inside the map's bounds, each read
 * `offset_h` and `offset_w` further. */
static __device__ __forceinline__ void tma_load_im2col_4d(uint32_t to, const cuda_tensor_map *map, uint32_t barrier,
                                                          int c, int w, int h, int n, uint16_t offset_w,
                                                          uint16_t offset_h) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                 :
                 : "r"(to), "l"((uint64_t)map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(barrier), "h"(offset_w),
                   "h"(offset_h)
                 : "memory");
}

static __device__ __forceinline__ void tma_store_2d(const cuda_tensor_map *map, uint32_t from, int c0, int c1) {
    asm volatile(TMA_STORE("2d") "[%0, {%1, %2}], [%3];"
                 :
                 : "l"((uint64_t)map), "r"(c0), "r"(c1), "r"(from)
                 : "memory");
}

static __device__ __forceinline__ void tma_store_3d(const cuda_tensor_map *map, uint32_t from, int c0, int c1, int c2) {
    asm volatile(TMA_STORE("3d") "[%0, {%1, %2, %3}], [%4];"
                 :
                 : "l"((uint64_t)map), "r"(c0), "r"(c1), "r"(c2), "r"(from)
                 : "memory");
}

static __device__ __forceinline__ void tma_store_4d(const cuda_tensor_map *map, uint32_t from, int c0, int c1, int c2,
                                                    int c3) {
    asm volatile(TMA_STORE("4d") "[%0, {%1, %2, %3, %4}], [%5];"
                 :
                 : "l"((uint64_t)map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(from)
                 : "memory");
}

/* This thread's stores since the last commit are one group. */
static __device__ __forceinline__ void tma_commit(void) { asm volatile("cp.async.bulk.commit_group;" : : : "memory"); }

/* Waits until all but the last `left` groups of this thread have read their shared memory ... */
template <int left> static __device__ __forceinline__ void tma_wait_read(void) {
    asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(left) : "memory");
}

/* ... or are done. A thread with stores waits for all of them before it ends. */
template <int left> static __device__ __forceinline__ void tma_wait(void) {
    asm volatile("cp.async.bulk.wait_group %0;" : : "n"(left) : "memory");
}

#endif
