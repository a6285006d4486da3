/*
 * Sums over pixels in the epilogues of convolutions, of which every warpgroup leaves a part for its 64 channels. The
 * one that comes last of a group of parts adds the group's, and leaves what it found in the place of the first; the
 * last of those adds the groups'. A thread has a channel and takes the parts in their order.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_ROW_PARTS_CUH
#define BRAID_KERNELS_CUDA_TILE_ROW_PARTS_CUH

#include "kernels/cuda/tile/arrive.cuh"
#include "kernels/cuda/ptx/barrier.cuh"
#include "kernels/cuda/tile/columns.cuh"
#include "kernels/cuda/tile/row_parts.h"
#include "kernels/cuda/ptx/shared.cuh"

/* Where a warpgroup leaves what it found of its 64 channels, those from `first` on, of which `channels` are there: as
 * part `part` of `parts`, [part][pitch]. */
template <class sum> struct row_parts_place {
    sum *to;
    uint32_t *counters; /* ROW_PARTS_COUNTERS(parts) */
    int32_t pitch, part, parts;
    int32_t first, channels;
    uint32_t word; /* in shared memory, of the warpgroup ... */
    int id;        /* ... as is the named barrier */

    /* This warpgroup's part. */
    __device__ __forceinline__ sum *own() const { return to + (int64_t)part * pitch + first; }
    /* True for threads that have a channel, the threadIdx.x % 128-th. */
    __device__ __forceinline__ bool has_channel() const {
        const int32_t c = (int32_t)threadIdx.x % 128;
        return c < ROW_PARTS_CHANNELS && c < channels;
    }
};

/* Parts of a channel in their order, `ahead` on their way at once. */
template <int ahead, class sum>
static __device__ __forceinline__ sum row_parts_add(const sum *from, int64_t pitch, int32_t count) {
    column_total<sum> total = {};
    for (int32_t left = count; left > 0; left -= ahead) {
        sum in[ahead] = {};
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            if (j < left) read_bytes<sizeof(sum)>(&in[j], from);
            from += pitch;
        }
#pragma unroll
        for (int j = 0; j < ahead; j++) total.include(in[j]);
    }
    return total.finish();
}

/* For all threads of a warpgroup: true in the last of `count` to come to a counter, which that one leaves at zero. What
 * any of them wrote to global memory before may then be read. */
template <class sum>
static __device__ __forceinline__ bool row_parts_arrives_last(uint32_t *counter, int32_t count,
                                                              const row_parts_place<sum> &at) {
    named_sync(at.id, 128);
    if (threadIdx.x % 128 == 0) {
        arrive_fence();
        const bool is_last = atomicInc(counter, (uint32_t)count - 1) == (uint32_t)count - 1;
        if (is_last) arrive_fence();
        shared_write_word(at.word, is_last);
    }
    named_sync(at.id, 128);
    return shared_read_word(at.word) != 0;
}

/* For all threads of a warpgroup, whose part is written: true in the one that comes last of all. */
template <class sum> static __device__ __forceinline__ bool row_parts_join(const row_parts_place<sum> &at) {
    const int32_t group = at.part / ROW_PARTS_GROUP, first = group * ROW_PARTS_GROUP, left = at.parts - first;
    const int32_t count = left < ROW_PARTS_GROUP ? left : ROW_PARTS_GROUP;
    sum *const own = at.to + (int64_t)first * at.pitch + at.first + (int32_t)threadIdx.x % 128;
    if (!row_parts_arrives_last(at.counters + 1 + group, count, at)) return false;
    if (at.has_channel()) {
        const sum all = row_parts_add<ROW_PARTS_GROUP>(own, at.pitch, count);
        write_bytes<sizeof all>(own, &all);
    }
    return row_parts_arrives_last(at.counters, ROW_PARTS_GROUPS(at.parts), at);
}

/* Then, for threads that have a channel: what all found of it. */
template <class sum> static __device__ __forceinline__ sum row_parts_total(const row_parts_place<sum> &at) {
    return row_parts_add<ROW_PARTS_GROUP>(at.to + at.first + (int32_t)threadIdx.x % 128,
                                          (int64_t)ROW_PARTS_GROUP * at.pitch, ROW_PARTS_GROUPS(at.parts));
}

#endif
