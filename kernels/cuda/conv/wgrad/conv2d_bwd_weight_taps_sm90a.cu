/*
 * conv2d weight gradient of 3x3 filters at stride 1 with padding 1 on Hopper's matrix units. A tile is 64
 * filters by 64 channels with all nine taps, so that dy and x are read once for nine products.
 *
 * Pixels lie in shared memory as in the image: dy in `rows` rows, x with one row more above and below and one pixel
 * more on the left. Where a unit holds whole rows, a row of both has W + 1 pixels: the pixel behind the last of dy is
 * zero by the copy engine's fill, and the zero left of each row of x is also the one right of the row above. So every
 * tap is the same matrix at another pixel: warpgroup r takes filter row r, and its three taps are three neighbouring
 * blocks of columns, one pixel (128 bytes) apart. One thread of the fourth warpgroup asks for the copies.
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

#define CONSUMERS 3 /* warpgroups */
#define THREADS 512 /* of a block */
#define COLUMNS 192 /* of a warpgroup: three taps of 64 channels */

static __device__ __forceinline__ void produce(const weight_tiles_args &args, const weight_stages &stages) {
    weight_walk unit;
    weight_stage at = {0, 1, 0};
    for (weight_begin(&unit, args); unit.left > 0; weight_next(&unit, args)) {
        if (unit.blanked) continue;
        const weight_tiles_plane &plane = args.plane[unit.plane];
        const int32_t filter = weight_tile_row(plane, unit.tile) * args.tile_rows;
        const int32_t channel = weight_tile_column(plane, unit.tile) * WEIGHT_BLOCK;
        const int32_t row = unit.row * args.rows, column = unit.column * args.columns;
        const uint32_t to = stages.memory + at.index * stages.bytes, filled = stages.filled + at.index * BARRIER_BYTES;
        barrier_wait(stages.empty + at.index * BARRIER_BYTES, at.parity);
        barrier_expect(filled, (uint32_t)(args.dy_box_bytes + args.x_box_bytes));
        tma_load_4d(to, &plane.dy, filled, filter, column, row, unit.sample);
        tma_load_4d(to + args.dy_bytes, &plane.x, filled, channel, column - 1, row - 1, unit.sample);
        weight_advance(&at, args);
    }
}

template <class number, bool has_tree>
static __device__ __forceinline__ void conv2d_bwd_weight_taps(const weight_tiles_args &args) {
    const int warpgroup = warp_uniform((int)threadIdx.x / 128);
    weight_stages stages;
    weight_open(&stages, args, 1, 1, CONSUMERS);
    if (warpgroup == CONSUMERS) {
        registers_give<32>();
        if (threadIdx.x == CONSUMERS * 128) produce(args, stages);
    } else {
        const uint32_t x = (uint32_t)(args.dy_bytes + warpgroup * args.x_pitch * WEIGHT_PIXEL_BYTES);
        registers_take<160>();
        weight_consume<number, COLUMNS, has_tree>(args, stages, warpgroup, 0, x, WEIGHT_PIXEL_BYTES);
    }
}

ENTRY_HALVES(conv2d_bwd_weight_taps, (THREADS, 1), weight_tiles_args, conv2d_bwd_weight_taps<number, false>(args))
ENTRY_HALVES(conv2d_bwd_weight_taps_tree, (THREADS, 1), weight_tiles_args, conv2d_bwd_weight_taps<number, true>(args))
