/*
 * The sum of parts that lie as the gradient does (weight_sum.h): the parts of an element are cut into
 * slices; one thread adds those of a slice, in order, and one of them the slices, in order. A thread has one element,
 * or four side by side.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_REDUCE_SUM_ROWS_CUH
#define BRAID_KERNELS_CUDA_REDUCE_SUM_ROWS_CUH

#include "kernels/cuda/tile/pack.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/reduce/weight_sum.h"

/* Writes the sums of `width` elements; where there is a bias the width is 1. */
template <class number, int width>
static __device__ __forceinline__ void sum_rows_write(const weight_sum_plane &plane, int64_t element,
                                                      const float (&sum)[width]) {
    const weight_sum_rows &rows = plane.as.rows;
    if (!rows.bias) {
        pack_write((number *)plane.w + element, sum, width);
        return;
    }
    const int64_t filter = divide(element, rows.columns), column = element - filter * rows.columns;
    if (column < rows.columns - 1) {
        store((number *)plane.w + filter * (rows.columns - 1) + column, sum[0]);
    } else {
        store((number *)rows.bias + filter, sum[0]);
    }
}

/* For all threads of a plane's block; `slices` is shared memory. */
template <int width>
static __device__ __forceinline__ void sum_rows(const weight_sum_plane &plane, int32_t block,
                                                float (&slices)[BLOCK_THREADS][width]) {
    const weight_sum_rows &rows = plane.as.rows;
    const int32_t lanes = BLOCK_THREADS / plane.slices, lane = (int32_t)threadIdx.x % lanes;
    const int64_t element = ((int64_t)block * lanes + lane) * width;
    const int32_t length_of_slice = (rows.parts + plane.slices - 1) / plane.slices;
    const int32_t begin = (int32_t)threadIdx.x / lanes * length_of_slice;
    const int32_t end = begin + length_of_slice < rows.parts ? begin + length_of_slice : rows.parts;
    float sum[width];
#pragma unroll
    for (int j = 0; j < width; j++) sum[j] = 0;
    if (element < rows.elements) {
#pragma unroll 8
        for (int32_t part = begin; part < end; part++) {
            float more[width];
            pack_open(more, pack_read<width>((const f32 *)(plane.from + element + part * rows.step)));
#pragma unroll
            for (int j = 0; j < width; j++) sum[j] += more[j];
        }
    }
    if (plane.slices > 1) {
#pragma unroll
        for (int j = 0; j < width; j++) slices[threadIdx.x][j] = sum[j];
        __syncthreads();
        if ((int32_t)threadIdx.x >= lanes) return;
        for (int32_t slice = 1; slice < plane.slices; slice++) {
#pragma unroll
            for (int j = 0; j < width; j++) sum[j] += slices[slice * lanes + lane][j];
        }
    }
    if (element >= rows.elements) return;
    if (plane.dtype == BRAID_DTYPE_F16) {
        sum_rows_write<f16>(plane, element, sum);
    } else if (plane.dtype == BRAID_DTYPE_BF16) {
        sum_rows_write<bf16>(plane, element, sum);
    } else {
        sum_rows_write<f32>(plane, element, sum);
    }
}

#endif
