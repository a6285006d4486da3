/*
 * The second stage of weight gradients: one thread adds the parts of one element, in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/weight_sum.h"
#include "kernels/cuda/tile/number.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shape.h"

template <class number> static __device__ __forceinline__ void weight_sum(const weight_sum_args &args) {
    const int i = schedule_plane(args.first_block, args.planes);
    const weight_sum_plane &plane = args.plane[i];
    const int64_t element = (int64_t)((int32_t)blockIdx.x - args.first_block[i]) * BLOCK_THREADS + threadIdx.x;
    if (element >= plane.elements) return;
    const float *partial = args.workspace + plane.partial + element;
    float sum = 0;
    for (int32_t part = 0; part < args.parts; part++) sum += partial[part * args.part_elements];

    const int64_t filter = divide(element, plane.columns), column = element - filter * plane.columns;
    const int64_t length = plane.bias ? plane.columns - 1 : plane.columns;
    if (column < length) {
        store((number *)plane.w + filter * length + column, sum);
    } else {
        store((number *)plane.bias + filter, sum);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_sum_f32(const __grid_constant__ weight_sum_args args) {
    weight_sum<f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_sum_f16(const __grid_constant__ weight_sum_args args) {
    weight_sum<f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_sum_bf16(const __grid_constant__ weight_sum_args args) {
    weight_sum<bf16>(args);
}
