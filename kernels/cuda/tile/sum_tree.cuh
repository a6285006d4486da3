/*
 * A sum whose parts are made by several blocks, in one launch. The parts, in their order, are the leaves of a tree. A
 * warpgroup goes up from its part with the sums in its registers: where those of all other branches are there already
 * it reads and adds them, where not it leaves its own in global memory and is done; the one that comes to the top has
 * the whole. Nobody waits, and four branches are added as (a + b) + (c + d), which has the same bits whoever adds, so
 * the bits follow from the number of parts alone.
 *
 * A block reads no more than 64 bytes a cycle, and the parts of blocks that did the same work are ready at the same
 * time. So the sums go up in four slices, each by its own counters: of four blocks each leaves three slices and then
 * finds those of the other three for its own one, and all of them go on. Up one level a block has a quarter to leave
 * and to read. One that comes late finds all other branches there and leaves nothing. It looks at the counters of all
 * levels at once, since the way to a counter and back takes as long as reading a slice.
 *
 * Of a node of four, the counters are numbered by the first part of its second branch, sums by their own first part.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SUM_TREE_CUH
#define BRAID_KERNELS_CUDA_TILE_SUM_TREE_CUH

#include "kernels/cuda/tile/arrive.cuh"
#include "kernels/cuda/tile/barrier.cuh"
#include "kernels/cuda/tile/number.cuh"
#include "kernels/cuda/tile/shared.cuh"
#include "kernels/cuda/tile/sum_tree.h"

#define SUM_TREE_ALL ((1u << SUM_TREE_SLICES) - 1)
#define SUM_TREE_RUN 16 /* accumulators of a thread that stay together: 32 columns */
#define SUM_TREE_READ 8 /* those that it reads of each branch at a time */

struct sum_tree {
    int32_t part, parts; /* up to 4^8 */
    uint32_t *counters;  /* [part][counter_step], of which the group's begin with [slice] */
    int32_t counter_step;
    float *slots; /* [part][slot_elements], of which the group's begin with [four][thread][4] */
    int32_t slot_elements;
    uint32_t meeting; /* a word of shared memory and a named barrier, the group's own */
    int barrier;
};

/* The node above a part at a level: its branches begin with part `first` and then every `width` parts. */
struct sum_tree_node {
    int32_t first, width, branches, branch; /* the last is that of the part */
};

static __device__ __forceinline__ sum_tree_node sum_tree_find(const sum_tree &tree, int level) {
    sum_tree_node node;
    node.width = 1 << 2 * level;
    node.first = tree.part & ~(4 * node.width - 1);
    node.branches = (tree.parts - node.first + node.width - 1) >> 2 * level;
    if (node.branches > 4) node.branches = 4;
    node.branch = tree.part >> 2 * level & 3;
    return node;
}

static __device__ __forceinline__ uint32_t *sum_tree_counters(const sum_tree &tree, const sum_tree_node &node) {
    return tree.counters + (int64_t)(node.first + node.width) * tree.counter_step;
}

/* The slices, four bits for each level, where all other branches have come. Arrives first for those slices at `level`
 * that the group has left. */
static __device__ __forceinline__ uint32_t sum_tree_ask(const sum_tree &tree, int level, uint32_t left) {
    named_sync(tree.barrier, SUM_TREE_GROUP); /* all have left their sums, and have read the word */
    if (threadIdx.x % SUM_TREE_GROUP < 32) {
        const int lane = (int)threadIdx.x % 32, slice = lane % SUM_TREE_SLICES;
        const sum_tree_node node = sum_tree_find(tree, lane / SUM_TREE_SLICES);
        bool all = false;
        if (node.branches > 1 && lane / SUM_TREE_SLICES >= level) {
            uint32_t *counter = sum_tree_counters(tree, node) + slice;
            const uint32_t others = (uint32_t)node.branches - 1;
            const bool arrives = lane / SUM_TREE_SLICES == level && (left >> slice & 1);
            all = (arrives ? arrive_count(counter, others) : arrive_look(counter)) == others;
        }
        const uint32_t slices = __ballot_sync(0xFFFFFFFFu, all);
        if (lane == 0) shared_write_word(tree.meeting, slices);
    }
    named_sync(tree.barrier, SUM_TREE_GROUP);
    return shared_read_word(tree.meeting);
}

/* Is run j of `runs` in one of these slices? */
static __device__ __forceinline__ bool sum_tree_has(uint32_t slices, int j, int runs) {
    return slices >> (j * SUM_TREE_SLICES / runs) & 1;
}

