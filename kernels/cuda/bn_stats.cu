/*
 * bn_stats: mean and biased variance of every channel over the active pixels. A thread takes four pixels at a time,
 * finds their mean and then their distances from it, and adds that piece to what it has; a large mean costs no digits.
 * Pieces are added in an order that depends on the problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/sums.h"
#include "kernels/cuda/tile/columns.cuh"

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

template <class number, int width> struct moments : pixel_body<number, width> {
    typedef bn_moments sum;
    typedef pack<number, width> inputs;
    static const int ahead = 4;
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
    __device__ __forceinline__ void include(sum (&mine)[width], const inputs (&x)[ahead], const bool (&live)[ahead],
                                            int64_t, int32_t, int64_t) const {
        float count = 0;
        for (int p = 0; p < ahead; p++) count += live[p] ? 1.0f : 0.0f;
        if (count == 0) return;
#pragma unroll
        for (int j = 0; j < width; j++) {
            sum piece = {count, 0, 0};
            for (int p = 0; p < ahead; p++) piece.mean += live[p] ? load(&x[p].at[j]) : 0;
            piece.mean /= count;
            for (int p = 0; p < ahead; p++) {
                const float distance = live[p] ? load(&x[p].at[j]) - piece.mean : 0;
                piece.square += distance * distance;
            }
            mine[j] = add(mine[j], piece);
        }
    }
};

/* The second launch. */
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_stats_parts(const __grid_constant__ pixel_args args) {
    __shared__ bn_moments shared[BLOCK_THREADS];
    const column_work work = column_second(args);
    const bn_moments sum = columns_add_parts(args, work, shared);
    if (!column_is_last(args, work)) return;
    args.plane[work.plane].mean[work.channel] = sum.mean;
    args.plane[work.plane].var[work.channel] = sum.count > 0 ? sum.square / sum.count : 0;
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_stats_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_moments shared[widest<f32>::width * BLOCK_THREADS];
    columns_kernel<moments, f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_stats_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_moments shared[widest<f16>::width * BLOCK_THREADS];
    columns_kernel<moments, f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_stats_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_moments shared[widest<bf16>::width * BLOCK_THREADS];
    columns_kernel<moments, bf16>(args, shared);
}
