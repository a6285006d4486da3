/*
 * A ring of stages in shared memory that one thread fills by the copy engine and some warps empty. Each side goes round
 * with a cursor of its own. Barriers: one for each stage that is filled, then one for each that is empty again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_RING_CUH
#define BRAID_KERNELS_CUDA_TILE_RING_CUH

#include "kernels/cuda/tile/barrier.cuh"

struct ring_cursor {
    uint32_t barriers;
    int32_t stages, index;
    uint32_t parity;
};

/* One thread does this, then the block meets. */
static __device__ __forceinline__ void ring_init(uint32_t barriers, int32_t stages, uint32_t warps) {
    for (int32_t i = 0; i < stages; i++) {
        barrier_init(barriers + (uint32_t)i * BARRIER_BYTES, 1);
        barrier_init(barriers + (uint32_t)(stages + i) * BARRIER_BYTES, warps);
    }
}

static __device__ __forceinline__ ring_cursor ring_begin(uint32_t barriers, int32_t stages) {
    const ring_cursor cursor = {barriers, stages, 0, 0};
    return cursor;
}

static __device__ __forceinline__ void ring_next(ring_cursor *cursor) {
    if (++cursor->index < cursor->stages) return;
    cursor->index = 0;
    cursor->parity ^= 1;
}

/* `count` stages on. */
static __device__ __forceinline__ void ring_skip(ring_cursor *cursor, int32_t count) {
    for (cursor->index += count; cursor->index >= cursor->stages; cursor->index -= cursor->stages) cursor->parity ^= 1;
}

static __device__ __forceinline__ uint32_t ring_filled(const ring_cursor &cursor) {
    return cursor.barriers + (uint32_t)cursor.index * BARRIER_BYTES;
}

/* The filling thread: waits until the stage is empty, and expects so many bytes of copies, which tell ring_filled. */
static __device__ __forceinline__ void ring_fill(const ring_cursor &cursor, uint32_t bytes) {
    barrier_wait(cursor.barriers + (uint32_t)(cursor.stages + cursor.index) * BARRIER_BYTES, cursor.parity ^ 1);
    barrier_expect(ring_filled(cursor), bytes);
}

/* All threads of the emptying warps: wait until the stage is filled ... */
static __device__ __forceinline__ void ring_wait(const ring_cursor &cursor) {
    barrier_wait(ring_filled(cursor), cursor.parity);
}

/* ... and say that they have read it. */
static __device__ __forceinline__ void ring_free(const ring_cursor &cursor) {
    if (threadIdx.x % 32 == 0)
        barrier_arrive(cursor.barriers + (uint32_t)(cursor.stages + cursor.index) * BARRIER_BYTES);
}

#endif
