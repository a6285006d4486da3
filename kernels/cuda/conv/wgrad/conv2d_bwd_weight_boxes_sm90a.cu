/*
 * conv2d weight gradient on Hopper's matrix units for any filter, stride and dilation. A tile is 128
 * filters by one to four blocks (64 channels of one tap each). For every unit, a rectangle of output pixels, two copies
 * bring the filters of dy and one for each block the pixels of x that its tap sees there: every stride-th one, zeros
 * beyond the edge. So all operands are plain matrices with one row for each output pixel, and the blocks of a tile are
 * columns of one product.
 *
 * Two warpgroups hold 64 filters each; one thread of the third asks for the copies.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/ptx/barrier.cuh"
#include "kernels/cuda/ptx/registers.cuh"
#include "kernels/cuda/ptx/shared.cuh"
#include "kernels/cuda/ptx/tma.cuh"
#include "kernels/cuda/conv/wgrad/weight_tiles.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

#define CONSUMERS 2
#define THREADS 384

/* Where a block of a tile begins: its channels, and the pixel of x that the first output pixel sees. */
struct block_place {
    int32_t channel, row, column;
};

template <int blocks>
static __device__ __forceinline__ void find_blocks(block_place (&to)[blocks], const weight_tiles_args &args,
                                                   const weight_tiles_plane &plane, int32_t tile) {
    const int32_t taps = args.filter[0] * args.filter[1], first = weight_tile_column(plane, tile) * blocks;
#pragma unroll
    for (int j = 0; j < blocks; j++) {
        const int32_t tap = (first + j) % taps, r = tap / args.filter[1], s = tap % args.filter[1];
        to[j].channel = (first + j) / taps * WEIGHT_BLOCK; /* behind the last block: beyond the channels, so zeros */
        to[j].row = r * args.dilation[0] - args.padding[0];
        to[j].column = s * args.dilation[1] - args.padding[1];
    }
}

template <int blocks>
static __device__ __forceinline__ void produce(const weight_tiles_args &args, const weight_stages &stages) {
    const uint32_t bytes = (uint32_t)(CONSUMERS * args.dy_box_bytes + blocks * args.x_box_bytes);
    block_place block[blocks] = {};
    weight_walk unit;
    weight_stage at = {0, 1, 0};
    int32_t tile = -1, filter = 0;
    for (weight_begin(&unit, args); unit.left > 0; weight_next(&unit, args)) {
        if (unit.blanked) continue;
        const weight_tiles_plane &plane = args.plane[unit.plane];
        if (unit.tile != tile) {
            tile = unit.tile;
            filter = weight_tile_row(plane, tile) * args.tile_rows;
            find_blocks(block, args, plane, tile);
        }
        const int32_t row = unit.row * args.rows, column = unit.column * args.columns;
        const uint32_t filled = stages.filled + at.index * BARRIER_BYTES;
        uint32_t to = stages.memory + at.index * stages.bytes;
        barrier_wait(stages.empty + at.index * BARRIER_BYTES, at.parity);
        barrier_expect(filled, bytes);
#pragma unroll
        for (int half = 0; half < CONSUMERS; half++, to += args.dy_bytes)
            tma_load_4d(to, &plane.dy, filled, filter + half * 64, column, row, unit.sample);
#pragma unroll
        for (int j = 0; j < blocks; j++, to += args.x_bytes)
            tma_load_4d(to, &plane.x, filled, block[j].channel, column * args.stride[1] + block[j].column,
                        row * args.stride[0] + block[j].row, unit.sample);
        weight_advance(&at, args);
    }
}

template <class number, int blocks, bool has_tree>
static __device__ __forceinline__ void consume(const weight_tiles_args &args, const weight_stages &stages, int half) {
    const uint32_t x = (uint32_t)(CONSUMERS * args.dy_bytes);
    weight_consume<number, blocks * WEIGHT_BLOCK, has_tree>(args, stages, half, half * args.dy_bytes, x, args.x_bytes);
}

template <class number, int blocks, bool has_tree = false>
static __device__ __forceinline__ void conv2d_bwd_weight_boxes(const weight_tiles_args &args) {
    const int warpgroup = warp_uniform((int)threadIdx.x / 128);
    weight_stages stages;
    weight_open(&stages, args, CONSUMERS, blocks, CONSUMERS);
    if (warpgroup == CONSUMERS) {
        registers_give<40>();
        if (threadIdx.x == CONSUMERS * 128) produce<blocks>(args, stages);
    } else {
        registers_take<232>();
        consume<number, blocks, has_tree>(args, stages, warpgroup);
    }
}

ENTRY_HALVES(conv2d_bwd_weight_boxes_x1, (THREADS, 1), weight_tiles_args, conv2d_bwd_weight_boxes<number, 1>(args))
ENTRY_HALVES(conv2d_bwd_weight_boxes_x2, (THREADS, 1), weight_tiles_args, conv2d_bwd_weight_boxes<number, 2>(args))
ENTRY_HALVES(conv2d_bwd_weight_boxes_x3, (THREADS, 1), weight_tiles_args, conv2d_bwd_weight_boxes<number, 3>(args))
ENTRY_HALVES(conv2d_bwd_weight_boxes_x4, (THREADS, 1), weight_tiles_args, conv2d_bwd_weight_boxes<number, 4>(args))
ENTRY_HALVES(conv2d_bwd_weight_boxes_x1_tree, (THREADS, 1), weight_tiles_args,
             conv2d_bwd_weight_boxes<number, 1, true>(args))
ENTRY_HALVES(conv2d_bwd_weight_boxes_x2_tree, (THREADS, 1), weight_tiles_args,
             conv2d_bwd_weight_boxes<number, 2, true>(args))
ENTRY_HALVES(conv2d_bwd_weight_boxes_x3_tree, (THREADS, 1), weight_tiles_args,
             conv2d_bwd_weight_boxes<number, 3, true>(args))
ENTRY_HALVES(conv2d_bwd_weight_boxes_x4_tree, (THREADS, 1), weight_tiles_args,
             conv2d_bwd_weight_boxes<number, 4, true>(args))
