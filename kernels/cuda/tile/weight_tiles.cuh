/*
 * What the weight gradients by tiles share (kernels/cuda/weight_tiles.h): the walk of a CTA over its units, the stages
 * of shared memory that a producer fills, and the warpgroups that add them up.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_WEIGHT_TILES_CUH
#define BRAID_KERNELS_CUDA_TILE_WEIGHT_TILES_CUH

#include "kernels/cuda/tile/barrier.cuh"
#include "kernels/cuda/tile/number.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shared.cuh"
#include "kernels/cuda/tile/wgmma.cuh"
#include "kernels/cuda/weight_tiles.h"

/* ---- The walk ------------------------------------------------------------------------------------- */

/* A unit, and how many are left from it on. Those of blanked samples add nothing: producer and consumers pass over
 * them. */
struct weight_walk {
    int32_t left, tile, plane, sample, row, column;
    bool blanked;
};

static __device__ __forceinline__ int64_t weight_first_unit(const weight_tiles_args &args, int64_t cta) {
    return cta * args.units / args.ctas;
}

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

/* Shared memory: the stages, then their barriers. A stage is filled by copies and emptied by one arrival of every
 * consuming warp. */
struct weight_stages {
    uint32_t memory, bytes, filled, empty;
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

/* Writes a warpgroup's accumulators of one tile: [warpgroup][four of them][thread]. */
template <int count>
static __device__ __forceinline__ void weight_leave(const weight_tiles_args &args, int32_t tile, int warpgroup,
                                                    const float (&sums)[count]) {
    const int64_t tile_elements = (int64_t)args.tile_rows * args.tile_blocks * WEIGHT_BLOCK;
    float *to = args.workspace + ((int64_t)blockIdx.x + tile) * tile_elements + warpgroup * count * 128 +
                (threadIdx.x % 128) * 4;
#pragma unroll
    for (int j = 0; j < count; j += 4) write_bytes<16>(to + j * 128, &sums[j]);
}

/* One warpgroup: adds dy x of all units, tile by tile. In a stage its filters begin at byte `dy`, its first block at
 * byte `x`, and each further block of its columns `leading` bytes on. */
template <class number, int columns>
static __device__ __forceinline__ void weight_consume(const weight_tiles_args &args, const weight_stages &stages,
                                                      int warpgroup, uint32_t dy, uint32_t x, uint32_t leading) {
    const bool arrives = threadIdx.x % 32 == 0;
    weight_walk unit;
    weight_stage at = {0, 0, 0};
    float sums[columns / 2];
    weight_begin(&unit, args);
    while (unit.left > 0) {
        const int32_t tile = unit.tile;
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
        weight_leave(args, tile, warpgroup, sums);
    }
}

#endif
