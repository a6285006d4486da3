/*
 * What the weight gradients by tiles share (reduce/weight_tiles.h): the walk of a CTA over its units, the stages
 * of shared memory that a producer fills, and the warpgroups that add them up.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_WGRAD_WEIGHT_TILES_CUH
#define BRAID_KERNELS_CUDA_CONV_WGRAD_WEIGHT_TILES_CUH

#include "kernels/cuda/ptx/barrier.cuh"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/tile/panel.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/ptx/shared.cuh"
#include "kernels/cuda/tile/sum_tree.cuh"
#include "kernels/cuda/reduce/weight_units.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"
#include "kernels/cuda/reduce/weight_tiles.h"

/* ---- The walk ------------------------------------------------------------------------------------- */

/* A unit, and how many are left from it on. Those of blanked samples add nothing: producer and consumers pass over
 * them. */
struct weight_walk {
    int32_t left, tile, plane, sample, row, column;
    bool blanked;
};

static __device__ __forceinline__ void weight_look(weight_walk *at, const weight_tiles_args &args) {
    while (at->plane + 1 < args.planes && at->tile >= args.plane[at->plane + 1].first_tile) at->plane++;
    at->blanked = mask_blanks(args.plane[at->plane].mask, at->sample);
}

static __device__ __forceinline__ void weight_begin(weight_walk *at, const weight_tiles_args &args) {
    const int32_t first = (int32_t)weight_first_unit(args, blockIdx.x), pieces = args.piece_rows * args.piece_columns;
    const int32_t tile_units = pieces * args.batch, rest = first % tile_units;
    at->left = (int32_t)weight_first_unit(args, (int64_t)blockIdx.x + 1) - first;
    at->tile = first / tile_units;
    at->plane = 0;
    at->blanked = false;
    at->sample = rest / pieces;
    at->row = rest % pieces / args.piece_columns;
    at->column = rest % pieces % args.piece_columns;
    if (at->left > 0) weight_look(at, args);
}

/* To the next unit, by counting: divisions would hold up the thread that asks for the copies. */
static __device__ __forceinline__ void weight_next(weight_walk *at, const weight_tiles_args &args) {
    at->left--;
    if (++at->column < args.piece_columns) return;
    at->column = 0;
    if (++at->row < args.piece_rows) return;
    at->row = 0;
    if (++at->sample == args.batch) {
        at->sample = 0;
        at->tile++;
    }
    if (at->left > 0) weight_look(at, args);
}

/* Row and column of a tile in its plane. */
static __device__ __forceinline__ int32_t weight_tile_row(const weight_tiles_plane &plane, int32_t tile) {
    return (tile - plane.first_tile) / plane.column_tiles;
}
static __device__ __forceinline__ int32_t weight_tile_column(const weight_tiles_plane &plane, int32_t tile) {
    return (tile - plane.first_tile) % plane.column_tiles;
}

/* ---- The stages ----------------------------------------------------------------------------------- */

/* Shared memory: the stages, their barriers, and a word for each consumer. A stage is filled by copies and emptied by
 * one arrival of every consuming warp. */
struct weight_stages {
    uint32_t memory, bytes, filled, empty, meetings;
};

/* Where a thread is in the ring of stages; the producer begins with parity 1, which an empty ring has. */
struct weight_stage {
    uint32_t index, parity, previous;
};

static __device__ __forceinline__ void weight_advance(weight_stage *at, const weight_tiles_args &args) {
    at->previous = at->index;
    if (++at->index == (uint32_t)args.stages) {
        at->index = 0;
        at->parity ^= 1;
    }
}

/* Zeros behind what one copy brings. */
static __device__ __forceinline__ void weight_clear(uint32_t memory, int32_t begin, int32_t end) {
    for (int32_t at = begin + (int32_t)threadIdx.x * 16; at < end; at += (int32_t)blockDim.x * 16)
        shared_clear(memory + at);
}

