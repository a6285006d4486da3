/*
 * The second stage of weight gradients: the parts of an element are cut into slices; one thread adds those of a slice,
 * in order, and one of them the slices, in order. A thread has one element, or (`by4`) four side by side.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/weight_sum.h"
#include "kernels/cuda/tile/pack.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shape.h"

/* Writes the sums of `width` elements; where there is a bias the width is 1. */
template <class number, int width>
static __device__ __forceinline__ void write_sums(const weight_sum_plane &plane, int64_t element,
                                                  const float (&sum)[width]) {
    if (!plane.bias) {
        pack_write((number *)plane.w + element, sum, width);
        return;
    }
    const int64_t filter = divide(element, plane.columns), column = element - filter * plane.columns;
    if (column < plane.columns - 1) {
        store((number *)plane.w + filter * (plane.columns - 1) + column, sum[0]);
    } else {
        store((number *)plane.bias + filter, sum[0]);
    }
}

template <class number, int width>
static __device__ __forceinline__ void weight_sum(const weight_sum_args &args, float (&slices)[BLOCK_THREADS][width]) {
    const int i = schedule_plane(args.first_block, args.planes);
    const weight_sum_plane &plane = args.plane[i];
    const int32_t lanes = BLOCK_THREADS / args.slices, lane = (int32_t)threadIdx.x % lanes;
    const int64_t element = ((int64_t)((int32_t)blockIdx.x - args.first_block[i]) * lanes + lane) * width;
    const int32_t length_of_slice = (args.parts + args.slices - 1) / args.slices;
    const int32_t begin = (int32_t)threadIdx.x / lanes * length_of_slice;
    const int32_t end = begin + length_of_slice < args.parts ? begin + length_of_slice : args.parts;
    const float *partial = args.workspace + plane.partial + element;
    float sum[width];
#pragma unroll
    for (int j = 0; j < width; j++) sum[j] = 0;
    if (element < plane.elements) {
#pragma unroll 8
        for (int32_t part = begin; part < end; part++) {
            float more[width];
            pack_open(more, pack_read<width>((const f32 *)(partial + part * args.part_elements)));
#pragma unroll
            for (int j = 0; j < width; j++) sum[j] += more[j];
        }
    }
    if (args.slices > 1) {
#pragma unroll
        for (int j = 0; j < width; j++) slices[threadIdx.x][j] = sum[j];
        __syncthreads();
        if ((int32_t)threadIdx.x >= lanes) return;
        for (int32_t slice = 1; slice < args.slices; slice++) {
#pragma unroll
            for (int j = 0; j < width; j++) sum[j] += slices[slice * lanes + lane][j];
        }
    }
    if (element < plane.elements) write_sums<number>(plane, element, sum);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_sum_f32(const __grid_constant__ weight_sum_args args) {
    __shared__ float slices[BLOCK_THREADS][1];
    weight_sum<f32, 1>(args, slices);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_sum_f16(const __grid_constant__ weight_sum_args args) {
    __shared__ float slices[BLOCK_THREADS][1];
    weight_sum<f16, 1>(args, slices);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_sum_bf16(const __grid_constant__ weight_sum_args args) {
    __shared__ float slices[BLOCK_THREADS][1];
    weight_sum<bf16, 1>(args, slices);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_sum_f32_by4(const __grid_constant__ weight_sum_args args) {
    __shared__ float slices[BLOCK_THREADS][4];
    weight_sum<f32, 4>(args, slices);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_sum_f16_by4(const __grid_constant__ weight_sum_args args) {
    __shared__ float slices[BLOCK_THREADS][4];
    weight_sum<f16, 4>(args, slices);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_sum_bf16_by4(const __grid_constant__ weight_sum_args args) {
    __shared__ float slices[BLOCK_THREADS][4];
    weight_sum<bf16, 4>(args, slices);
}
