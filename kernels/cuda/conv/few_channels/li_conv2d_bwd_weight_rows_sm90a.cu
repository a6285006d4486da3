/*
 * li_conv2d weight gradient for 1 to 4 input channels on Hopper's matrix units, first stage: conv2d's
 * (conv2d_bwd_weight_rows_sm90a.cu) of dy by one warpgroup and of dzy by another, which also makes dv = dzy r^T. What
 * they read of x, spread, serves both (li_conv2d_rows.h says why that is enough). Each part writes its own float sums.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/few_channels/li_conv2d_rows.h"
#include "kernels/cuda/ptx/registers.cuh"
#include "kernels/cuda/conv/few_channels/spread.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

#define STAGE_BYTES (LI_ROWS_TENSORS * ROWS_Y_BYTES) /* dy, dzy, r */

/* The thread that loads: lines of x one unit ahead of dy, dzy and r. */
static __device__ __forceinline__ void load_all(const li_conv2d_rows_args &args, const spread_memory &memory,
                                                const spread_work &work) {
    const conv2d_rows_plane &plane = args.rows.plane[work.plane];
    pipeline ring = pipeline_begin(memory.own_barriers, LI_ROWS_STAGES);
    pipeline lines = pipeline_begin(memory.x_ring, ROWS_X_STAGES);
    spread_load_unit(args.rows, memory, plane, work.unit, work.end, &lines);
    for (int32_t i = work.unit; i < work.end; i++) {
        const spread_unit unit = spread_find_unit(args.rows, plane, i);
        spread_load_unit(args.rows, memory, plane, i + 1, work.end, &lines);
        for (int32_t j = 0; j < (unit.blanked ? 0 : unit.rows); j++, pipeline_next(&ring)) {
            const uint32_t to = memory.own + ring.index * STAGE_BYTES, filled = pipeline_full(ring);
            const int32_t row = unit.row + j;
            pipeline_fill(ring, STAGE_BYTES);
            tma_load_4d(to, &plane.y, filled, 0, unit.column, row, unit.sample);
            tma_load_4d(to + ROWS_Y_BYTES, &args.zy, filled, 0, unit.column, row, unit.sample);
            tma_load_4d(to + 2 * ROWS_Y_BYTES, &args.r[work.plane], filled, 0, unit.column, row, unit.sample);
        }
    }
}

/* Writes accumulators of 64 x `columns` sums, those that there are. */
template <int columns>
static __device__ __forceinline__ void leave(float *to, const float (&sums)[columns / 2], int32_t rows,
                                             int32_t length) {
    const int32_t thread = (int32_t)threadIdx.x % 128;
    const int32_t first = thread / 32 * 16 + thread % 32 / 4, tap = thread % 4 * 2;
#pragma unroll
    for (int i = 0; i < columns / 2; i++) {
        const int32_t k = first + i % 4 / 2 * 8, t = tap + i / 4 * 8 + i % 2;
        if (k < rows && t < length) to[(int64_t)k * length + t] = sums[i];
    }
}

/* One step of both products of a warpgroup. `mixes`: dzy with x and r; else dy with x. */
template <class number, int columns, bool mixes>
static __device__ __forceinline__ void multiply_step(float (&sums)[columns / 2], float (&mix)[ROWS_FILTERS / 2],
                                                     shared_matrix a, shared_matrix b, shared_matrix r) {
    wgmma<number, columns, 1, 0>(sums, a, b, 1);
    if (mixes) wgmma<number, ROWS_FILTERS, 1, 1>(mix, a, r, 1);
}

