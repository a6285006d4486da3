/*
 * The parts of statistics that the blocks of a kernel left, added by those of them that come last: the last block of a
 * group of parts adds the group's, and leaves what it found in the place of the first; the last of those adds the
 * groups' and does what bn_finalize does. A thread has a channel and takes the parts in their order.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_MOMENTS_JOIN_CUH
#define BRAID_KERNELS_CUDA_TILE_MOMENTS_JOIN_CUH

#include "kernels/cuda/tile/bn_finalize.cuh"
#include "kernels/cuda/tile/moments.cuh"
#include "kernels/cuda/tile/moments_join.h"

/* Parts of which `columns` blocks made one each, in the order of the blocks: [part][pitch], the channels of all planes
 * one after the other. */
struct moments_parts {
    bn_moments *moments;
    uint32_t *counters; /* moments_join_counters */
    int32_t pitch, parts, columns;
};

/* `count` parts of a channel, `ahead` on their way at once. */
template <int ahead>
static __device__ __forceinline__ bn_moments moments_add(const bn_moments *from, int64_t pitch, int32_t count) {
    column_total<bn_moments> total = {};
    for (int32_t left = count; left > 0; left -= ahead) {
        bn_moments in[ahead] = {};
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            if (j < left) read_bytes<sizeof(bn_moments)>(&in[j], from);
            from += pitch;
        }
#pragma unroll
        for (int j = 0; j < ahead; j++) total.include(in[j]);
    }
    return total.finish();
}

/* All parts of a channel, by their groups, and what follows from them. */
template <int ahead>
static __device__ __forceinline__ void moments_finish(const moments_parts &all, const bn_finalize_args &norm,
                                                      int32_t groups, int32_t channel, int64_t batches) {
    int i = 0;
    int64_t c = channel;
    for (; c >= norm.plane[i].channels; i++) c -= norm.plane[i].channels;
    const bn_channel of = bn_channel_of(norm.plane[i], c);
    const int64_t pitch = (int64_t)MOMENTS_GROUP_PARTS * all.pitch;
    const bn_moments sum = moments_add<ahead>(all.moments + channel, pitch, groups);
    bn_finish(norm, norm.plane[i], c, of, sum.mean, moments_var(sum), bn_factor(norm, i, batches));
}

/* For all threads of all blocks, behind all that they have to do. Where there is no part there is one block. */
template <int ahead>
static __device__ __forceinline__ void moments_join(const moments_parts &all, const bn_finalize_args &norm) {
    const int32_t group = (int32_t)blockIdx.x / all.columns / MOMENTS_GROUP_PARTS, first = group * MOMENTS_GROUP_PARTS;
    const int32_t groups = (all.parts + MOMENTS_GROUP_PARTS - 1) / MOMENTS_GROUP_PARTS;
    const int32_t count = all.parts - first < MOMENTS_GROUP_PARTS ? all.parts - first : MOMENTS_GROUP_PARTS;
    bn_moments *const from = all.moments + (int64_t)first * all.pitch;
    if (count > 0) {
        if (!arrives_last(all.counters + 1 + group, count * all.columns)) return;
        for (int32_t c = (int32_t)threadIdx.x; c < all.pitch; c += (int32_t)blockDim.x) {
            const bn_moments sum = moments_add<ahead>(from + c, all.pitch, count);
            write_bytes<sizeof sum>(from + c, &sum);
        }
        if (!arrives_last(all.counters, groups)) return;
    }
    const int64_t batches = norm.cumulative || threadIdx.x == 0 ? *norm.batches : 0;
    for (int32_t c = (int32_t)threadIdx.x; c < all.pitch; c += (int32_t)blockDim.x)
        moments_finish<ahead>(all, norm, groups, c, batches);
    __syncthreads(); /* all have read the count of batches */
    if (threadIdx.x == 0) *norm.batches = batches + bn_counted(norm);
}

#endif
