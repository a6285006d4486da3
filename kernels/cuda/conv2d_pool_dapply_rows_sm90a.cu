/*
 * conv2d_pool_dapply for 1 to 4 input channels on Hopper's matrix units, first stage: conv2d's weight gradient
 * (conv2d_bwd_weight_rows_sm90a.cu), but that no copy brings dy. Eight warps make it, a row of a unit at a time, from
 * the convolution's output and the gradient of the pooled values, as bn_act_pool's data gradient does
 * (tile/slide.cuh), and leave it where the matrix units read it. Each part writes its own float sums.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_pool_rows.h"
#include "kernels/cuda/tile/pool_rule.cuh"
#include "kernels/cuda/tile/registers.cuh"
#include "kernels/cuda/tile/slide.cuh"
#include "kernels/cuda/tile/spread_sums.cuh"

#define MAKERS_BARRIER 1
#define LANES (ROWS_FILTERS / 8)       /* threads side by side along the filters */
#define COLUMNS (POOL_ROWS_PIXELS / 2) /* of windows whose places are the unit's */
#define ROW_OF_MAKERS (32 * POOL_ROWS_MAKERS)

/* What the kernel has of shared memory beside what is spread. */
template <class number> struct maker_memory {
    unsigned char rows[POOL_ROWS_STAGES][ROWS_Y_BYTES];
    slide_shared windows;
    pool_factors<number, 8> factors[LANES];
};
static_assert(sizeof(maker_memory<f16>) <= ROWS_DY_STAGES * ROWS_Y_BYTES, "conv2d_rows.c counts it as rows of dy");
static_assert(ROW_OF_MAKERS == BLOCK_THREADS && LANES * 32 == ROW_OF_MAKERS, "tile/slide.cuh has a place for each");

/* A body of tile/slide.cuh. Few terms of a sum may be as good as all of it, so each is rounded once. */
template <class number> struct maker_body : pool_rule<number, 8> {
    static const bool rounds = false;
    const conv2d_pool_rows_args &args;
    const conv2d_pool_plane &plane;
    __device__ __forceinline__ maker_body(const conv2d_pool_rows_args &all, int i) : args(all), plane(all.norm[i]) {}
};

static __device__ __forceinline__ uint32_t stage_empty(const ring_cursor &ring) {
    return ring.barriers + (uint32_t)(ring.stages + ring.index) * BARRIER_BYTES;
}

/* Pixels 2 across and 2 across + 1 of a row of the gradient, once the stage is empty. */
static __device__ __forceinline__ void put_row(const spread_memory &memory, const ring_cursor &ring, const words &even,
                                               const words &odd, int32_t across, int32_t lane) {
    const uint32_t to = memory.own + (uint32_t)ring.index * ROWS_Y_BYTES;
    const int32_t pixel = 2 * across;
    barrier_wait(stage_empty(ring), ring.parity ^ 1);
    shared_write(to + pixel * ROWS_ROW_BYTES + ((lane ^ (pixel & 7)) << 4), even.at);
    shared_write(to + (pixel + 1) * ROWS_ROW_BYTES + ((lane ^ ((pixel + 1) & 7)) << 4), odd.at);
}

/* Up to two rows, those that there are, one behind the other. */
static __device__ __forceinline__ void leave_rows(const spread_memory &memory, ring_cursor *ring,
                                                  const words (&made)[4], bool has_first, bool has_second,
                                                  int32_t across, int32_t lane) {
    ring_cursor second = *ring;
    if (has_first) {
        put_row(memory, *ring, made[0], made[1], across, lane);
        ring_next(&second);
    }
    if (has_second) put_row(memory, second, made[2], made[3], across, lane);
    fence_async();
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        if (has_first) barrier_arrive(ring_filled(*ring));
        if (has_second) barrier_arrive(ring_filled(second));
    }
    *ring = second;
    if (has_second) ring_next(ring);
}

/* The rows of the columns of a unit, from its first up to `end`. A thread has eight filters of a column of windows.
 * What it leaves for pixels beyond the unit meets zeros of x. */
