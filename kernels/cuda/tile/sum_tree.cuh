/*
 * A sum whose parts are made by several blocks, in one launch. The parts, in their order, are the leaves of a binary
 * tree. A warpgroup goes up from its part with the sums in its registers: where the sums of the other branch are there
 * already it reads and adds them, where not it leaves its own in global memory and is done; the one that comes to the
 * top has the whole. Nobody waits, and a + b has the bits of b + a, so the bits follow from the number of parts alone.
 *
 * For few parts: with 147 KB in each a level takes 3 to 4 us on an H200, since a block reads 64 bytes a cycle; a second
 * launch, in which all multiprocessors read, adds any number of parts in 5 to 8 us. Nodes of four branches whose sums
 * go up in slices, by different blocks, were tried and were slower. A group looks at the counters of all levels at
 * once, so that the last of all reads without asking again.
 *
 * Joins are numbered by the first part of their right branch: 1 to parts - 1.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SUM_TREE_CUH
#define BRAID_KERNELS_CUDA_TILE_SUM_TREE_CUH

#include "kernels/cuda/tile/arrive.cuh"
#include "kernels/cuda/ptx/barrier.cuh"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/ptx/shared.cuh"

#define SUM_TREE_GROUP 128  /* threads that have one part together, four whole warps */
#define SUM_TREE_TOGETHER 8 /* reads of a thread that are under way at the same time */

struct sum_tree {
    int32_t part, parts;
    uint32_t *counters; /* [join][counter_step] */
    int32_t counter_step;
    float *slots; /* [join][branch][slot_elements], of which the group's begin with [four][thread][4] */
    int32_t slot_elements;
    uint32_t meeting; /* a word of shared memory and a named barrier, the group's own */
    int barrier;
};

/* The join above a part at a level; `parts` or more: there is no right branch, and the left one goes on alone. */
static __device__ __forceinline__ int32_t sum_tree_join(int32_t part, int level) {
    return (part >> level | 1) << level;
}

/* The levels, as bits, where the other branch has come, from `level` on, at which this group has left its sums (-1: at
 * none). */
static __device__ __forceinline__ uint32_t sum_tree_ask(const sum_tree &tree, int level) {
    named_sync(tree.barrier, SUM_TREE_GROUP); /* all have left their sums, and have read the word */
    if (threadIdx.x % SUM_TREE_GROUP < 32) {
        const int lane = (int)threadIdx.x % 32;
        const int32_t join = sum_tree_join(tree.part, lane < 24 ? lane : 24);
        uint32_t *counter = tree.counters + (int64_t)join * tree.counter_step;
        uint32_t come = 0;
        if (lane == level) {
            come = arrive_count(counter, 1);
        } else if (lane > level && lane < 24 && join < tree.parts) {
            come = arrive_look(counter);
        }
        const uint32_t levels = __ballot_sync(0xFFFFFFFFu, come == 1);
        if (lane == 0) shared_write_word(tree.meeting, levels);
    }
    named_sync(tree.barrier, SUM_TREE_GROUP);
    return shared_read_word(tree.meeting);
}

template <int count> static __device__ __forceinline__ void sum_tree_leave(float *to, const float (&sums)[count]) {
#pragma unroll
    for (int j = 0; j < count; j += 4) write_bytes<16>(to + j * SUM_TREE_GROUP, &sums[j]);
}

template <int count> static __device__ __forceinline__ void sum_tree_add(float (&sums)[count], const float *from) {
    const int together = 4 * SUM_TREE_TOGETHER;
    static_assert(count % together == 0, "all reads of a turn are of accumulators");
#pragma unroll
    for (int first = 0; first < count; first += together) {
        alignas(16) float more[together];
#pragma unroll
        for (int j = 0; j < together; j += 4) read_bytes<16>(&more[j], from + (first + j) * SUM_TREE_GROUP);
#pragma unroll
        for (int j = 0; j < together; j++) sums[first + j] += more[j];
    }
}

/* For all threads of a group: true where `sums` is now the sum of all parts. */
template <int count> static __device__ __forceinline__ bool sum_tree_climb(const sum_tree &tree, float (&sums)[count]) {
    if (tree.parts == 1) return true;
    float *slots = tree.slots + threadIdx.x % SUM_TREE_GROUP * 4;
    uint32_t come = sum_tree_ask(tree, -1);
#pragma unroll 1
    for (int level = 0; 1 << level < tree.parts; level++) {
        const int32_t join = sum_tree_join(tree.part, level), branch = tree.part >> level & 1;
        if (join >= tree.parts) continue;
        if (come >> level & 1) {
            if (threadIdx.x % SUM_TREE_GROUP == 0) tree.counters[(int64_t)join * tree.counter_step] = 0;
        } else {
            sum_tree_leave(slots + (int64_t)(2 * join + branch) * tree.slot_elements, sums);
            come = sum_tree_ask(tree, level);
            if (!(come >> level & 1)) return false;
        }
        sum_tree_add(sums, slots + (int64_t)(2 * join + 1 - branch) * tree.slot_elements);
    }
    return true;
}

#endif
