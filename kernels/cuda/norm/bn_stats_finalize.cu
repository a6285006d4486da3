/*
 * bn_stats_finalize: bn_stats whose last block of every tile of channels does what bn_finalize does to them. The batch
 * is counted by the last block of the first tile or, where the others read the count, by the last of all.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/norm/bn_stats_finalize.h"
#include "kernels/cuda/tile/bn_finalize.cuh"
#include "kernels/cuda/tile/moments.cuh"

/* `sums` are those of a bn_stats_finalize_args. */
static __device__ __forceinline__ const bn_finalize_args &norm_of(const pixel_args &sums) {
    return ((const bn_stats_finalize_args *)&sums)->norm;
}

/* The thread that counts the batch, where nobody else reads the count. */
static __device__ __forceinline__ bool counts_alone(const pixel_args &sums) {
    return !norm_of(sums).cumulative && threadIdx.x == 0 && (int32_t)blockIdx.x < sums.columns.parts;
}

struct prepared_channel {
    bn_channel before;
    int64_t batches;
};

static __device__ __forceinline__ prepared_channel column_ask(const pixel_args &sums, int plane, int32_t channel,
                                                              const bn_moments *) {
    const bn_finalize_args &args = norm_of(sums);
    const bool asks = args.cumulative || counts_alone(sums);
    const prepared_channel of = {bn_channel_of(args.plane[plane], channel), asks ? *args.batches : 0};
    return of;
}

static __device__ __forceinline__ void column_write(const pixel_args &sums, int plane, int32_t channel,
                                                    const bn_moments &all, const prepared_channel &of) {
    const bn_finalize_args &args = norm_of(sums);
    bn_finish(args, args.plane[plane], channel, of.before, all.mean, moments_var(all),
              bn_factor(args, plane, of.batches));
    if (counts_alone(sums)) *args.batches = of.batches + bn_counted(args);
}

template <class number>
static __device__ __forceinline__ void bn_stats_finalize(const bn_stats_finalize_args &args, column_pack *ring) {
    const int32_t tiles = (int32_t)gridDim.x / args.sums.columns.parts;
    if (!columns_kernel_deep<moments, number>(args.sums, ring) || !args.norm.cumulative) return;
    if (arrives_last(args.sums.counters + gridDim.x, tiles) && threadIdx.x == 0)
        *args.norm.batches += bn_counted(args.norm);
}

ENTRY_FORMATS(bn_stats_finalize, (BLOCK_THREADS, 3), bn_stats_finalize_args,
              __shared__ column_pack ring[COLUMN_RING_PACKS];
              bn_stats_finalize<number>(args, ring))
