/*
 * bn_stats: mean and biased variance of every channel over the active pixels. A thread takes eight
 * pixels at a time, finds their mean and then their distances from it, and adds that piece to what it
 * has; a large mean costs no digits, and there is one division for eight pixels. Pieces are added in
 * an order that depends on the problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_stats.h"
#include "kernels/cuda/tile/columns.cuh"
#include "kernels/cuda/tile/number.cuh"

#define PIECE 8 /* pixels that a thread loads at once */

static __device__ __forceinline__ bn_moments add(const bn_moments &a, const bn_moments &b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const float count = a.count + b.count;
    const float share = b.count / count, distance = b.mean - a.mean;
    bn_moments both;
    both.count = count;
    both.mean = a.mean + distance * share;
    both.square = a.square + b.square + distance * distance * a.count * share;
    return both;
}

/* The moments of up to PIECE values. */
static __device__ __forceinline__ bn_moments moments_of(const float *value, const bool *valid) {
    bn_moments piece = {0, 0, 0};
    float sum = 0;
    for (int j = 0; j < PIECE; j++) {
        if (!valid[j]) continue;
        piece.count += 1;
        sum += value[j];
    }
    if (piece.count == 0) return piece;
    piece.mean = sum / piece.count;
    for (int j = 0; j < PIECE; j++) {
        const float distance = value[j] - piece.mean;
        if (valid[j]) piece.square += distance * distance;
    }
    return piece;
}

template <class number> static __device__ __forceinline__ void bn_stats(const bn_stats_args &args, bn_moments *shared) {
    const column_work work = column_first(args.columns);
    const bn_stats_plane &plane = args.plane[work.plane];
    const number *x = (const number *)plane.x + work.channel;
    bn_moments mine = {0, 0, 0};
    for (int64_t pixel = work.begin; pixel < work.end && work.channel < plane.channels; pixel += PIECE * work.step) {
        float value[PIECE];
        bool valid[PIECE];
#pragma unroll
        for (int j = 0; j < PIECE; j++) {
            const int64_t at = pixel + j * work.step;
            valid[j] =
                at < work.end && !(plane.mask && mask_blanks(plane.mask, divide(at, args.columns.sample_pixels)));
            value[j] = valid[j] ? load(x + at * plane.pitch) : 0;
        }
        mine = add(mine, moments_of(value, valid));
    }
    const int32_t lanes = args.columns.lanes[work.plane];
    const bn_moments sum = column_add_rows(shared, mine, lanes);
    if ((int32_t)threadIdx.x < lanes && work.channel < plane.channels) {
        args.workspace[column_at(args.columns, work, work.part)] = sum;
    }
}

/* The second launch. */
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_stats_parts(const __grid_constant__ bn_stats_args args) {
    __shared__ bn_moments shared[BLOCK_THREADS];
    const column_work work = column_second(args.columns);
    const bn_stats_plane &plane = args.plane[work.plane];
    bn_moments mine = {0, 0, 0};
    for (int64_t part = work.begin; part < work.end && work.channel < plane.channels; part += work.step) {
        mine = add(mine, args.workspace[column_at(args.columns, work, part)]);
    }
    const int32_t lanes = args.columns.lanes[work.plane];
    const bn_moments sum = column_add_rows(shared, mine, lanes);
    if ((int32_t)threadIdx.x < lanes && work.channel < plane.channels) {
        plane.mean[work.channel] = sum.mean;
        plane.var[work.channel] = sum.count > 0 ? sum.square / sum.count : 0;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_stats_f32(const __grid_constant__ bn_stats_args args) {
    __shared__ bn_moments shared[BLOCK_THREADS];
    bn_stats<f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_stats_f16(const __grid_constant__ bn_stats_args args) {
    __shared__ bn_moments shared[BLOCK_THREADS];
    bn_stats<f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_stats_bf16(const __grid_constant__ bn_stats_args args) {
    __shared__ bn_moments shared[BLOCK_THREADS];
    bn_stats<bf16>(args, shared);
}