template <class number>
static __device__ __forceinline__ void make_rows(const maker_body<number> &of, slide_shared &windows,
                                                 const spread_memory &memory, const spread_unit &unit, int32_t end,
                                                 int64_t c, int32_t thread, ring_cursor *ring) {
    const int32_t lane = thread % LANES, across = thread / LANES, next = across < 31 ? thread + LANES : thread;
    slide_work work;
    work.sample = unit.sample;
    work.column = across <= COLUMNS ? unit.column / 2 + across : of.args.window.out_size[1];
    const slide_source<number> from(of, work, c);
    const int32_t first = unit.row / 2, last = end / 2; /* rows of windows */
    words at[9] = {}, coming[6] = {}, dy = {};
    if (from.inside) from.read_places(at, 2 * first - 1);
    from.read(coming, dy, first);
#pragma unroll
    for (int t = 0; t < 3; t++) at[t] = slide_keys(of, at[t]);
#pragma unroll
    for (int half = 0; half < PACK_WORDS / 2; half++)
        windows[(first + 2) % SLIDE_ROWS].took[half][thread] = {0, 0}; /* those above gave nothing to the unit */
    for (int32_t row = first; row <= last; row++) {
        slide_row &mine = windows[row % SLIDE_ROWS];
        words took = {}, made[4];
#pragma unroll
        for (int t = 0; t < 6; t++) at[t + 3] = slide_keys(of, coming[t]);
#pragma unroll
        for (int half = 0; half < PACK_WORDS / 2; half++)
            mine.dy[half][thread] = {dy.at[2 * half], dy.at[2 * half + 1]};
        if (row < last) from.read(coming, dy, row + 1);
        if (from.has(row)) took = slide_find<number>(of, at, row == 0, work.column == 0);
#pragma unroll
        for (int half = 0; half < PACK_WORDS / 2; half++)
            mine.took[half][thread] = {took.at[2 * half], took.at[2 * half + 1]};
        named_sync(MAKERS_BARRIER, ROW_OF_MAKERS);
        slide_make<number>(made, of, windows[(row + 2) % SLIDE_ROWS], mine, at, thread, next);
        leave_rows(memory, ring, made, 2 * row - 1 >= unit.row, 2 * row >= unit.row && 2 * row < end, across, lane);
#pragma unroll
        for (int s = 0; s < 3; s++) at[s] = at[s + 6];
    }
    named_sync(MAKERS_BARRIER, ROW_OF_MAKERS); /* nobody reads the windows any more */
}

/* The warps that make the gradient, all units of a column of them in one go. */
template <class number>
static __device__ __forceinline__ void make_all(const conv2d_pool_rows_args &args, const spread_memory &memory,
                                                const spread_work &work, int32_t thread) {
    maker_memory<number> &own = *(maker_memory<number> *)shared_memory();
    const conv2d_rows_plane &plane = args.rows.plane[work.plane];
    const int64_t active = mask_active(plane.mask, args.batch);
    const float share = 1 / (float)(active * args.window.size[0] * args.window.size[1]);
    maker_body<number> of(args, work.plane);
    ring_cursor ring = ring_begin(memory.own_barriers, POOL_ROWS_STAGES);
    if (thread < ROWS_FILTERS) own.factors[thread / 8].set(thread % 8, of.plane, work.filter + thread, share);
    named_sync(MAKERS_BARRIER, ROW_OF_MAKERS);
    of.use(own.factors[thread % LANES]);
    for (int32_t i = work.unit; i < work.end;) {
        const spread_unit unit = spread_find_unit(args.rows, plane, i);
        const int32_t below = args.rows.units_down - unit.row / args.rows.unit_rows;
        const int32_t units = below < work.end - i ? below : work.end - i;
        const int32_t end = unit.row + units * args.rows.unit_rows;
        if (!unit.blanked)
            make_rows<number>(of, own.windows, memory, unit, end < args.window.size[0] ? end : args.window.size[0],
                              work.filter + thread % LANES * 8, thread, &ring);
        i += units;
    }
}

template <class number>
static __device__ __forceinline__ void conv2d_pool_dapply_rows(const conv2d_pool_rows_args &args) {
    const int warp = warp_uniform((int)threadIdx.x / 32);
    const spread_memory memory = spread_find_memory(args.rows, ROWS_DY_STAGES * ROWS_Y_BYTES, POOL_ROWS_SPREADERS);
    const spread_work work = spread_find_work(args.rows);
    if (threadIdx.x == 0) {
        spread_init(memory, 4);
        for (uint32_t i = 0; i < POOL_ROWS_STAGES; i++) {
            barrier_init(memory.own_barriers + i * BARRIER_BYTES, POOL_ROWS_MAKERS);
            barrier_init(memory.own_barriers + (POOL_ROWS_STAGES + i) * BARRIER_BYTES, 4);
        }
        barrier_publish();
    }
    __syncthreads();
    if (warp < 4) {
        registers_take<152>();
        spread_sums<number, POOL_ROWS_STAGES>(args.rows, memory, work);
    } else if (warp < 4 + POOL_ROWS_MAKERS) {
        registers_take<144>();
        make_all<number>(args, memory, work, (int32_t)threadIdx.x - 128);
    } else {
        registers_give<72>();
        if (warp < 4 + POOL_ROWS_MAKERS + POOL_ROWS_SPREADERS) {
            spread_all(args.rows, memory, work, warp - 4 - POOL_ROWS_MAKERS);
        } else if (threadIdx.x % 32 == 0) {
            spread_load(args.rows, memory, work);
        }
    }
}

extern "C" __global__ void __launch_bounds__(POOL_ROWS_THREADS, 1)
    conv2d_pool_dapply_rows_f16(const __grid_constant__ conv2d_pool_rows_args args) {
    conv2d_pool_dapply_rows<f16>(args);
}

extern "C" __global__ void __launch_bounds__(POOL_ROWS_THREADS, 1)
    conv2d_pool_dapply_rows_bf16(const __grid_constant__ conv2d_pool_rows_args args) {
    conv2d_pool_dapply_rows<bf16>(args);
}
