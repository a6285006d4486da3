/*
 * The general convolution on the matrix units (im2col.cuh): its shapes, and which tiles a block has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_IM2COL_SHAPE_CUH
#define BRAID_KERNELS_CUDA_TILE_IM2COL_SHAPE_CUH

#include "kernels/cuda/conv2d_im2col.h"
#include "kernels/cuda/tile/barrier.cuh"
#include "kernels/cuda/tile/row_dsums.cuh"
#include "kernels/cuda/tile/row_moments.cuh"

/* `transposed`: the weights are summed over K, not over C. `sums_of`: what is added up of the results. */
template <class number_type, int columns_each, int split_pixels, int transposed_weights, class sums_of = no_row_dsums>
struct im2col_shape {
    typedef number_type number;
    typedef sums_of beside;
    static const bool in_place = beside::in_place; /* r lies where the results will */
    static const int columns = columns_each, split = split_pixels, transposed = transposed_weights;
    static const int lanes = IM2COL_LANES(split), pixels = IM2COL_PIXELS(columns, split);
    static const int stages = in_place ? IM2COL_SUMS_STAGES(columns, beside::by_x) : IM2COL_STAGES(columns, split);
    static const int buffers = in_place ? IM2COL_SUMS_BUFFERS(columns, beside::by_x)
                                        : IM2COL_BUFFERS(columns, split);      /* of results, of a warpgroup */
    static const int piece = in_place ? IM2COL_SUMS_PIXELS(beside::by_x) : 32; /* pixels of a buffer */
    static const uint32_t plane_bytes = piece * 128;                           /* of them and one of what lies there */
    static const uint32_t buffer_bytes = in_place ? IM2COL_SUMS_BUFFER_BYTES(beside::by_x) : IM2COL_RESULT_BYTES;
    static const int lead = stages > 4 ? 2 : 1; /* steps that the first warpgroup begins before the second */
    static const uint32_t stage_bytes = IM2COL_STAGE_BYTES(columns, split), weight_bytes = lanes * 128;
    static const uint32_t results = stages * stage_bytes, barriers = results + 2 * buffers * buffer_bytes;
    static const uint32_t turned = barriers + 2 * stages * BARRIER_BYTES; /* of buffers, where r is in place */
    static const uint32_t words = in_place ? turned + 4 * buffers * BARRIER_BYTES : turned;
};

static __device__ __forceinline__ const cuda_tensor_map *im2col_map(const conv2d_im2col_args &args, int kind,
                                                                    int plane) {
    return &args.map[kind * args.planes + plane];
}

/* A tile: `first_lane` and `first_pixel` are those of its corner. */
struct im2col_work {
    int plane, pixel_class;
    int32_t first_lane, first_pixel;
};

/* The tiles of a block: `first`, `first` + `step`, ... before `end`. */
struct im2col_turns {
    int32_t first, end, step;
};

/* Every gridDim-th tile of all; of kernels that add up their results every so many-th of one plane, whose lanes are the
 * same in all of them. */
template <class shape> static __device__ __forceinline__ im2col_turns im2col_turns_of(const conv2d_im2col_args &args) {
    im2col_turns turns = {(int32_t)blockIdx.x, args.tiles, (int32_t)gridDim.x};
    if (!shape::beside::sums) return turns;
    int at = 0;
    while (at + 1 < args.segments && (int32_t)blockIdx.x >= args.plane[args.segment[at + 1].plane].first_block) at++;
    const im2col_plane &plane = args.plane[args.segment[at].plane];
    turns.first = args.segment[at].first_tile + (int32_t)blockIdx.x - plane.first_block;
    turns.step = plane.blocks;
    if (at + 1 < args.segments) turns.end = args.segment[at + 1].first_tile;
    return turns;
}

template <class shape>
static __device__ __forceinline__ im2col_work im2col_find(const conv2d_im2col_args &args, int32_t tile) {
    int at = 0;
    while (at + 1 < args.segments && tile >= args.segment[at + 1].first_tile) at++;
    im2col_work work;
    work.plane = args.segment[at].plane;
    work.pixel_class = args.segment[at].pixel_class;
    const int32_t rest = tile - args.segment[at].first_tile, lane_tiles = args.plane[work.plane].lane_tiles;
    work.first_pixel = rest / lane_tiles * shape::pixels;
    work.first_lane = rest % lane_tiles * shape::lanes;
    return work;
}

#endif
