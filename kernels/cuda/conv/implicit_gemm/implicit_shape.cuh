/*
 * The general convolution on the matrix units (implicit_gemm.cuh): its shapes, and which tiles a block has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_IMPLICIT_GEMM_IMPLICIT_SHAPE_CUH
#define BRAID_KERNELS_CUDA_CONV_IMPLICIT_GEMM_IMPLICIT_SHAPE_CUH

#include "kernels/cuda/conv/implicit_gemm/conv2d_implicit_gemm.h"
#include "kernels/cuda/ptx/barrier.cuh"
#include "kernels/cuda/tile/row_bn_reduce.cuh"
#include "kernels/cuda/tile/row_moments.cuh"

/* What adds up the results. */
template <class number, implicit_sums sums> struct implicit_beside { typedef no_row_bn_reduce type; };
template <class number> struct implicit_beside<number, IMPLICIT_SUMS_BY_R> { typedef row_bn_reduce<number> type; };
template <class number> struct implicit_beside<number, IMPLICIT_SUMS_BY_X> {
    typedef row_bn_reduce<number, true> type;
};
template <class number> struct implicit_beside<number, IMPLICIT_MOMENTS> { typedef row_moments<number> type; };

/* Of a tile (IMPLICIT_LANES_TILES and the other tables). `transposed`: the weights are summed over K, not over C. */
template <class number_type, int columns_each, int split_pixels, implicit_sums sums, int transposed_weights>
struct implicit_shape {
    typedef number_type number;
    typedef typename implicit_beside<number, sums>::type beside;
    static const bool in_place = beside::in_place; /* r lies where the results will */
    static const int columns = columns_each, split = split_pixels, transposed = transposed_weights;
    static const int lanes = IMPLICIT_LANES(split), pixels = IMPLICIT_PIXELS(columns, split);
    static const int stages = in_place ? IMPLICIT_SUMS_STAGES(columns, beside::by_x) : IMPLICIT_STAGES(columns, split);
    static const int buffers = in_place ? IMPLICIT_SUMS_BUFFERS(columns, beside::by_x)
                                        : IMPLICIT_BUFFERS(columns, split);      /* of results, of a warpgroup */
    static const int piece = in_place ? IMPLICIT_SUMS_PIXELS(beside::by_x) : 32; /* pixels of a buffer */
    static const uint32_t plane_bytes = piece * 128; /* of them and one of what lies there */
    static const uint32_t buffer_bytes = in_place ? IMPLICIT_SUMS_BUFFER_BYTES(beside::by_x) : IMPLICIT_RESULT_BYTES;
    static const int lead = stages > 4 ? 2 : 1; /* steps that the first warpgroup begins before the second */
    static const uint32_t stage_bytes = IMPLICIT_STAGE_BYTES(columns, split), weight_bytes = lanes * 128;
    static const uint32_t results = stages * stage_bytes, barriers = results + 2 * buffers * buffer_bytes;
    static const uint32_t turned = barriers + 2 * stages * BARRIER_BYTES; /* of buffers, where r is in place */
    static const uint32_t words = in_place ? turned + 4 * buffers * BARRIER_BYTES : turned;
};

static __device__ __forceinline__ const cuda_tensor_map *implicit_map(const conv2d_implicit_gemm_args &args, int kind,
                                                                      int plane) {
    return &args.map[kind * args.planes + plane];
}

/* A tile: `first_lane` and `first_pixel` are those of its corner. */
struct implicit_work {
    int plane, pixel_class;
    int32_t first_lane, first_pixel;
};

/* The tiles of a block: `first`, `first` + `step`, ... before `end`. */
struct implicit_turns {
    int32_t first, end, step;
};

/* Every gridDim-th tile of all; of kernels that add up their results every so many-th of one plane, whose lanes are the
 * same in all of them. */
template <class shape>
static __device__ __forceinline__ implicit_turns implicit_turns_of(const conv2d_implicit_gemm_args &args) {
    implicit_turns turns = {(int32_t)blockIdx.x, args.tiles, (int32_t)gridDim.x};
    if (!shape::beside::sums) return turns;
    int at = 0;
    while (at + 1 < args.segments && (int32_t)blockIdx.x >= args.plane[args.segment[at + 1].plane].first_block) at++;
    const implicit_plane &plane = args.plane[args.segment[at].plane];
    turns.first = args.segment[at].first_tile + (int32_t)blockIdx.x - plane.first_block;
    turns.step = plane.blocks;
    if (at + 1 < args.segments) turns.end = args.segment[at + 1].first_tile;
    return turns;
}

template <class shape>
static __device__ __forceinline__ implicit_work implicit_find(const conv2d_implicit_gemm_args &args, int32_t tile) {
    int at = 0;
    while (at + 1 < args.segments && tile >= args.segment[at + 1].first_tile) at++;
    implicit_work work;
    work.plane = args.segment[at].plane;
    work.pixel_class = args.segment[at].pixel_class;
    const int32_t rest = tile - args.segment[at].first_tile, lane_tiles = args.plane[work.plane].lane_tiles;
    work.first_pixel = rest / lane_tiles * shape::pixels;
    work.first_lane = rest % lane_tiles * shape::lanes;
    return work;
}

#endif
