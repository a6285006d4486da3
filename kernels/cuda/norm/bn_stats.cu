/*
 * bn_stats: mean and biased variance of every channel over the active pixels, in an order that depends on the problem
 * alone (tile/moments.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/tile/moments.cuh"

static __device__ __forceinline__ column_nothing column_ask(const pixel_args &, int, int32_t, const bn_moments *) {
    return column_nothing();
}

static __device__ __forceinline__ void column_write(const pixel_args &args, int plane, int32_t channel,
                                                    const bn_moments &all, const column_nothing &) {
    args.plane[plane].mean[channel] = all.mean;
    args.plane[plane].var[channel] = moments_var(all);
}

ENTRY(bn_stats_parts, (BLOCK_THREADS), pixel_args, __shared__ bn_moments shared[BLOCK_THREADS];
      columns_second(args, shared))
ENTRY_FORMATS(bn_stats, (BLOCK_THREADS, 3), pixel_args, __shared__ column_pack ring[COLUMN_RING_PACKS];
              columns_kernel_deep<moments, number>(args, ring))
