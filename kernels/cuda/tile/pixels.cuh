/*
 * Kernels that make one value for every element: a block has some pixels of one sample, its threads lie side by side
 * along the channels and then along the pixels. What is made comes as a body:
 *
 *     begin(c)              readies channels c to c + width - 1 of the sample
 *     fetch(inputs, at)     takes from memory what it needs of the element at `at` and its neighbours
 *     make(inputs, pixel, c, at)
 *                           makes their outputs; pixels are counted over all samples
 *     blank(at)             writes zeros: the sample is blanked
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_PIXELS_CUH
#define BRAID_KERNELS_CUDA_TILE_PIXELS_CUH

#include "kernels/cuda/tile/pixels.h"
#include "kernels/cuda/tile/act.cuh"
#include "kernels/cuda/tile/pack.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shape.h"

/* What a thread has to do: packs lane, lane + lanes, ... of pixels begin, begin + step, ... before end. `lanes` are
 * those of all blocks that have the same pixels. */
struct pixel_work {
    int plane;
    int64_t sample, begin, end;
    int32_t step, lane, lanes;
};

/* The work of block `block` of those of a plane. */
static __device__ __forceinline__ pixel_work pixel_work_of(const pixel_map &map, int plane, int32_t block) {
    pixel_work work;
    work.plane = plane;
    const int32_t blocks = map.blocks[plane], lanes = map.lanes[plane], tiles = map.tiles[plane];
    work.sample = block / blocks;
    work.lanes = tiles * lanes;
    work.lane = block % tiles * lanes + (int32_t)threadIdx.x % lanes;
    work.step = BLOCK_THREADS / lanes;
    const int64_t first = block % blocks / tiles * map.chunk[plane], last = first + map.chunk[plane];
    const int64_t origin = work.sample * map.sample_pixels;
    work.begin = origin + first + (int32_t)threadIdx.x / lanes;
    work.end = origin + (last < map.sample_pixels ? last : map.sample_pixels);
    return work;
}

/* The work of this block. */
template <class argument> static __device__ __forceinline__ pixel_work pixel_work_find(const argument &args) {
    const int plane = schedule_plane(args.map.first_block, args.planes);
    return pixel_work_of(args.map, plane, (int32_t)blockIdx.x - args.map.first_block[plane]);
}

/* What all bodies know: the kernel's argument, and of it the plane. */
template <class number, int width, class argument = pixel_args> struct pixel_body {
    typedef decltype(((const argument *)0)->plane[0]) plane_of_argument; /* a reference */
    static const int lanes = width;
    static const int ahead = 2; /* pixels that a thread has on their way from memory; more where a body reads little */
    const argument &args;
    plane_of_argument plane;
    const int index;   /* of the plane */
    int64_t in_sample; /* of this block */
    __device__ __forceinline__ pixel_body(const argument &all, int i)
        : args(all), plane(all.plane[i]), index(i), in_sample(0) {}
    __device__ __forceinline__ void begin(int64_t) {}
    /* Values of channels c and on to the pack at `at` of an output. */
    __device__ __forceinline__ void put(void *to, int64_t at, const float (&values)[width], int64_t c) const {
        pack_write((number *)to + at, values, plane.channels - c);
    }
    __device__ __forceinline__ pack<number, width> take(const void *from, int64_t at) const {
        return pack_read<width>((const number *)from + at);
    }
    __device__ __forceinline__ void clear(void *to, int64_t at) const {
        const float zeros[width] = {0};
        pack_write((number *)to + at, zeros, 0);
    }
};

template <class body> static __device__ __forceinline__ void pixels_run(body &of, const pixel_work &work) {
    const int ahead = body::ahead;
    const int64_t pitch = of.plane.pitch;
    const bool blanked = mask_blanks(of.plane.mask, work.sample);
    of.in_sample = work.sample;
    for (int64_t c = (int64_t)work.lane * body::lanes; c < pitch; c += (int64_t)work.lanes * body::lanes) {
        if (blanked) {
            for (int64_t pixel = work.begin; pixel < work.end; pixel += work.step) of.blank(pixel * pitch + c);
            continue;
        }
        for (int64_t pixel = work.begin; pixel < work.end; pixel += ahead * work.step) {
            typename body::inputs in[ahead];
#pragma unroll
            for (int j = 0; j < ahead; j++) {
                const int64_t mine = pixel + j * work.step;
                if (mine < work.end) of.fetch(in[j], mine * pitch + c);
            }
            if (pixel == work.begin) of.begin(c); /* while the first pixels are on their way */
#pragma unroll
            for (int j = 0; j < ahead; j++) {
                const int64_t mine = pixel + j * work.step;
                if (mine < work.end) of.make(in[j], mine, c, mine * pitch + c);
            }
        }
    }
}

/* The body with packs where the plane allows them. */
template <template <class, int> class body, class number, class argument>
static __device__ __forceinline__ void pixels_block(const argument &args, const pixel_work &work) {
    if (args.map.vector[work.plane]) {
        body<number, widest<number>::width> of(args, work.plane);
        pixels_run(of, work);
    } else {
        body<number, 1> of(args, work.plane);
        pixels_run(of, work);
    }
}

/* A whole kernel. */
template <template <class, int> class body, class number, class argument>
static __device__ __forceinline__ void pixels_kernel(const argument &args) {
    pixels_block<body, number>(args, pixel_work_find(args));
}

/* The same with packs of four halves as well. */
template <template <class, int> class body, class number, class argument>
static __device__ __forceinline__ void pixels_kernel_few(const argument &args) {
    const pixel_work work = pixel_work_find(args);
    if (widest<number>::width == 8 && args.map.vector[work.plane] == 4) {
        body<number, 4> of(args, work.plane);
        pixels_run(of, work);
    } else {
        pixels_kernel<body, number>(args);
    }
}

/* The same for bodies of either kind of activation. */
template <template <bool> class body_of, class number, class argument>
static __device__ __forceinline__ void pixels_kernel_act(const argument &args) {
    if (act_is_curved(args.activation)) {
        pixels_kernel<body_of<true>::template body, number>(args);
    } else {
        pixels_kernel<body_of<false>::template body, number>(args);
    }
}

/* The inputs of bodies that read nothing ahead. */
struct pixel_nothing {};

#endif
