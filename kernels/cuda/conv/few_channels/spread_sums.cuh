/*
 * The sums of a weight gradient of few input channels: one warpgroup multiplies rows of dy, which lie in a ring of
 * `stages` at memory.own, by the lines of x that spread.cuh spreads.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_SPREAD_SUMS_CUH
#define BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_SPREAD_SUMS_CUH

#include "kernels/cuda/conv/few_channels/spread.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

/* Adds dy x of all units and writes the sums of this part. */
template <class number, int columns, int stages>
static __device__ __forceinline__ void spread_multiply(const conv2d_rows_args &args, const spread_memory &memory,
                                                       const spread_work &work) {
    const conv2d_rows_plane &plane = args.plane[work.plane];
    pipeline dy = pipeline_begin(memory.own_barriers, stages), last_dy = dy;
    pipeline made = pipeline_begin(memory.spread_ring, ROWS_X_STAGES), last_made = made;
    const uint32_t row_bytes = (uint32_t)(args.stride * plane.spread * ROWS_ROW_BYTES);
    float sums[columns / 2];
    bool busy = false;
#pragma unroll
    for (int i = 0; i < columns / 2; i++) sums[i] = 0;
    spread_unit unit;
    for (int32_t i = work.unit; spread_next_unit(args, plane, work, i, &unit); i++) {
        if (unit.blanked) continue;
        pipeline_wait(made);
        for (int32_t row = 0; row < unit.rows; row++) {
            shared_matrix a = matrix_down_rows(memory.own + dy.index * ROWS_Y_BYTES, 1024);
            shared_matrix b = matrix_along_rows(memory.spread + made.index * args.spread_bytes + row * row_bytes);
            pipeline_wait(dy);
            wgmma_hold(sums);
            wgmma_begin();
            wgmma<number, columns, 1, 0>(sums, a, b, 1);
            wgmma_commit();
            if (busy) { /* all before this step has been added: what it read is free */
                wgmma_wait<1>();
                pipeline_free(last_dy);
                if (row == 0) pipeline_free(last_made);
            }
#pragma unroll 1
            for (int32_t step = 1; step < unit.steps; step++) {
                a = matrix_moved(a, ROWS_STEP * ROWS_ROW_BYTES);
                b = matrix_moved(b, ROWS_STEP * 2);
                wgmma<number, columns, 1, 0>(sums, a, b, 1);
            }
            wgmma_commit();
            busy = true;
            last_dy = dy;
            pipeline_next(&dy);
        }
        last_made = made;
        pipeline_next(&made);
    }
    wgmma_wait<0>();
    wgmma_hold(sums);
    float *partial = args.workspace + work.part * args.part_elements + plane.partial;
    const int32_t thread = (int32_t)threadIdx.x;
    const int32_t filter = work.filter + thread / 32 * 16 + thread % 32 / 4, tap = thread % 4 * 2;
#pragma unroll
    for (int i = 0; i < columns / 2; i++) {
        const int32_t k = filter + i % 4 / 2 * 8, t = tap + i / 4 * 8 + i % 2;
        if (k < plane.filters && t < plane.taps) partial[(int64_t)k * plane.taps + t] = sums[i];
    }
}

/* The whole work of the warpgroup that multiplies, by the next width of the product: those of operand_rows in
 * conv2d_rows.c. */
template <class number, int stages>
static __device__ __forceinline__ void spread_sums(const conv2d_rows_args &args, const spread_memory &memory,
                                                   const spread_work &work) {
    const int32_t taps = args.plane[work.plane].taps;
    if (taps <= 32) {
        spread_multiply<number, 32, stages>(args, memory, work);
    } else if (taps <= 56) {
        spread_multiply<number, 56, stages>(args, memory, work);
    } else if (taps <= 104) {
        spread_multiply<number, 104, stages>(args, memory, work);
    } else if (taps <= 152) {
        spread_multiply<number, 152, stages>(args, memory, work);
    } else {
        spread_multiply<number, ROWS_MOST_TAPS, stages>(args, memory, work);
    }
}

#endif