template <int count>
static __device__ __forceinline__ void sum_tree_leave(float *to, const float (&sums)[count], uint32_t slices) {
#pragma unroll
    for (int j = 0; j < count / SUM_TREE_RUN; j++) {
        if (!sum_tree_has(slices, j, count / SUM_TREE_RUN)) continue;
#pragma unroll
        for (int i = j * SUM_TREE_RUN; i < (j + 1) * SUM_TREE_RUN; i += 4)
            write_bytes<16>(to + i * SUM_TREE_GROUP, &sums[i]);
    }
}

/* The slot of the branch that begins with a part, for this thread. */
static __device__ __forceinline__ float *sum_tree_slot(const sum_tree &tree, int32_t part) {
    return tree.slots + (int64_t)part * tree.slot_elements + threadIdx.x % SUM_TREE_GROUP * 4;
}

static __device__ __forceinline__ void sum_tree_read(float (&to)[SUM_TREE_READ], const float *from) {
#pragma unroll
    for (int i = 0; i < SUM_TREE_READ; i += 4) read_bytes<16>(&to[i], from + i * SUM_TREE_GROUP);
}

static __device__ __forceinline__ void sum_tree_add_read(float *to, const float (&more)[SUM_TREE_READ]) {
#pragma unroll
    for (int i = 0; i < SUM_TREE_READ; i++) to[i] += more[i];
}

/* Adds the other branches of a node. */
template <int count>
static __device__ __forceinline__ void sum_tree_add(const sum_tree &tree, const sum_tree_node &node,
                                                    float (&sums)[count], uint32_t slices) {
    const int32_t beside = node.branch ^ 1, other = ~node.branch & 2; /* the first of the other two */
    const int64_t step = (int64_t)node.width * tree.slot_elements;
    const float *from = sum_tree_slot(tree, node.first);
#pragma unroll
    for (int i = 0; i < count; i += SUM_TREE_READ, from += SUM_TREE_READ * SUM_TREE_GROUP) {
        if (!sum_tree_has(slices, i / SUM_TREE_RUN, count / SUM_TREE_RUN)) continue;
        alignas(16) float first[SUM_TREE_READ], second[SUM_TREE_READ], third[SUM_TREE_READ];
        if (beside < node.branches) sum_tree_read(first, from + beside * step);
        if (other < node.branches) sum_tree_read(second, from + other * step);
        if (other + 1 < node.branches) sum_tree_read(third, from + (other + 1) * step);
        if (beside < node.branches) sum_tree_add_read(&sums[i], first);
        if (other + 1 < node.branches) sum_tree_add_read(second, third);
        if (other < node.branches) sum_tree_add_read(&sums[i], second);
    }
}

/* For all threads of a group: the slices of `sums` that now are the sums of all parts. */
template <int count>
static __device__ __forceinline__ uint32_t sum_tree_climb(const sum_tree &tree, float (&sums)[count]) {
    uint32_t mine = SUM_TREE_ALL;
    if (tree.parts == 1) return mine;
    uint32_t come = sum_tree_ask(tree, 0, 0);
#pragma unroll 1
    for (int level = 0; mine && 1 << 2 * level < tree.parts; level++) {
        const sum_tree_node node = sum_tree_find(tree, level);
        const int begin = level * SUM_TREE_SLICES;
        if (node.branches == 1) continue;
        float *slot = sum_tree_slot(tree, node.first + node.branch * node.width);
        const uint32_t later = 1u << node.branch | 1u << (node.branch + node.branches); /* left after the others */
        uint32_t found = come >> begin & mine, left = mine & ~found & ~later, last = 0;
        if (left) {
            sum_tree_leave(slot, sums, left);
            come = sum_tree_ask(tree, level, left);
            last = come >> begin & left;
            found |= come >> begin & mine & ~left;
        }
        left = mine & later & ~found;
        if (left) {
            sum_tree_leave(slot, sums, left);
            come = sum_tree_ask(tree, level, left);
            last |= come >> begin & left;
        }
        if (threadIdx.x % SUM_TREE_GROUP < SUM_TREE_SLICES && (found >> threadIdx.x % SUM_TREE_GROUP & 1))
            sum_tree_counters(tree, node)[threadIdx.x % SUM_TREE_GROUP] = 0;
        mine = found | last;
        sum_tree_add(tree, node, sums, mine);
    }
    return mine;
}

/* For launches whose parts a second one adds: leaves the sums of a part and does not go up. */
template <int count>
static __device__ __forceinline__ void sum_tree_leave_all(const sum_tree &tree, const float (&sums)[count]) {
    sum_tree_leave(sum_tree_slot(tree, tree.part), sums, SUM_TREE_ALL);
}

#endif