/* Readies shared memory for stages of so many boxes of dy and then of x. The whole block does this. */
static __device__ __forceinline__ void weight_open(weight_stages *stages, const weight_tiles_args &args, int dy_boxes,
                                                   int x_boxes, int consumers) {
    stages->memory = shared_address(shared_memory());
    stages->bytes = (uint32_t)(dy_boxes * args.dy_bytes + x_boxes * args.x_bytes);
    stages->filled = stages->memory + args.stages * stages->bytes;
    stages->empty = stages->filled + args.stages * BARRIER_BYTES;
    stages->meetings = stages->empty + args.stages * BARRIER_BYTES;
    for (int32_t stage = 0; stage < args.stages; stage++) {
        uint32_t box = stages->memory + stage * stages->bytes;
        for (int i = 0; i < dy_boxes; i++, box += args.dy_bytes) weight_clear(box, args.dy_box_bytes, args.dy_bytes);
        for (int i = 0; i < x_boxes; i++, box += args.x_bytes) weight_clear(box, args.x_box_bytes, args.x_bytes);
    }
    fence_async();
    if (threadIdx.x == 0) {
        for (int32_t stage = 0; stage < args.stages; stage++) {
            barrier_init(stages->filled + stage * BARRIER_BYTES, 1);
            barrier_init(stages->empty + stage * BARRIER_BYTES, 4 * consumers);
        }
        barrier_publish();
    }
    __syncthreads();
}

/* ---- The sums ------------------------------------------------------------------------------------- */

/* Leaves a warpgroup's accumulators of one tile to the second stage: [warpgroup][four of them][thread]. */
template <int count>
static __device__ __forceinline__ void weight_leave(const weight_tiles_args &args, int32_t tile, int warpgroup,
                                                    const float (&sums)[count]) {
    const int64_t tile_elements = (int64_t)args.tile_rows * args.tile_blocks * WEIGHT_BLOCK;
    float *to = args.workspace + ((int64_t)blockIdx.x + tile) * tile_elements + warpgroup * count * 128 +
                (threadIdx.x % 128) * 4;
#pragma unroll
    for (int j = 0; j < count; j += 4) write_bytes<16>(to + j * 128, &sums[j]);
}

/* Where a warpgroup of this CTA is in the tree of a tile. */
template <int count>
static __device__ __forceinline__ sum_tree weight_tree(const weight_tiles_args &args, const weight_stages &stages,
                                                       int32_t tile, int warpgroup) {
    const weight_sharers by =
        weight_find_sharers(tile, (int64_t)args.batch * args.piece_rows * args.piece_columns, args.units, args.ctas);
    const int32_t groups = args.tile_rows * args.tile_blocks * WEIGHT_BLOCK / (count * SUM_TREE_GROUP);
    sum_tree tree;
    tree.part = (int32_t)blockIdx.x - by.first;
    tree.parts = by.parts;
    tree.counters = args.counters + by.first * groups + warpgroup;
    tree.counter_step = groups;
    tree.slot_elements = groups * count * SUM_TREE_GROUP;
    tree.slots = args.workspace + (int64_t)(2 * by.first) * tree.slot_elements + warpgroup * count * SUM_TREE_GROUP;
    tree.meeting = stages.meetings + (uint32_t)warpgroup * 4;
    tree.barrier = warpgroup + 1;
    return tree;
}

/* Two neighbouring channels of one filter, as far as they exist. */
template <class number>
static __device__ __forceinline__ void weight_write_pair(number *to, int32_t channel, int32_t channels,
                                                         const float *values) {
    if (channel < channels) store(to + channel, values[0]);
    if (channel + 1 < channels) store(to + channel + 1, values[1]);
}

