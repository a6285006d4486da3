/*
 * What the integrate kernels of sm_90 share: who does what in a block, and blanked samples.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_TMA_CUH
#define BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_TMA_CUH

#include "kernels/cuda/integrate/integrate_tma.h"
#include "kernels/cuda/integrate/integrate.cuh"
#include "kernels/cuda/integrate/panel_wgmma.cuh"
#include "kernels/cuda/ptx/registers.cuh"
#include "kernels/cuda/tile/pipeline.cuh"
#include "kernels/cuda/ptx/tma.cuh"

/* The barriers of the ring, and behind them that of the weights that stay. */
static __device__ __forceinline__ uint32_t weights_barrier(const integrate_tma_args &args) {
    return shared_address(shared_memory()) + 2 * (uint32_t)args.stages * BARRIER_BYTES;
}

static __device__ __forceinline__ uint32_t first_panel_address() {
    return shared_address(shared_memory()) + INTEGRATE_TMA_BARRIER_BYTES;
}

/* For so many groups that multiply, and so many other warps that empty a stage. */
static __device__ __forceinline__ pipeline open_ring(const integrate_tma_args &args, int groups, int others = 0) {
    const uint32_t barriers = shared_address(shared_memory());
    if (threadIdx.x == 0) {
        pipeline_init(barriers, args.stages, 1, (uint32_t)(groups * 4 + others));
        barrier_init(weights_barrier(args), 1);
        barrier_publish();
    }
    __syncthreads();
    return pipeline_begin(barriers, args.stages);
}

/* The first groups multiply; the next thread asks for the copies. */
static __device__ __forceinline__ bool is_consumer(int groups) {
    return warp_uniform((int)threadIdx.x / PANEL_GROUP) < groups;
}

static __device__ __forceinline__ bool is_producer(int groups) { return (int)threadIdx.x == groups * PANEL_GROUP; }

/* Asks for 64 channels, from c on, of the pixels of a source's map. */
static __device__ __forceinline__ void load_pixels(uint32_t to, const integrate_tma_args &args, int32_t source,
                                                   uint32_t barrier, int32_t c, int32_t pixel) {
    if (args.is_strided && args.all.source[source].is_pathway) {
        const int32_t line = pixel / args.all.out_size[1], sample = line / args.all.out_size[0];
        tma_load_im2col_4d(to, &args.x[source], barrier, c, (pixel - line * args.all.out_size[1]) * args.all.stride[1],
                           (line - sample * args.all.out_size[0]) * args.all.stride[0], sample, 0, 0);
    } else {
        tma_load_2d(to, &args.x[source], barrier, c, pixel);
    }
}

/* True where one of the pixels [first, end) is of a sample that the mask blanks. */
static __device__ __forceinline__ bool any_blanked(const integrate_panels_args &all, const uint32_t *mask,
                                                   int32_t first, int32_t end) {
    if (!mask || first >= end) return false;
    const int32_t sample_pixels = all.out_size[0] * all.out_size[1];
    bool any = false;
    for (int32_t sample = first / sample_pixels; sample * sample_pixels < end; sample++)
        any = any || mask_blanks(mask, sample);
    return any;
}

/* Clears the rows of a panel of 64 pixels whose samples are blanked; 128 threads, each half a row. */
static __device__ __forceinline__ void clear_blanked(uint32_t panel, const integrate_panels_args &all,
                                                     const uint32_t *mask, int32_t first, int32_t end) {
    const int row = (int)threadIdx.x % PANEL_GROUP / 2;
    if (first + row >= end || !mask_blanks(mask, find_place(all, first + row).sample)) return;
    for (uint32_t piece = 0; piece < 4; piece++)
        shared_clear(panel + (uint32_t)row * PANEL_ROW_BYTES + threadIdx.x % 2 * 64 + piece * 16);
}

#endif
