/*
 * The sums of conv2d_dsums in the epilogue of a convolution (epilogue_rows.cuh): a thread has two channels, 8 apart,
 * and adds g and g * (r - center) of its pixels, of dx as it is rounded, in registers over all tiles of its block. r
 * lies in shared memory as the results will. At the end the four threads of a channel add what they have, and every
 * warpgroup leaves a part; the one that comes last adds those of all.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_ROW_DSUMS_CUH
#define BRAID_KERNELS_CUDA_TILE_ROW_DSUMS_CUH

#include "kernels/cuda/dsums.h"
#include "kernels/cuda/tile/arrive.cuh"
#include "kernels/cuda/tile/barrier.cuh"
#include "kernels/cuda/tile/epilogue_rows.cuh"
#include "kernels/cuda/tile/gradients.cuh"
#include "kernels/cuda/tile/shared.cuh"

/* Where a warpgroup leaves the sums of its 64 channels, those from `first` on, of which `channels` are there: as part
 * `part` of `parts`, [part][pitch]. */
struct row_dsums_place {
    bn_gradients *to;
    uint32_t *counters; /* DSUMS_COUNTERS(parts) */
    int32_t pitch, part, parts;
    int32_t first, channels;
    uint32_t word; /* in shared memory, of the warpgroup ... */
    int id;        /* ... as is the named barrier */
};

/* For all threads of a warpgroup: true in the last of `count` to come to a counter, which that one leaves at zero. What
 * any of them wrote to global memory before may then be read. */
static __device__ __forceinline__ bool row_dsums_arrives_last(uint32_t *counter, int32_t count,
                                                              const row_dsums_place &at) {
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

/* Up to DSUMS_GROUP_PARTS sums of a channel in their order, all on their way at once. */
static __device__ __forceinline__ bn_gradients row_dsums_add(const bn_gradients *from, int64_t pitch, int32_t count) {
    bn_gradients in[DSUMS_GROUP_PARTS] = {}, sum = {0, 0};
#pragma unroll
    for (int j = 0; j < DSUMS_GROUP_PARTS; j++) {
        if (j < count) read_bytes<sizeof sum>(&in[j], from + j * pitch);
    }
#pragma unroll
    for (int j = 0; j < DSUMS_GROUP_PARTS; j++) sum = add(sum, in[j]);
    return sum;
}

/* Adds all parts, where this warpgroup is the last of its group of parts, and then of all groups. */
static __device__ __forceinline__ void row_dsums_join(const dsums_plane &plane, const row_dsums_place &at) {
    const int32_t group = at.part / DSUMS_GROUP_PARTS, first = group * DSUMS_GROUP_PARTS;
    const int32_t groups = DSUMS_GROUPS(at.parts), left = at.parts - first;
    const int32_t count = left < DSUMS_GROUP_PARTS ? left : DSUMS_GROUP_PARTS, c = (int32_t)threadIdx.x % 128;
    bn_gradients *const parts = at.to + at.first + c, *const own = parts + (int64_t)first * at.pitch;
    if (!row_dsums_arrives_last(at.counters + 1 + group, count, at)) return;
    if (c < DSUMS_CHANNELS && c < at.channels) {
        const bn_gradients sum = row_dsums_add(own, at.pitch, count);
        write_bytes<sizeof sum>(own, &sum);
    }
    if (!row_dsums_arrives_last(at.counters, groups, at)) return;
    if (c >= DSUMS_CHANNELS || c >= at.channels) return;
    bn_gradients sum = {0, 0};
    for (int32_t j = 0; j < groups; j += DSUMS_GROUP_PARTS)
        sum = add(sum, row_dsums_add(parts + (int64_t)j * DSUMS_GROUP_PARTS * at.pitch,
                                     (int64_t)DSUMS_GROUP_PARTS * at.pitch, groups - j));
    plane.dbeta[at.first + c] = sum.shift;
    plane.dgamma[at.first + c] = sum.scale * plane.rstd[at.first + c];
}

/* Pixels of a thread among 16, those from 2 (lane % 4) on and 8 behind them, of which the first `inside` count: a bit
 * for each of the four. */
static __device__ __forceinline__ uint32_t row_dsums_live(int32_t inside) {
    const int32_t first = 2 * (int32_t)(threadIdx.x % 4);
    return (uint32_t)(first < inside) | (uint32_t)(first + 1 < inside) << 1 | (uint32_t)(first + 8 < inside) << 2 |
           (uint32_t)(first + 9 < inside) << 3;
}

/* Rounds sums that something is added to: the pairs hold it before, as such pairs. */
template <class number, int count>
static __device__ __forceinline__ void row_dsums_added(uint32_t (&pairs)[count], const float *sum) {
#pragma unroll
    for (int i = 0; i < count; i++)
        pairs[i] =
            pair_made<number>(sum[2 * i] + pair_at<number>(pairs[i], 0), sum[2 * i + 1] + pair_at<number>(pairs[i], 1));
}

/* For kernels that add up nothing. */
struct no_row_dsums {
    static const bool sums = false, by_x = false;
};

/* `by_x`: the ReLU is read off x, not made again from r. */
template <class number, bool is_by_x = false> struct row_dsums {
    static const bool sums = true, by_x = is_by_x;
    float scale[2], shift[2], center[2];
    bn_gradients sum[2] = {{0, 0}, {0, 0}};

    /* The channels of a warpgroup begin at `first`. */
    __device__ __forceinline__ void begin(const dsums_plane &plane, int32_t first, int32_t channels) {
        const int32_t channel = first + (int32_t)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int32_t c = channel + 8 * i;
            scale[i] = shift[i] = center[i] = 0;
            if (c >= channels) continue;
            if (!by_x) scale[i] = plane.scale[c];
            if (!by_x) shift[i] = plane.shift[c];
            center[i] = plane.center[c];
        }
    }

    /* 4 * pairs pixels: pairs of dx, r and, where they are read, x as epilogue_rows_round makes them, and which of them
     * count. */
    template <int pairs>
    __device__ __forceinline__ void include(const uint32_t (&dx)[pairs], const uint32_t (&r)[pairs],
                                            const uint32_t (&x)[pairs], uint32_t live) {
#pragma unroll
        for (int j = 0; j < 2 * pairs; j++) {
            const int i = j / 2 % 2;
            const float value = pair_at<number>(r[j / 2], j % 2);
            const float open = by_x ? pair_at<number>(x[j / 2], j % 2) : value * scale[i] + shift[i];
            const float g = open <= 0 ? 0 : pair_at<number>(dx[j / 2], j % 2);
            if (!(live >> (j / 4 * 2 + j % 2) & 1)) continue;
            sum[i].shift += g;
            sum[i].scale += g * (value - center[i]);
        }
    }

    /* All threads of a warpgroup take part. Nothing is left behind. */
    __device__ __forceinline__ void finish(const dsums_plane &plane, const row_dsums_place &at) {
        const int32_t channel = (int32_t)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
        bn_gradients *const to = at.to + (int64_t)at.part * at.pitch + at.first;
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int bits = 1; bits < 4; bits *= 2) {
                sum[i].shift += __shfl_xor_sync(0xFFFFFFFFu, sum[i].shift, bits);
                sum[i].scale += __shfl_xor_sync(0xFFFFFFFFu, sum[i].scale, bits);
            }
            if (threadIdx.x % 4 == 0 && channel + 8 * i < at.channels)
                write_bytes<sizeof sum[i]>(to + channel + 8 * i, &sum[i]);
            sum[i].shift = sum[i].scale = 0;
        }
        row_dsums_join(plane, at);
    }
};

#endif
