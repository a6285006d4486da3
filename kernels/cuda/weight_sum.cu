/*
 * The second stage of weight gradients: the parts of one element are cut into slices; one thread adds those of a slice,
 * in order, and one of them the slices, in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/weight_sum.h"
#include "kernels/cuda/tile/number.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shape.h"

template <class number> static __device__ __forceinline__ void weight_sum(const weight_sum_args &args, float *slices) {
    const int i = schedule_plane(args.first_block, args.planes);
    const weight_sum_plane &plane = args.plane[i];
    const int32_t elements = BLOCK_THREADS / args.slices, lane = (int32_t)threadIdx.x % elements;
    const int64_t element = (int64_t)((int32_t)blockIdx.x - args.first_block[i]) * elements + lane;
    const int32_t length_of_slice = (args.parts + args.slices - 1) / args.slices;
    const int32_t begin = (int32_t)threadIdx.x / elements * length_of_slice;
    const int32_t end = begin + length_of_slice < args.parts ? begin + length_of_slice : args.parts;
    const float *partial = args.workspace + plane.partial + element;
    float sum = 0;
    if (element < plane.elements) {
#pragma unroll 8
        for (int32_t part = begin; part < end; part++) sum += partial[part * args.part_elements];
    }
    if (args.slices > 1) {
        slices[threadIdx.x] = sum;
        __syncthreads();
        if ((int32_t)threadIdx.x >= elements) return;
        for (int32_t slice = 1; slice < args.slices; slice++) sum += slices[slice * elements + lane];
    }
    if (element >= plane.elements) return;

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
    __shared__ float slices[BLOCK_THREADS];
    weight_sum<f32>(args, slices);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_sum_f16(const __grid_constant__ weight_sum_args args) {
    __shared__ float slices[BLOCK_THREADS];
    weight_sum<f16>(args, slices);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_sum_bf16(const __grid_constant__ weight_sum_args args) {
    __shared__ float slices[BLOCK_THREADS];
    weight_sum<bf16>(args, slices);
}
