/*
 * The parts of statistics that the blocks of a kernel left, added by those of them that come last, each column of
 * blocks for itself: the last block of a group of parts adds the group's, and leaves what it found in the place of the
 * first; the last of those adds the groups' and does what bn_finalize does. A thread has a channel and takes the parts
 * in their order. It takes as long as one multiprocessor reads, so there are as many groups as a group has parts.
 *
 * The channels of a block's column come as a `slice`: `count` of them, and channel(k), which is below 0 where there is
 * none.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_MOMENTS_JOIN_CUH
#define BRAID_KERNELS_CUDA_INTEGRATE_MOMENTS_JOIN_CUH

#include "kernels/cuda/tile/bn_finalize.cuh"
#include "kernels/cuda/tile/moments.cuh"
#include "kernels/cuda/integrate/moments_join.h"
#include "kernels/cuda/tile/row_parts.cuh"

/* The counter of those that have read the count of batches. */
static __device__ __forceinline__ uint32_t *moments_finished(const moments_parts &all) {
    return all.counters + MOMENTS_COUNTERS(all) - 1;
}

/* `count` parts of a channel, every `step`th, and what follows from them. */
template <int ahead>
static __device__ __forceinline__ void moments_finish(const moments_parts &all, const bn_finalize_args &norm,
                                                      int32_t step, int32_t count, int32_t channel, int64_t batches) {
    int i = 0;
    int64_t c = channel;
    for (; c >= norm.plane[i].channels; i++) c -= norm.plane[i].channels;
    const bn_channel of = bn_channel_of(norm.plane[i], c);
    const bn_moments sum = row_parts_add<ahead>(all.moments + channel, (int64_t)step * all.pitch, count);
    bn_finish(norm, norm.plane[i], c, of, sum.mean, moments_var(sum), bn_factor(norm, i, batches));
}

/* For all threads of all blocks, behind all that they have to do. Where there is no part there is a block for each
 * column. */
template <int ahead, class slice>
static __device__ __forceinline__ void moments_join(const moments_parts &all, const bn_finalize_args &norm,
                                                    const slice &of) {
    const int32_t column = (int32_t)blockIdx.x % all.columns, group = (int32_t)blockIdx.x / all.columns / all.group;
    const int32_t groups = MOMENTS_GROUPS(all), first = group * all.group;
    const int32_t count = all.parts - first < all.group ? all.parts - first : all.group;
    uint32_t *const counters = all.counters + column * (1 + groups);
    bn_moments *const from = all.moments + (int64_t)first * all.pitch;
    if (count > 0) {
        if (!arrives_last(counters + 1 + group, count)) return;
        for (int32_t k = (int32_t)threadIdx.x; k < of.count; k += (int32_t)blockDim.x) {
            const int32_t c = of.channel(k);
            if (c < 0) continue;
            const bn_moments sum = row_parts_add<ahead>(from + c, all.pitch, count);
            write_bytes<sizeof sum>(from + c, &sum);
        }
        if (!arrives_last(counters, groups)) return;
    }
    const int64_t batches = norm.cumulative ? *norm.batches : 0;
    for (int32_t k = (int32_t)threadIdx.x; k < of.count; k += (int32_t)blockDim.x) {
        const int32_t c = of.channel(k);
        if (c >= 0) moments_finish<ahead>(all, norm, all.group, groups, c, batches);
    }
    /* Who counts the batch: where all have read the count, the last of them. */
    const bool counts = norm.cumulative ? arrives_last(moments_finished(all), all.columns) : column == 0;
    if (counts && threadIdx.x == 0) *norm.batches += bn_counted(norm);
}

#endif
