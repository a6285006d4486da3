/*
 * conv2d forward for 1 to 4 input channels on Hopper's matrix units. Rows of the product are 64 filters, columns are
 * the 64 pixels of an output row, or 56, and the sum runs over (r, s, c) as the weights lie in memory. The weights stay
 * in registers; some warps spread the lines of x (spread.cuh). Steps have 16 taps each: the first begins with the
 * first tap and the others end with the last, so that none reads what the output does not see. What the second reads
 * again it multiplies by zeros. Results turn to [pixel][filter] in shared memory and leave by the copy engine. Two
 * warpgroups take pairs of rows in turn, so that one multiplies while the other stores. For conv2d_bn_stats they
 * also add up what they store (tile/row_moments.cuh), and those that come last do what bn_finalize does.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/few_channels/conv2d_rows.h"
#include "kernels/cuda/tile/epilogue_rows.cuh"
#include "kernels/cuda/ptx/registers.cuh"
#include "kernels/cuda/tile/row_moments.cuh"
#include "kernels/cuda/conv/few_channels/spread.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

#define MOST_STEPS ((ROWS_MOST_TAPS + ROWS_STEP - 1) / ROWS_STEP)
#define STAGINGS 2 /* of a warpgroup: the copy engine reads one while the other is written */

/* What a thread has of the weights of 64 filters, as the matrix units take them. */
struct held_weights {
    uint32_t at[MOST_STEPS][4];
    int32_t steps, second; /* the first tap of the second step */
};

/* Two taps of a filter in one word; zeros for filters that there are not, and for the taps that the second step
 * repeats. */
static __device__ __forceinline__ uint32_t find_weights(const conv2d_rows_plane &plane, int32_t filter, int32_t tap,
                                                        bool is_first_step) {
    const uint16_t *from = (const uint16_t *)plane.w + (int64_t)filter * plane.taps + tap;
    const bool exists = filter < plane.filters;
    const uint32_t low = exists && (is_first_step || tap >= ROWS_STEP) ? from[0] : 0;
    const uint32_t high = exists && (is_first_step || tap + 1 >= ROWS_STEP) ? from[1] : 0;
    return low | high << 16;
}

/* `first` is the first of the block's filters. */
static __device__ __forceinline__ void hold_weights(held_weights *held, const conv2d_rows_plane &plane, int32_t first) {
    const int32_t thread = (int32_t)threadIdx.x % 128;
    const int32_t filter = first + thread / 32 * 16 + thread % 32 / 4, term = thread % 4 * 2;
    held->steps = (plane.taps + ROWS_STEP - 1) / ROWS_STEP;
    held->second = plane.taps - (held->steps - 1) * ROWS_STEP;
#pragma unroll
    for (int step = 0; step < MOST_STEPS; step++) {
        const int32_t tap = step == 0 ? term : held->second + (step - 1) * ROWS_STEP + term;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const bool exists = step < held->steps;
            held->at[step][i] = exists ? find_weights(plane, filter + i % 2 * 8, tap + i / 2 * 8, step == 0) : 0;
        }
    }
}

