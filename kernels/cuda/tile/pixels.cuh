/*
 * Kernels that make one value for every element: a block has some pixels of one sample, its
 * threads lie side by side along the channels and then along the pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_PIXELS_CUH
#define BRAID_KERNELS_CUDA_TILE_PIXELS_CUH

#include "kernels/cuda/bn.h"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shape.h"

/* What a thread has to do: channels lane, lane + lanes, ... of pixels begin, begin + step, ... before end. */
struct pixel_work {
    int plane;
    int64_t sample, begin, end;
    int32_t step, lane, lanes;
};

static __device__ __forceinline__ pixel_work pixel_work_find(const bn_pixels &pixels) {
    pixel_work work;
    work.plane = schedule_plane(pixels.first_block, pixels.planes);
    const int32_t block = (int32_t)blockIdx.x - pixels.first_block[work.plane], blocks = pixels.blocks[work.plane];
    work.sample = block / blocks;
    work.lanes = pixels.lanes[work.plane];
    work.lane = (int32_t)threadIdx.x % work.lanes;
    work.step = BLOCK_THREADS / work.lanes;
    const int64_t first = block % blocks * pixels.chunk[work.plane], last = first + pixels.chunk[work.plane];
    const int64_t origin = work.sample * pixels.sample_pixels;
    work.begin = origin + first + (int32_t)threadIdx.x / work.lanes;
    work.end = origin + (last < pixels.sample_pixels ? last : pixels.sample_pixels);
    return work;
}

#endif
