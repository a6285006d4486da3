/*
 * bn_sums: dbeta = sum of dy and dgamma = sum of dy * (x - center) * rstd over the active pixels of
 * every channel, added in an order that depends on the problem alone. rstd is the same for all
 * pixels, so it multiplies the finished sum.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_sums.h"
#include "kernels/cuda/tile/columns.cuh"
#include "kernels/cuda/tile/number.cuh"

static __device__ __forceinline__ bn_gradients add(const bn_gradients &a, const bn_gradients &b) {
    bn_gradients both;
    both.shift = a.shift + b.shift;
    both.scale = a.scale + b.scale;
    return both;
}

template <class number> static __device__ __forceinline__ void bn_sums(const bn_sums_args &args, bn_gradients *shared) {
    const column_work work = column_first(args.columns);
    const bn_sums_plane &plane = args.plane[work.plane];
    const number *x = (const number *)plane.x + work.channel, *dy = (const number *)plane.dy + work.channel;
    const bool inside = work.channel < plane.channels;
    const float center = inside ? plane.center[work.channel] : 0;
    bn_gradients mine = {0, 0};
    for (int64_t pixel = work.begin; pixel < work.end && inside; pixel += work.step) {
        if (plane.mask && mask_blanks(plane.mask, divide(pixel, args.columns.sample_pixels))) continue;
        const float gradient = load(dy + pixel * plane.pitch);
        mine.shift += gradient;
        mine.scale += gradient * (load(x + pixel * plane.pitch) - center);
    }
    const int32_t lanes = args.columns.lanes[work.plane];
    const bn_gradients sum = column_add_rows(shared, mine, lanes);
    if ((int32_t)threadIdx.x < lanes && inside) args.workspace[column_at(args.columns, work, work.part)] = sum;
}

/* The second launch. */
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_sums_parts(const __grid_constant__ bn_sums_args args) {
    __shared__ bn_gradients shared[BLOCK_THREADS];
    const column_work work = column_second(args.columns);
    const bn_sums_plane &plane = args.plane[work.plane];
    bn_gradients mine = {0, 0};
    for (int64_t part = work.begin; part < work.end && work.channel < plane.channels; part += work.step) {
        mine = add(mine, args.workspace[column_at(args.columns, work, part)]);
    }
    const int32_t lanes = args.columns.lanes[work.plane];
    const bn_gradients sum = column_add_rows(shared, mine, lanes);
    if ((int32_t)threadIdx.x < lanes && work.channel < plane.channels) {
        plane.dbeta[work.channel] = sum.shift;
        plane.dgamma[work.channel] = sum.scale * plane.rstd[work.channel];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_sums_f32(const __grid_constant__ bn_sums_args args) {
    __shared__ bn_gradients shared[BLOCK_THREADS];
    bn_sums<f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_sums_f16(const __grid_constant__ bn_sums_args args) {
    __shared__ bn_gradients shared[BLOCK_THREADS];
    bn_sums<f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_sums_bf16(const __grid_constant__ bn_sums_args args) {
    __shared__ bn_gradients shared[BLOCK_THREADS];
    bn_sums<bf16>(args, shared);
}
