/*
 * conv2d weight gradient for 1 to 4 input channels on Hopper's matrix units, first stage. Rows of the product are 64
 * filters, columns are (r, s, c) as the weights lie in memory, and the sum runs over the output pixels of one part. dy
 * comes by the copy engine and is an operand as it lies. No copy can make the other one, since a pixel of x has no 16
 * bytes: some warps spread the lines of x (spread.cuh), each line once for all rows of the filter. Each part
 * writes its own float sums; weight_sum adds the parts in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/ptx/registers.cuh"
#include "kernels/cuda/conv/few_channels/spread_sums.cuh"

static __device__ __forceinline__ void load_dy(const conv2d_rows_args &args, const spread_memory &memory,
                                               const spread_work &work) {
    const conv2d_rows_plane &plane = args.plane[work.plane];
    pipeline ring = pipeline_begin(memory.own_barriers, ROWS_DY_STAGES);
    for (int32_t i = work.unit; i < work.end; i++) {
        const spread_unit unit = spread_find_unit(args, plane, i);
        for (int32_t row = 0; row < (unit.blanked ? 0 : unit.rows); row++, pipeline_next(&ring)) {
            pipeline_fill(ring, ROWS_Y_BYTES);
            tma_load_4d(memory.own + ring.index * ROWS_Y_BYTES, &plane.y, pipeline_full(ring), work.filter, unit.column,
                        unit.row + row, unit.sample);
        }
    }
}

template <class number> static __device__ __forceinline__ void conv2d_bwd_weight_rows(const conv2d_rows_args &args) {
    const int warp = warp_uniform((int)threadIdx.x / 32);
    const spread_memory memory = spread_find_memory(args, ROWS_DY_STAGES * ROWS_Y_BYTES);
    const spread_work work = spread_find_work(args);
    if (threadIdx.x == 0) {
        spread_init(memory, 4);
        pipeline_init(memory.own_barriers, ROWS_DY_STAGES, 1, 4);
        barrier_publish();
    }
    __syncthreads();
    if (warp < 4) {
        spread_sums<number, ROWS_DY_STAGES>(args, memory, work);
    } else if (warp < 4 + ROWS_SPREADERS) {
        spread_all(args, memory, work, warp - 4);
    } else if (threadIdx.x == (4 + ROWS_SPREADERS) * 32) {
        load_dy(args, memory, work);
    } else if (threadIdx.x == (5 + ROWS_SPREADERS) * 32) {
        spread_load(args, memory, work);
    }
}

ENTRY_HALVES(conv2d_bwd_weight_rows, (ROWS_WEIGHT_THREADS, 1), conv2d_rows_args, conv2d_bwd_weight_rows<number>(args))