template <class number, int columns, bool mixes>
static __device__ __forceinline__ void multiply(const li_conv2d_rows_args &args, const spread_memory &memory,
                                                const spread_work &work) {
    const conv2d_rows_plane &plane = args.rows.plane[work.plane];
    pipeline stage = pipeline_begin(memory.own_barriers, LI_ROWS_STAGES), last_stage = stage;
    pipeline made = pipeline_begin(memory.spread_ring, ROWS_X_STAGES), last_made = made;
    const uint32_t row_bytes = (uint32_t)(args.rows.stride * plane.spread * ROWS_ROW_BYTES);
    float sums[columns / 2], mix[ROWS_FILTERS / 2];
    bool busy = false;
#pragma unroll
    for (int i = 0; i < columns / 2; i++) sums[i] = 0;
#pragma unroll
    for (int i = 0; i < ROWS_FILTERS / 2; i++) mix[i] = 0;
    spread_unit unit;
    for (int32_t i = work.unit; spread_next_unit(args.rows, plane, work, i, &unit); i++) {
        if (unit.blanked) continue;
        pipeline_wait(made);
        for (int32_t row = 0; row < unit.rows; row++) {
            const uint32_t from = memory.own + stage.index * STAGE_BYTES;
            shared_matrix a = matrix_down_rows(from + (mixes ? ROWS_Y_BYTES : 0), 1024);
            shared_matrix b = matrix_along_rows(memory.spread + made.index * args.rows.spread_bytes + row * row_bytes);
            shared_matrix r = matrix_down_rows(from + 2 * ROWS_Y_BYTES, 1024);
            pipeline_wait(stage);
            wgmma_hold(sums);
            if (mixes) wgmma_hold(mix);
            wgmma_begin();
            multiply_step<number, columns, mixes>(sums, mix, a, b, r);
            wgmma_commit();
            if (busy) { /* all before this step has been added: what it read is free */
                wgmma_wait<1>();
                pipeline_free(last_stage);
                if (row == 0) pipeline_free(last_made);
            }
#pragma unroll 1
            for (int32_t step = 1; step < unit.steps; step++) {
                a = matrix_moved(a, ROWS_STEP * ROWS_ROW_BYTES);
                b = matrix_moved(b, ROWS_STEP * 2);
                r = matrix_moved(r, ROWS_STEP * ROWS_ROW_BYTES);
                multiply_step<number, columns, mixes>(sums, mix, a, b, r);
            }
            wgmma_commit();
            busy = true;
            last_stage = stage;
            pipeline_next(&stage);
        }
        last_made = made;
        pipeline_next(&made);
    }
    wgmma_wait<0>();
    wgmma_hold(sums);
    if (mixes) wgmma_hold(mix);
    float *partial = args.rows.workspace + work.part * args.rows.part_elements;
    if (mixes) {
        leave<columns>(partial + args.mixed[work.plane], sums, args.integrated, plane.taps);
        leave<ROWS_FILTERS>(partial + args.mix[work.plane], mix, args.integrated, plane.filters);
    } else {
        leave<columns>(partial + plane.partial, sums, plane.filters, plane.taps);
    }
}

/* By the next width of the product: those of operand_rows in conv2d_rows.c. */
template <class number, bool mixes>
static __device__ __forceinline__ void multiply_width(const li_conv2d_rows_args &args, const spread_memory &memory,
                                                      const spread_work &work) {
    const int32_t taps = args.rows.plane[work.plane].taps;
    if (taps <= 32) {
        multiply<number, 32, mixes>(args, memory, work);
    } else if (taps <= 56) {
        multiply<number, 56, mixes>(args, memory, work);
    } else if (taps <= 104) {
        multiply<number, 104, mixes>(args, memory, work);
    } else {
        multiply<number, 152, mixes>(args, memory, work);
    }
}

template <class number>
static __device__ __forceinline__ void li_conv2d_bwd_weight_rows(const li_conv2d_rows_args &args) {
    const int warp = warp_uniform((int)threadIdx.x / 32);
    const spread_memory memory = spread_find_memory(args.rows, LI_ROWS_STAGES * STAGE_BYTES);
    const spread_work work = spread_find_work(args.rows);
    if (threadIdx.x == 0) {
        spread_init(memory, 8);
        pipeline_init(memory.own_barriers, LI_ROWS_STAGES, 1, 8);
        barrier_publish();
    }
    __syncthreads();
    if (warp < 8) {
        registers_take<168>();
        if (warp < 4) {
            multiply_width<number, false>(args, memory, work);
        } else {
            multiply_width<number, true>(args, memory, work);
        }
    } else {
        registers_give<80>();
        if (warp < 8 + ROWS_SPREADERS) {
            spread_all(args.rows, memory, work, warp - 8);
        } else if (threadIdx.x == (8 + ROWS_SPREADERS) * 32) {
            load_all(args, memory, work);
        }
    }
}

ENTRY_HALVES(li_conv2d_bwd_weight_rows, (LI_ROWS_THREADS, 1), li_conv2d_rows_args,
             li_conv2d_bwd_weight_rows<number>(args))