/* Two rows of outputs: one product for each. */
template <class number, int pixels>
static __device__ __forceinline__ void multiply(float (&sums)[ROWS_TOGETHER][pixels / 2], const held_weights &weights,
                                                uint32_t spread, uint32_t row_bytes) {
    const shared_matrix first = matrix_down_rows(spread, 0);
    const shared_matrix second = matrix_moved(first, (uint32_t)(weights.second * ROWS_ROW_BYTES));
#pragma unroll
    for (int i = 0; i < ROWS_TOGETHER; i++) wgmma_hold(sums[i]);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < MOST_STEPS; step++) {
        if (step >= weights.steps) break;
        const shared_matrix b =
            step == 0 ? first : matrix_moved(second, (uint32_t)((step - 1) * ROWS_STEP * ROWS_ROW_BYTES));
#pragma unroll
        for (int i = 0; i < ROWS_TOGETHER; i++)
            wgmma_held<number, pixels, 1>(sums[i], weights.at[step], matrix_moved(b, i * row_bytes), step != 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
#pragma unroll
    for (int i = 0; i < ROWS_TOGETHER; i++) wgmma_hold(sums[i]);
}

/* Before a warpgroup writes rows of outputs to shared memory: the copy engine has read what was there. Barrier `id` is
 * the warpgroup's own. */
static __device__ __forceinline__ void begin_rows(int id) {
    if (threadIdx.x % 128 == 0) tma_wait_read<STAGINGS - 1>();
    named_sync(id, 128);
}

/* Hands them to the copy engine. */
template <int pixels>
static __device__ __forceinline__ void store_rows(const conv2d_rows_plane &plane, uint32_t staging,
                                                  const spread_unit &unit, int32_t row, int32_t filter, int id) {
    fence_async();
    named_sync(id, 128);
    if (threadIdx.x % 128 != 0) return;
    for (int32_t i = 0; i < ROWS_TOGETHER && row + i < unit.rows; i++) {
        tma_store_4d(&plane.y, staging + i * pixels * ROWS_ROW_BYTES, filter, unit.column, unit.row + row + i,
                     unit.sample);
    }
    tma_commit();
}

/* Rounds two rows into shared memory. `rows` and `columns` of them are in the image. */
template <class number, int pixels, class moments_of>
static __device__ __forceinline__ void stage(uint32_t to, const float (&sums)[ROWS_TOGETHER][pixels / 2], int32_t rows,
                                             int32_t columns, moments_of *moments) {
    moments->begin(sums[0]);
#pragma unroll
    for (int i = 0; i < ROWS_TOGETHER; i++)
        row_moments_stage<number, pixels>(to + i * pixels * ROWS_ROW_BYTES, sums[i], i < rows ? columns : 0, moments);
    moments->settle();
}

/* Behind the last row, for conv2d_bn_stats: what the warpgroup found is added to what others did. Its staging, which
 * the copy engine has read, holds the word that its threads share. */
template <class number>
static __device__ __forceinline__ void finish(const conv2d_bn_stats_rows_args &args, const spread_work &work,
                                              uint32_t staging, int group, const row_moments<number> &moments) {
    const conv2d_rows_plane &plane = args.rows.plane[work.plane];
    const int32_t parts = args.parts[work.plane];
    const row_parts_place<bn_moments> at = {(bn_moments *)args.rows.workspace + plane.partial,
                                            args.counters[work.plane] +
                                                work.filter / ROWS_FILTERS * ROW_PARTS_COUNTERS(parts),
                                            (int32_t)args.rows.part_elements,
                                            2 * work.part + group,
                                            parts,
                                            work.filter,
                                            plane.filters - work.filter,
                                            staging,
                                            1 + group};
    if (work.filter < plane.filters) moments.finish(args.norm, work.plane, at, args.finished, (int32_t)args.finishers);
}

/* One warpgroup: every second pair of rows. Blanked samples become zeros. */
template <class number, int pixels, class moments_of, class end_of>
static __device__ __forceinline__ void compute(const conv2d_rows_args &args, const spread_memory &memory,
                                               const spread_work &work, int group, const end_of &end) {
    const uint32_t staged = ROWS_TOGETHER * pixels * ROWS_ROW_BYTES;
    const conv2d_rows_plane &plane = args.plane[work.plane];
    const uint32_t row_bytes = (uint32_t)(args.stride * plane.spread * ROWS_ROW_BYTES), at = epilogue_rows_at();
    uint32_t staging = memory.own + group * STAGINGS * staged, other = staging + staged;
    pipeline made = pipeline_begin(memory.spread_ring, ROWS_X_STAGES);
    held_weights weights;
    moments_of moments;
    hold_weights(&weights, plane, work.filter);
    spread_unit unit;
    for (int32_t i = work.unit; spread_next_unit(args, plane, work, i, &unit); i++) {
        if (!unit.blanked) pipeline_wait(made);
#pragma unroll 1
        for (int32_t row = group * ROWS_TOGETHER; row < unit.rows; row += 2 * ROWS_TOGETHER) {
            if (unit.blanked) {
                begin_rows(1 + group);
                for (uint32_t to = threadIdx.x % 128 * 16; to < staged; to += 128 * 16) shared_clear(staging + to);
            } else {
                float sums[ROWS_TOGETHER][pixels / 2];
                multiply<number, pixels>(sums, weights,
                                         memory.spread + made.index * args.spread_bytes + row * row_bytes, row_bytes);
                begin_rows(1 + group);
                stage<number, pixels>(staging + at, sums, unit.rows - row, unit.pixels, &moments);
            }
            store_rows<pixels>(plane, staging, unit, row, work.filter, 1 + group);
            const uint32_t next = other;
            other = staging;
            staging = next;
        }
        if (unit.blanked) continue;
        pipeline_free(made);
        pipeline_next(&made);
    }
    if (threadIdx.x % 128 == 0) tma_wait<0>();
    end(work, staging, group, moments);
}

/* `moments_of`: what becomes of the results beside being stored; `end`: and then of that. */
template <class number, class moments_of, class end_of>
static __device__ __forceinline__ void conv2d_rows(const conv2d_rows_args &args, const end_of &end) {
    const int warp = warp_uniform((int)threadIdx.x / 32);
    const spread_memory memory = spread_find_memory(args, (uint32_t)args.own_bytes);
    const spread_work work = spread_find_work(args);
    if (threadIdx.x == 0) {
        spread_init(memory, 8);
        barrier_publish();
    }
    __syncthreads();
    if (warp < 8) {
        registers_take<160>();
        if (args.unit_pixels == ROWS_PIXELS) {
            compute<number, ROWS_PIXELS, moments_of>(args, memory, work, warp / 4, end);
        } else {
            compute<number, ROWS_FEWER_PIXELS, moments_of>(args, memory, work, warp / 4, end);
        }
    } else {
        registers_give<96>();
        if (warp < 8 + ROWS_SPREADERS) {
            spread_all(args, memory, work, warp - 8);
        } else if (threadIdx.x == (8 + ROWS_SPREADERS) * 32) {
            spread_load(args, memory, work);
        }
    }
}

template <class number> static __device__ __forceinline__ void conv2d_fwd_rows(const conv2d_rows_args &args) {
    conv2d_rows<number, no_row_moments>(args, [](const spread_work &, uint32_t, int, const no_row_moments &) {});
}

template <class number>
static __device__ __forceinline__ void conv2d_bn_stats_rows(const conv2d_bn_stats_rows_args &args) {
    conv2d_rows<number, row_moments<number>>(
        args.rows, [&](const spread_work &work, uint32_t staging, int group, const row_moments<number> &moments) {
            finish(args, work, staging, group, moments);
        });
}

ENTRY_HALVES(conv2d_fwd_rows, (ROWS_FWD_THREADS, 1), conv2d_rows_args, conv2d_fwd_rows<number>(args))
ENTRY_HALVES(conv2d_bn_stats_rows, (ROWS_FWD_THREADS, 1), conv2d_bn_stats_rows_args, conv2d_bn_stats_rows<number>(args))
