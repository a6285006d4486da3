/*
 * The threads of a block as rows of channels, and sums over its rows in a fixed order.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_COLUMNS_CUH
#define BRAID_KERNELS_CUDA_TILE_COLUMNS_CUH

#include "kernels/cuda/bn.h"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shape.h"

/* What a thread of a column sum has to do. */
struct column_work {
    int plane;
    int32_t channel; /* of the plane; may be beyond its last */
    int32_t part;
    int64_t begin, end; /* its pixels: begin, begin + step, ... before end */
    int32_t step;
};

/* The work of this thread in the first launch. */
static __device__ __forceinline__ column_work column_first(const bn_columns &columns) {
    column_work work;
    work.plane = schedule_plane(columns.first_block, columns.planes);
    const int32_t lanes = columns.lanes[work.plane], tile = (int32_t)blockIdx.x - columns.first_block[work.plane];
    work.part = tile % columns.parts;
    work.channel = tile / columns.parts * lanes + (int32_t)threadIdx.x % lanes;
    work.step = BLOCK_THREADS / lanes;
    const int64_t first = work.part * columns.part_pixels, last = first + columns.part_pixels;
    work.begin = first + (int32_t)threadIdx.x / lanes;
    work.end = last < columns.pixels ? last : columns.pixels;
    return work;
}

/* The work of this thread in the second launch: the same, with parts in place of pixels. */
static __device__ __forceinline__ column_work column_second(const bn_columns &columns) {
    column_work work;
    work.plane = schedule_plane(columns.first_tile, columns.planes);
    const int32_t lanes = columns.lanes[work.plane];
    work.part = 0;
    work.channel = ((int32_t)blockIdx.x - columns.first_tile[work.plane]) * lanes + (int32_t)threadIdx.x % lanes;
    work.step = BLOCK_THREADS / lanes;
    work.begin = (int32_t)threadIdx.x / lanes;
    work.end = columns.parts;
    return work;
}

/* Where the sums of a part and this thread's channel lie in the workspace. */
static __device__ __forceinline__ int64_t column_at(const bn_columns &columns, const column_work &work, int64_t part) {
    return part * columns.first_channel[BRAID_MAX_PLANES] + columns.first_channel[work.plane] + work.channel;
}

/* Adds the rows of a block, halves upon halves: the first row gets the sum. Two kinds of sum, each with its add(). */
template <class sum>
static __device__ __forceinline__ sum column_add_rows(sum *shared, const sum &mine, int32_t lanes) {
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int32_t half = BLOCK_THREADS / 2; half >= lanes; half /= 2) {
        if ((int32_t)threadIdx.x < half) shared[threadIdx.x] = add(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    return shared[threadIdx.x];
}

#endif
