/*
 * bn_join: adds the parts of statistics that another kernel's blocks left, and does what bn_finalize does to them. A
 * block has a few channels; its threads take the parts in turns, and what they found is added in an order that depends
 * on the number of parts alone. The last block counts the batch, which all others have read by then.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_join.h"
#include "kernels/cuda/tile/arrive.cuh"
#include "kernels/cuda/tile/bn_finalize.cuh"
#include "kernels/cuda/tile/moments.cuh"
#include "kernels/cuda/tile/schedule.cuh"

#define ROWS (BN_JOIN_THREADS / BN_JOIN_LANES)
#define AHEAD 4 /* parts of a thread that are under way at once */

/* Parts `row`, `row` + ROWS, ... of `parts` of a channel. */
static __device__ __forceinline__ bn_moments add_parts(const bn_join_args &args, int32_t parts, int64_t channel,
                                                       int32_t row) {
    bn_moments sum = {0, 0, 0};
    for (int32_t part = row; part < parts; part += AHEAD * ROWS) {
        bn_moments some[AHEAD] = {};
#pragma unroll
        for (int j = 0; j < AHEAD; j++) {
            const int32_t at = part + j * ROWS;
            if (at < parts) some[j] = args.moments[(int64_t)at * args.pitch + channel];
        }
#pragma unroll
        for (int j = 0; j < AHEAD; j++) sum = add(sum, some[j]);
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(BN_JOIN_THREADS) bn_join(const __grid_constant__ bn_join_args args) {
    const int warps = BN_JOIN_THREADS / 32, lane = (int)threadIdx.x % 32;
    __shared__ bn_moments shared[warps * BN_JOIN_LANES];
    const int i = schedule_plane(args.first_block, args.norm.planes);
    const bn_finalize_plane &plane = args.norm.plane[i];
    const int64_t tile = (int64_t)((int32_t)blockIdx.x - args.first_block[i]) * BN_JOIN_LANES;
    const int64_t channel = tile + (int32_t)threadIdx.x % BN_JOIN_LANES;
    const bool writes = threadIdx.x < BN_JOIN_LANES && channel < plane.channels;
    bn_moments sum = {0, 0, 0};
    bn_channel of = {0, 0, 0, 0};
    int64_t batches = 0;
    if (writes) of = bn_channel_of(plane, channel);
    if (writes && args.norm.cumulative) batches = *args.norm.batches;
    if (channel < plane.channels)
        sum = add_parts(args, args.parts[i], args.first_channel[i] + channel, (int32_t)threadIdx.x / BN_JOIN_LANES);
#pragma unroll
    for (int bits = BN_JOIN_LANES; bits < 32; bits *= 2) sum = add_across(sum, bits);
    if (lane < BN_JOIN_LANES) shared[(int)threadIdx.x / 32 * BN_JOIN_LANES + lane] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = add(shared[lane], shared[lane + 32]);
#pragma unroll
        for (int bits = BN_JOIN_LANES; bits < 32; bits *= 2) sum = add_across(sum, bits);
        if (writes)
            bn_finish(args.norm, plane, channel, of, sum.mean, moments_var(sum), bn_factor(args.norm, i, batches));
    }
    if (arrives_last(args.counter, (int32_t)gridDim.x) && threadIdx.x == 0) *args.norm.batches += bn_counted(args.norm);
}

static_assert(BN_JOIN_THREADS / 32 * BN_JOIN_LANES == 64, "one warp adds what the warps found, two for each lane");
