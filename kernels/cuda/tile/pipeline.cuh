/*
 * The pipeline of the Hopper kernels: stages of shared memory that go round in a ring between roles. One role fills a
 * stage, by the copy engine or with its own threads, another reads it and gives it back. Each role has a cursor of its
 * own and passes the stages in the same order:
 *
 *     if (warpgroup == 2) {                                  the producer
 *         registers_give<40>();
 *         for (...; pipeline_next(&at)) {                    one thread
 *             pipeline_fill(at, bytes);                      waits until the stage is empty
 *             tma_load_2d(stages + at.index * bytes, &map, pipeline_full(at), ...);
 *         }
 *     } else {                                               the consumers
 *         registers_take<232>();
 *         for (...; pipeline_next(&at)) {
 *             pipeline_wait(at);                             until the stage is full
 *             ... products of stages + at.index * bytes ...
 *             pipeline_free_last(at);                        the stage before: its products are done
 *         }
 *     }
 *
 * A third role may change a stage in place, between the two or between the reader and a role that stores it: it waits
 * until the stage is full and calls pipeline_change, and the next role waits by pipeline_wait_changed.
 *
 * Barriers of a pipeline lie side by side: one for each stage that is full, then one for each that is empty, then, with
 * pipeline_init_changed, one for each that was changed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_PIPELINE_CUH
#define BRAID_KERNELS_CUDA_TILE_PIPELINE_CUH

#include "kernels/cuda/ptx/barrier.cuh"

/* Bytes of its barriers, without and with those of changes. */
#define PIPELINE_BYTES(stages) (2 * (stages)*BARRIER_BYTES)
#define PIPELINE_CHANGED_BYTES(stages) (3 * (stages)*BARRIER_BYTES)

/* A role's place: a stage, and the parity of its phase. */
struct pipeline {
    uint32_t barriers, stages, index, parity;
};

/* A stage is full after `fills` arrivals (1: the thread that asks for copies; else one of each warp that writes it) and
 * empty after `frees`, one of each warp that reads it. One thread does this, then barrier_publish, then the block
 * meets. */
static __device__ __forceinline__ void pipeline_init(uint32_t barriers, uint32_t stages, uint32_t fills,
                                                     uint32_t frees) {
    for (uint32_t i = 0; i < stages; i++) {
        barrier_init(barriers + i * BARRIER_BYTES, fills);
        barrier_init(barriers + (stages + i) * BARRIER_BYTES, frees);
    }
}

/* A stage is changed after `changes` arrivals, one of each warp that does it. */
static __device__ __forceinline__ void pipeline_init_changed(uint32_t barriers, uint32_t stages, uint32_t changes) {
    for (uint32_t i = 0; i < stages; i++) barrier_init(barriers + (2 * stages + i) * BARRIER_BYTES, changes);
}

/* The place of fill `count`, from 0 on. */
static __device__ __forceinline__ pipeline pipeline_at(uint32_t barriers, uint32_t stages, uint32_t count) {
    const pipeline at = {barriers, stages, count % stages, count / stages & 1};
    return at;
}

static __device__ __forceinline__ pipeline pipeline_begin(uint32_t barriers, uint32_t stages) {
    const pipeline at = {barriers, stages, 0, 0};
    return at;
}

static __device__ __forceinline__ void pipeline_next(pipeline *at) {
    if (++at->index < at->stages) return;
    at->index = 0;
    at->parity ^= 1;
}

/* `count` fills on. */
static __device__ __forceinline__ void pipeline_skip(pipeline *at, uint32_t count) {
    for (at->index += count; at->index >= at->stages; at->index -= at->stages) at->parity ^= 1;
}

/* The barriers of the cursor's stage. */
static __device__ __forceinline__ uint32_t pipeline_full(const pipeline &at) {
    return at.barriers + at.index * BARRIER_BYTES;
}

static __device__ __forceinline__ uint32_t pipeline_empty(const pipeline &at) {
    return at.barriers + (at.stages + at.index) * BARRIER_BYTES;
}

static __device__ __forceinline__ uint32_t pipeline_changed(const pipeline &at) {
    return at.barriers + (2 * at.stages + at.index) * BARRIER_BYTES;
}

/* For whole warps: what they wrote to the stage may be read by the copy engine and the matrix units, of which a barrier
 * is told. */
static __device__ __forceinline__ void pipeline_tell(uint32_t barrier) {
    fence_async();
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(barrier);
}

/* ---- Filling ----------------------------------------------------------------------------------------- */

/* Waits until the stage is empty. */
static __device__ __forceinline__ void pipeline_claim(const pipeline &at) {
    barrier_wait(pipeline_empty(at), at.parity ^ 1);
}

/* One thread, before so many bytes of copies, which tell pipeline_full: of a stage that is empty ... */
static __device__ __forceinline__ void pipeline_expect(const pipeline &at, uint32_t bytes) {
    barrier_expect(pipeline_full(at), bytes);
}

/* ... or waits until it is. */
static __device__ __forceinline__ void pipeline_fill(const pipeline &at, uint32_t bytes) {
    pipeline_claim(at);
    pipeline_expect(at, bytes);
}

/* Warps have filled it themselves. */
static __device__ __forceinline__ void pipeline_put(const pipeline &at) { pipeline_tell(pipeline_full(at)); }

/* ---- Changing ---------------------------------------------------------------------------------------- */

/* Warps have changed it. */
static __device__ __forceinline__ void pipeline_change(const pipeline &at) { pipeline_tell(pipeline_changed(at)); }

static __device__ __forceinline__ void pipeline_wait_changed(const pipeline &at) {
    barrier_wait(pipeline_changed(at), at.parity);
}

/* ---- Reading ----------------------------------------------------------------------------------------- */

/* Waits until the stage is full. */
static __device__ __forceinline__ void pipeline_wait(const pipeline &at) { barrier_wait(pipeline_full(at), at.parity); }

/* Warps have read it. */
static __device__ __forceinline__ void pipeline_free(const pipeline &at) {
    if (threadIdx.x % 32 == 0) barrier_arrive(pipeline_empty(at));
}

/* Warps have read the stage before the cursor's. */
static __device__ __forceinline__ void pipeline_free_last(const pipeline &at) {
    const pipeline last = {at.barriers, at.stages, (at.index ? at.index : at.stages) - 1, 0};
    pipeline_free(last);
}

#endif
