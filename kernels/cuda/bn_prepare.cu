/*
 * bn_prepare: bn_stats whose last block of every tile of channels does what bn_finalize does to them. The last block of
 * all tiles counts the batch, which all others have read by then.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_prepare.h"
#include "kernels/cuda/tile/bn_finalize.cuh"
#include "kernels/cuda/tile/moments.cuh"

/* `sums` are those of a bn_prepare_args. */
static __device__ __forceinline__ void column_write(const pixel_args &sums, int plane, int32_t channel,
                                                    const bn_moments &all) {
    const bn_finalize_args &args = ((const bn_prepare_args *)&sums)->norm;
    const bn_channel of = bn_channel_of(args.plane[plane], channel);
    const float factor = args.cumulative ? 1 / (float)(*args.batches + 1) : args.momentum;
    bn_finish(args, args.plane[plane], channel, of, all.mean, moments_var(all), factor);
}

template <class number>
static __device__ __forceinline__ void bn_prepare(const bn_prepare_args &args, bn_distances *shared) {
    const int32_t tiles = (int32_t)gridDim.x / args.sums.columns.parts;
    if (!columns_kernel<moments, number>(args.sums, shared)) return;
    if (!arrives_last(args.sums.counters + tiles * PIXEL_COLUMN_COUNTERS, tiles)) return;
    if (threadIdx.x == 0) *args.norm.batches += 1;
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4)
    bn_prepare_f32(const __grid_constant__ bn_prepare_args args) {
    __shared__ bn_distances shared[widest<f32>::width * BLOCK_THREADS];
    bn_prepare<f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4)
    bn_prepare_f16(const __grid_constant__ bn_prepare_args args) {
    __shared__ bn_distances shared[widest<f16>::width * BLOCK_THREADS];
    bn_prepare<f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4)
    bn_prepare_bf16(const __grid_constant__ bn_prepare_args args) {
    __shared__ bn_distances shared[widest<bf16>::width * BLOCK_THREADS];
    bn_prepare<bf16>(args, shared);
}
