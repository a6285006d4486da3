/*
 * conv2d_pool_bn_bwd_apply for 1 to 4 input channels on Hopper's matrix units, first stage: conv2d's weight gradient
 * (conv2d_bwd_weight_rows_sm90a.cu), but that no copy brings dy. Eight warps make it, two rows of a unit at a time,
 * from the convolution's output and the gradient of the pooled values, as bn_act_pool's data gradient does
 * (slide_sums.cuh), and leave it where the matrix units read it. A warp has 14 columns of windows and the one to
 * their right, so it waits for no other. Each part writes its own float sums.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/few_channels/conv2d_rows.h"
#include "kernels/cuda/tile/pool_rule.cuh"
#include "kernels/cuda/ptx/registers.cuh"
#include "kernels/cuda/conv/few_channels/slide_sums.cuh"
#include "kernels/cuda/conv/few_channels/spread_sums.cuh"

#define MAKERS_BARRIER 1
#define PACKS (ROWS_FILTERS / 8) /* of filters; a thread has one */
#define PACKS_OF_WARP 2          /* 32 bytes of a pixel, as memory hands them out */
#define WARPS_ACROSS (POOL_ROWS_MAKERS * PACKS_OF_WARP / PACKS)
#define COLUMNS_OF_WARP (POOL_ROWS_PIXELS / 2 / WARPS_ACROSS) /* of windows whose places are the unit's */
#define ROW_OF_MAKERS (32 * POOL_ROWS_MAKERS)

/* What the kernel has of shared memory beside what is spread. */
template <class number> struct maker_memory {
    unsigned char rows[POOL_ROWS_STAGES][ROWS_Y_BYTES];
    pool_factors<number, 8> factors[PACKS];
};
static_assert(sizeof(maker_memory<f16>) <= ROWS_DY_STAGES * ROWS_Y_BYTES, "conv2d_rows.c counts it as rows of dy");
static_assert(WARPS_ACROSS == 2 && COLUMNS_OF_WARP == 14, "16 columns of threads: two more, one of them to the right");

/* A body of slide_sums.cuh. */
template <class number> struct maker_body : pool_rule<number, 8> {
    const conv2d_pool_rows_args &args;
    const conv2d_pool_plane &plane;
    __device__ __forceinline__ maker_body(const conv2d_pool_rows_args &all, int i) : args(all), plane(all.norm[i]) {}
};

/* Where a maker works. */
struct maker_place {
    int32_t pack, column; /* of filters; of windows, from the unit's first on */
    int32_t across;       /* half the pixel where it leaves the column's */
    bool used;            /* the column is one of the warp's, or to their right */
};

/* What the other two columns of threads leave lies behind the unit's pixels, in banks of its own. */
static __device__ __forceinline__ maker_place maker_find_place(int32_t thread) {
    const int32_t warp = thread / 32, column = thread % 32 / PACKS_OF_WARP, side = warp % WARPS_ACROSS;
    maker_place place;
    place.pack = warp / WARPS_ACROSS * PACKS_OF_WARP + thread % PACKS_OF_WARP;
    place.column = side * COLUMNS_OF_WARP + column;
    place.across = column < COLUMNS_OF_WARP ? place.column : column + 16 - 2 * side;
    place.used = column <= COLUMNS_OF_WARP;
    return place;
}

static __device__ __forceinline__ uint32_t stage_empty(const pipeline &ring) {
    return ring.barriers + (uint32_t)(ring.stages + ring.index) * BARRIER_BYTES;
}

/* The two pixels of a place in a row of the gradient, once the stage is empty. */
static __device__ __forceinline__ void put_row(const spread_memory &memory, const pipeline &ring, const words &even,
                                               const words &odd, const maker_place &place) {
    const uint32_t to = memory.own + (uint32_t)ring.index * ROWS_Y_BYTES;
    const int32_t pixel = 2 * place.across;
    barrier_wait(stage_empty(ring), ring.parity ^ 1);
    shared_write(to + pixel * ROWS_ROW_BYTES + ((place.pack ^ (pixel & 7)) << 4), even.at);
    shared_write(to + (pixel + 1) * ROWS_ROW_BYTES + ((place.pack ^ ((pixel + 1) & 7)) << 4), odd.at);
}

