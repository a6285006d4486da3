/*
 * The sums of a weight gradient of few input channels: one warpgroup multiplies rows of dy, which lie in a ring of
 * `stages` at memory.own, by the lines of x that tile/spread.cuh spreads.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SPREAD_SUMS_CUH
#define BRAID_KERNELS_CUDA_TILE_SPREAD_SUMS_CUH

#include "kernels/cuda/tile/spread.cuh"
#include "kernels/cuda/tile/wgmma.cuh"

/* Accumulators of 64 filters by so many columns, in one product or two. */
template <class number, int columns, int most> struct spread_tile {
    static const bool is_split = columns > most;
    static const int first = is_split ? (columns / 2 + 7) / 8 * 8 : columns, second = is_split ? columns - first : 8;
    float sums[first / 2], others[second / 2];
    __device__ __forceinline__ spread_tile() : sums(), others() {}
    __device__ __forceinline__ void add(shared_matrix a, shared_matrix b) {
        wgmma<number, first, 1, 0>(sums, a, b, 1);
        if (is_split) wgmma<number, second, 1, 0>(others, a, matrix_moved(b, first * ROWS_ROW_BYTES), 1);
    }
    __device__ __forceinline__ void hold() {
        wgmma_hold(sums);
        if (is_split) wgmma_hold(others);
    }
    /* To [filter][tap]; filter and tap are this thread's first. */
    __device__ __forceinline__ void leave(float *to, const conv2d_rows_plane &plane, int32_t filter, int32_t tap) {
#pragma unroll
        for (int i = 0; i < (is_split ? columns : first) / 2; i++) {
            const int32_t k = filter + i % 4 / 2 * 8, t = tap + i / 4 * 8 + i % 2;
            const float sum = i < first / 2 ? sums[i % (first / 2)] : others[(i - first / 2) % (second / 2)];
            if (k < plane.filters && t < plane.taps) to[(int64_t)k * plane.taps + t] = sum;
        }
    }
};

/* Adds dy x of all units and writes the sums of this part. */
template <class number, int columns, int stages, int most>
static __device__ __forceinline__ void spread_multiply(const conv2d_rows_args &args, const spread_memory &memory,
                                                       const spread_work &work) {
    const conv2d_rows_plane &plane = args.plane[work.plane];
    ring_cursor dy = ring_begin(memory.own_barriers, stages), last_dy = dy;
    ring_cursor made = ring_begin(memory.spread_ring, ROWS_X_STAGES), last_made = made;
    const uint32_t row_bytes = (uint32_t)(args.stride * plane.spread * ROWS_ROW_BYTES);
    spread_tile<number, columns, most> tile;
    bool busy = false;
    for (int32_t i = work.unit; i < work.end; i++) {
        const spread_unit unit = spread_find_unit(args, plane, i);
        if (unit.blanked) continue;
        ring_wait(made);
        for (int32_t row = 0; row < unit.rows; row++) {
            shared_matrix a = matrix_down_rows(memory.own + dy.index * ROWS_Y_BYTES, 1024);
            shared_matrix b = matrix_along_rows(memory.spread + made.index * args.spread_bytes + row * row_bytes);
            ring_wait(dy);
            tile.hold();
            wgmma_begin();
            tile.add(a, b);
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
                tile.add(a, b);
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
    tile.hold();
    const int32_t thread = (int32_t)threadIdx.x;
    tile.leave(args.workspace + work.part * args.part_elements + plane.partial, plane,
               work.filter + thread / 32 * 16 + thread % 32 / 4, thread % 4 * 2);
}

/* The whole work of the warpgroup that multiplies, by the next width of the product: those of operand_rows in
 * conv2d_rows.c. More than `most` columns are two products: the assembler wants the accumulators of one to fit in the
 * registers that a thread begins with. */
template <class number, int stages, int most = ROWS_MOST_TAPS>
static __device__ __forceinline__ void spread_sums(const conv2d_rows_args &args, const spread_memory &memory,
                                                   const spread_work &work) {
    const int32_t taps = args.plane[work.plane].taps;
    if (taps <= 32) {
        spread_multiply<number, 32, stages, most>(args, memory, work);
    } else if (taps <= 56) {
        spread_multiply<number, 56, stages, most>(args, memory, work);
    } else if (taps <= 104) {
        spread_multiply<number, 104, stages, most>(args, memory, work);
    } else if (taps <= 152) {
        spread_multiply<number, 152, stages, most>(args, memory, work);
    } else {
        spread_multiply<number, ROWS_MOST_TAPS, stages, most>(args, memory, work);
    }
}

#endif