/* Writes a warpgroup's accumulators of a tile as dw, [filter][tap][channel], as far as it goes. */
template <class number, int count>
static __device__ __forceinline__ void weight_write(const weight_tiles_args &args, const weight_tiles_plane &plane,
                                                    int32_t tile, int warpgroup, const float (&sums)[count]) {
    const int runs = count / 16; /* of 32 channels */
    const int32_t taps = args.filter[0] * args.filter[1];
    const int32_t filter =
        weight_tile_row(plane, tile) * args.tile_rows + (args.stacked ? warpgroup * 64 : 0) + panel_sum_row();
    const int32_t first =
        weight_tile_column(plane, tile) * args.tile_blocks + (args.stacked ? 0 : warpgroup * (runs / 2));
#pragma unroll
    for (int j = 0; j < runs; j++) {
        const int32_t block = first + j / 2, channel = block / taps * WEIGHT_BLOCK + j % 2 * 32, tap = block % taps;
#pragma unroll
        for (int second = 0; second < 2; second++) {
            const int32_t k = filter + 8 * second, c = channel + panel_run_column();
            number *to = (number *)plane.dw + ((int64_t)k * taps + tap) * plane.channels;
            if (plane.channels % 8 == 0) {
                uint32_t run[4];
                panel_run<number>(run, sums, second, j);
                if (k < plane.filters && c < plane.channels) write_bytes<16>(to + c, run);
            } else if (k < plane.filters) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    weight_write_pair(to, channel + 8 * i + (int32_t)threadIdx.x % 4 * 2, plane.channels,
                                      &sums[16 * j + 4 * i + 2 * second]);
            }
        }
    }
}

/* One warpgroup: adds dy x of all units, tile by tile. In a stage its filters begin at byte `dy`, its first block at
 * byte `x`, and each further block of its columns `leading` bytes on. */
template <class number, int columns, bool has_tree>
static __device__ __forceinline__ void weight_consume(const weight_tiles_args &args, const weight_stages &stages,
                                                      int warpgroup, uint32_t dy, uint32_t x, uint32_t leading) {
    const bool arrives = threadIdx.x % 32 == 0;
    weight_walk unit;
    weight_stage at = {0, 0, 0};
    float sums[columns / 2];
    weight_begin(&unit, args);
    while (unit.left > 0) {
        const int32_t tile = unit.tile, plane = unit.plane;
        bool busy = false;
#pragma unroll
        for (int i = 0; i < columns / 2; i++) sums[i] = 0;
        for (; unit.left > 0 && unit.tile == tile; weight_next(&unit, args)) {
            if (unit.blanked) continue;
            const uint32_t from = stages.memory + at.index * stages.bytes;
            const int32_t steps = unit.row + 1 < args.piece_rows ? args.steps : args.last_steps;
            shared_matrix a = matrix_down_rows(from + dy, 1024), b = matrix_down_rows(from + x, leading);
            barrier_wait(stages.filled + at.index * BARRIER_BYTES, at.parity);
            wgmma_hold(sums);
            wgmma_begin();
            wgmma<number, columns, 1, 1>(sums, a, b, 1);
            wgmma_commit();
            if (busy) { /* all before this step has been added: the last stage is free */
                wgmma_wait<1>();
                if (arrives) barrier_arrive(stages.empty + at.previous * BARRIER_BYTES);
            }
#pragma unroll 1
            for (int32_t step = 1; step < steps; step++) {
                a = matrix_moved(a, WEIGHT_STEP * WEIGHT_PIXEL_BYTES);
                b = matrix_moved(b, WEIGHT_STEP * WEIGHT_PIXEL_BYTES);
                wgmma<number, columns, 1, 1>(sums, a, b, 1);
            }
            wgmma_commit();
            busy = true;
            weight_advance(&at, args);
        }
        wgmma_wait<0>();
        wgmma_hold(sums);
        if (busy && arrives) barrier_arrive(stages.empty + at.previous * BARRIER_BYTES);
        if (!has_tree) {
            weight_leave(args, tile, warpgroup, sums);
        } else if (sum_tree_climb(weight_tree<columns / 2>(args, stages, tile, warpgroup), sums)) {
            weight_write<number>(args, args.plane[plane], tile, warpgroup, sums);
        }
    }
}

#endif