/* Up to two rows, those that there are, one behind the other. */
static __device__ __forceinline__ void leave_rows(const spread_memory &memory, pipeline *ring, const words (&made)[4],
                                                  bool has_first, bool has_second, const maker_place &place) {
    pipeline second = *ring;
    if (has_first) {
        put_row(memory, *ring, made[0], made[1], place);
        pipeline_next(&second);
    }
    if (has_second) put_row(memory, second, made[2], made[3], place);
    fence_async();
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        if (has_first) barrier_arrive(pipeline_full(*ring));
        if (has_second) barrier_arrive(pipeline_full(second));
    }
    *ring = second;
    if (has_second) pipeline_next(ring);
}

/* The words of the thread with the same filters and the column to the right. */
static __device__ __forceinline__ words words_right(const words &mine) {
    words right;
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) right.at[k] = __shfl_down_sync(0xFFFFFFFFu, mine.at[k], PACKS_OF_WARP);
    return right;
}

/* The rows of the columns of a unit, from its first up to `end`. A thread has eight filters of a column of windows.
 * What it leaves for pixels beyond the unit meets zeros of x. */
template <class number>
static __device__ __forceinline__ void make_rows(const maker_body<number> &of, const maker_place &place,
                                                 const spread_memory &memory, const spread_unit &unit, int32_t end,
                                                 int64_t c, pipeline *ring) {
    slide_work work;
    work.sample = unit.sample;
    work.column = place.used ? unit.column / 2 + place.column : of.args.window.out_size[1];
    const slide_source<number> from(of, work, c);
    const int32_t first = unit.row / 2, last = end / 2; /* rows of windows */
    slide_sums<number> sums = {};                       /* those above give nothing to the unit */
    words at[9] = {}, coming[6] = {}, dy = {};
    if (from.inside) from.read_places(at, 2 * first - 1);
    from.read(coming, dy, first);
#pragma unroll
    for (int t = 0; t < 3; t++) at[t] = slide_keys(of, at[t]);
    for (int32_t row = first; row <= last; row++) {
        slide_taken mine = {{}, dy};
        words made[4];
#pragma unroll
        for (int t = 0; t < 6; t++) at[t + 3] = slide_keys(of, coming[t]);
        if (row < last) from.read(coming, dy, row + 1);
        if (from.has(row)) mine.took = slide_find<number>(of, at, row == 0, work.column == 0);
        const slide_taken right = {words_right(mine.took), words_right(mine.dy)};
        slide_add_windows<number>(made, sums, of, mine, right, at);
        leave_rows(memory, ring, made, 2 * row - 1 >= unit.row, 2 * row >= unit.row && 2 * row < end, place);
#pragma unroll
        for (int s = 0; s < 3; s++) at[s] = at[s + 6];
    }
}

/* The warps that make the gradient, all units of a column of them in one go. */
template <class number>
static __device__ __forceinline__ void make_all(const conv2d_pool_rows_args &args, const spread_memory &memory,
                                                const spread_work &work, int32_t thread) {
    maker_memory<number> &own = *(maker_memory<number> *)shared_memory();
    const conv2d_rows_plane &plane = args.rows.plane[work.plane];
    const int64_t active = mask_active(plane.mask, args.batch);
    const float share = 1 / (float)(active * args.window.size[0] * args.window.size[1]);
    const maker_place place = maker_find_place(thread);
    maker_body<number> of(args, work.plane);
    pipeline ring = pipeline_begin(memory.own_barriers, POOL_ROWS_STAGES);
    if (thread < ROWS_FILTERS) own.factors[thread / 8].set(thread % 8, of.plane, work.filter + thread, share);
    named_sync(MAKERS_BARRIER, ROW_OF_MAKERS);
    of.use(own.factors[place.pack]);
    for (int32_t i = work.unit; i < work.end;) {
        const spread_unit unit = spread_find_unit(args.rows, plane, i);
        const int32_t below = args.rows.units_down - unit.row / args.rows.unit_rows;
        const int32_t units = below < work.end - i ? below : work.end - i;
        const int32_t end = unit.row + units * args.rows.unit_rows;
        if (!unit.blanked)
            make_rows<number>(of, place, memory, unit, end < args.window.size[0] ? end : args.window.size[0],
                              work.filter + place.pack * 8, &ring);
        i += units;
    }
}

template <class number>
static __device__ __forceinline__ void conv2d_pool_bn_bwd_apply_rows(const conv2d_pool_rows_args &args) {
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

ENTRY_HALVES(conv2d_pool_bn_bwd_apply_rows, (POOL_ROWS_THREADS, 1), conv2d_pool_rows_args,
             conv2d_pool_bn_bwd_apply_rows<number>(args))
