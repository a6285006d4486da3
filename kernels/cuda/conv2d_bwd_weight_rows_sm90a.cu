/*
 * conv2d weight gradient for 1 to 4 input channels on Hopper's matrix units, first stage. Rows of the product are 64
 * filters, columns are (r, s, c) as the weights lie in memory, and the sum runs over the output pixels of one part. dy
 * comes by the copy engine and is an operand as it lies. No copy can make the other one, since a pixel of x has no 16
 * bytes: some warps spread the lines of x (tile/spread.cuh), each line once for all rows of the filter. Each part
 * writes its own float sums; weight_sum adds the parts in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/registers.cuh"
#include "kernels/cuda/tile/spread.cuh"
#include "kernels/cuda/tile/wgmma.cuh"

static __device__ __forceinline__ void load_dy(const conv2d_rows_args &args, const spread_memory &memory,
                                               const spread_work &work) {
    const conv2d_rows_plane &plane = args.plane[work.plane];
    ring_cursor ring = ring_begin(memory.own_barriers, ROWS_DY_STAGES);
    for (int32_t i = work.unit; i < work.end; i++) {
        const spread_unit unit = spread_find_unit(args, plane, i);
        for (int32_t row = 0; row < (unit.blanked ? 0 : unit.rows); row++, ring_next(&ring)) {
            ring_fill(ring, ROWS_Y_BYTES);
            tma_load_4d(memory.own + ring.index * ROWS_Y_BYTES, &plane.y, ring_filled(ring), work.filter, unit.column,
                        unit.row + row, unit.sample);
        }
    }
}

/* Adds dy x of all units and writes the sums of this part. */
template <class number, int columns>
static __device__ __forceinline__ void multiply(const conv2d_rows_args &args, const spread_memory &memory,
                                                const spread_work &work) {
    const conv2d_rows_plane &plane = args.plane[work.plane];
    ring_cursor dy = ring_begin(memory.own_barriers, ROWS_DY_STAGES), last_dy = dy;
    ring_cursor made = ring_begin(memory.spread_ring, ROWS_X_STAGES), last_made = made;
    const uint32_t row_bytes = (uint32_t)(args.stride * plane.spread * ROWS_ROW_BYTES);
    float sums[columns / 2];
    bool busy = false;
#pragma unroll
    for (int i = 0; i < columns / 2; i++) sums[i] = 0;
    for (int32_t i = work.unit; i < work.end; i++) {
        const spread_unit unit = spread_find_unit(args, plane, i);
        if (unit.blanked) continue;
        ring_wait(made);
        for (int32_t row = 0; row < unit.rows; row++) {
            shared_matrix a = matrix_down_rows(memory.own + dy.index * ROWS_Y_BYTES, 1024);
            shared_matrix b = matrix_along_rows(memory.spread + made.index * args.spread_bytes + row * row_bytes);
            ring_wait(dy);
            wgmma_hold(sums);
            wgmma_begin();
            wgmma<number, columns, 1, 0>(sums, a, b, 1);
            wgmma_commit();
            if (busy) { /* all before this step has been added: what it read is free */
                wgmma_wait<1>();
                ring_free(last_dy);
                if (row == 0) ring_free(last_made);
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
            ring_next(&dy);
        }
        last_made = made;
        ring_next(&made);
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

/* By the next width of the product: those of operand_rows in conv2d_rows.c. */
template <class number>
static __device__ __forceinline__ void multiply_width(const conv2d_rows_args &args, const spread_memory &memory,
                                                      const spread_work &work) {
    const int32_t taps = args.plane[work.plane].taps;
    if (taps <= 32) {
        multiply<number, 32>(args, memory, work);
    } else if (taps <= 56) {
        multiply<number, 56>(args, memory, work);
    } else if (taps <= 104) {
        multiply<number, 104>(args, memory, work);
    } else if (taps <= 152) {
        multiply<number, 152>(args, memory, work);
    } else {
        multiply<number, ROWS_MOST_TAPS>(args, memory, work);
    }
}

template <class number> static __device__ __forceinline__ void conv2d_bwd_weight_rows(const conv2d_rows_args &args) {
    const int warp = warp_uniform((int)threadIdx.x / 32);
    const spread_memory memory = spread_find_memory(args, ROWS_DY_STAGES * ROWS_Y_BYTES);
    const spread_work work = spread_find_work(args);
    if (threadIdx.x == 0) {
        spread_init(memory, 4);
        ring_init(memory.own_barriers, ROWS_DY_STAGES, 4);
        barrier_publish();
    }
    __syncthreads();
    if (warp < 4) {
        multiply_width<number>(args, memory, work);
    } else if (warp < 4 + ROWS_SPREADERS) {
        spread_all(args, memory, work, warp - 4);
    } else if (threadIdx.x == (4 + ROWS_SPREADERS) * 32) {
        load_dy(args, memory, work);
    } else if (threadIdx.x == (5 + ROWS_SPREADERS) * 32) {
        spread_load(args, memory, work);
    }
}

extern "C" __global__ void __launch_bounds__(ROWS_WEIGHT_THREADS, 1)
    conv2d_bwd_weight_rows_f16(const __grid_constant__ conv2d_rows_args args) {
    conv2d_bwd_weight_rows<f16>(args);
}

extern "C" __global__ void __launch_bounds__(ROWS_WEIGHT_THREADS, 1)
    conv2d_bwd_weight_rows_bf16(const __grid_constant__ conv2d_rows_args args) {
    conv2d_bwd_weight_rows<bf16>(args);
}
