/*
 * integrate forward on Hopper's matrix units (tile/integrate_fwd.cuh) with the statistics of its inputs and of its
 * output: what bn_prepare would read all of them a second time for. Some warps do nothing else (tile/panel_sums.cuh).
 * Those of the streams lie in the ring anyway. The groups that multiply leave their results, rounded, in squares of 64
 * pixels by 64 outputs in shared memory, and the warp that adds them up also copies them to memory.
 *
 * A block has one column of tiles, whose streams' panels the blocks of a row divide among themselves. It leaves what it
 * found as a part, and the last blocks add the parts (tile/moments_join.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/integrate_prepare.h"
#include "kernels/cuda/tile/integrate_fwd.cuh"
#include "kernels/cuda/tile/moments_join.cuh"
#include "kernels/cuda/tile/panel_sums.cuh"

/* Warps that add: fewer where the others need the registers. */
template <int columns> static __device__ __forceinline__ constexpr uint32_t sum_warps() {
    return ((columns > 128 ? INTEGRATE_PREPARE_WIDE_THREADS : INTEGRATE_PREPARE_THREADS) - INTEGRATE_TMA_THREADS) / 32;
}

/* Of a tile's results: squares that a group makes, and those of them that lie in shared memory at a time. */
template <int columns, int row_groups> static __device__ __forceinline__ constexpr int group_squares() {
    return columns * row_groups / 2 / PANEL_COLUMNS;
}

template <int columns, int row_groups> static __device__ __forceinline__ constexpr int staged_squares() {
    return group_squares<columns, row_groups>() < 2 ? 1 : 2;
}

/* A square of a group in shared memory, and its barriers: it lies there, it has been read. The same one of both groups
 * lies side by side. */
struct square_place {
    uint32_t memory, staged, read;
};

template <int squares>
static __device__ __forceinline__ square_place find_square(const integrate_tma_args &args, int group, int square) {
    const uint32_t index = (uint32_t)(square % squares * 2 + group);
    square_place at;
    at.memory = shared_address(shared_memory()) + (uint32_t)args.squares_at + index * PANEL_SQUARE_BYTES;
    at.staged = weights_barrier(args) + (1 + index) * BARRIER_BYTES;
    at.read = at.staged + 2 * squares * BARRIER_BYTES;
    return at;
}

template <int squares>
static __device__ __forceinline__ void open_squares(const integrate_tma_args &args, uint32_t readers) {
    if (threadIdx.x != 0) return;
    for (int i = 0; i < 2 * squares; i++) {
        const square_place at = find_square<squares>(args, i % 2, i / 2);
        barrier_init(at.staged, PANEL_GROUP);
        barrier_init(at.read, readers);
    }
}

/* ---- The groups that multiply ---------------------------------------------------------------------- */

template <class number, int squares> struct staged_results {
    uint32_t round; /* how often every square has been written */

    template <int count>
    __device__ __forceinline__ void write(const float (&sum)[count], const integrate_tma_args &args, int32_t, int32_t) {
#pragma unroll
        for (int k = 0; k < count / 32; k++) {
            const square_place at = find_square<squares>(args, panel_group(), k);
            barrier_wait(at.read, (round + (uint32_t)(k / squares) + 1) & 1);
#pragma unroll
            for (int second = 0; second < 2; second++) {
                const uint32_t row = (uint32_t)(panel_sum_row() + 8 * second);
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    uint32_t run[4];
                    panel_run<number>(run, sum, second, 2 * k + j);
                    shared_write(panel_piece_address(at.memory, row, (uint32_t)j * 4 + threadIdx.x % 4), run);
                }
            }
            barrier_arrive(at.staged);
        }
        round += count / 32 / squares;
    }
};

/* ---- The warps that add ---------------------------------------------------------------------------- */

struct keep_nothing {
    __device__ __forceinline__ void operator()(uint32_t, uint32_t, uint32_t) const {}
};

/* Copies the results of a square to memory. */
template <class number> struct keep_results {
    number *to;      /* its first column */
    int32_t pitch;   /* elements */
    int32_t columns; /* that exist */
    __device__ __forceinline__ void operator()(uint32_t row, uint32_t column, uint32_t word) const {
        if ((int32_t)column < columns) write_bytes<4>(to + (int64_t)row * pitch + column, &word);
    }
};

template <int rows>
static __device__ __forceinline__ panel_live find_live(const integrate_panels_args &all, const uint32_t *mask,
                                                       int32_t first) {
    panel_live live = {true, 0};
    if (!mask && first + rows <= all.pixels) return live;
    const uint32_t sample_pixels = (uint32_t)(all.out_size[0] * all.out_size[1]);
#pragma unroll
    for (int row = 0; row < rows; row += 32) {
        const int32_t pixel = first + row + (int32_t)threadIdx.x % 32;
        const bool counts = pixel < all.pixels && !(mask && mask_blanks(mask, (uint32_t)pixel / sample_pixels));
        panel_live_include(&live, (uint32_t)row, counts);
    }
    return live;
}

/* Which of the warps that add this is. */
static __device__ __forceinline__ uint32_t sum_warp() { return (threadIdx.x - INTEGRATE_TMA_THREADS) / 32; }

static __device__ __forceinline__ uint32_t sums_address(const integrate_tma_args &args, int32_t index) {
    return shared_address(shared_memory()) + (uint32_t)(args.sums_at + index * PANEL_SUMS_BYTES);
}

/* A tile of the block's column, and the part of the statistics that the block makes. */
struct sum_tile {
    int32_t row, column; /* of tiles */
    bool is_first, is_last;
    bn_moments *part;
};

static __device__ __forceinline__ panel_sums_place find_place(const integrate_tma_args &args, const sum_tile &tile,
                                                              int32_t index, int32_t channel, int32_t channels) {
    const panel_sums_place at = {sums_address(args, index), tile.is_first, tile.is_last, tile.part + channel, channels};
    return at;
}

/* Adds up this warp's quarters of the columns of a panel. Those of one panel after the other are dealt out to the warps
 * in turn, always in the same way. */
template <class number, int columns, int rows, class sink>
static __device__ __forceinline__ void add_panel(const panel_sums_place &place, int32_t index, uint32_t panel,
                                                 const panel_live &live, const sink &copy) {
#pragma unroll 1
    for (uint32_t quarter = 0; quarter < 4; quarter++) {
        if (((uint32_t)index * 4 + quarter) % sum_warps<columns>() == sum_warp())
            panel_sums_add<number, rows>(place, panel, quarter, live, copy);
    }
}

/* All panels of the ring go by; the blocks of a row of tiles take turns at those of the streams. */
template <class number, int columns, int row_groups>
static __device__ __forceinline__ void add_streams(const integrate_tma_args &args, ring_cursor *at,
                                                   const sum_tile &tile) {
    const integrate_panels_args &all = args.all;
    const int rows = 64 * row_groups;
    const uint32_t ring = ring_address<columns>(args), bytes = stage_bytes<columns, row_groups>(args);
    int32_t column = 0, index = 0, first = 0; /* whose turn it is, and which panel of the block's it is */
    for (int32_t i = 0; i < all.sources; i++) {
        const bool is_stream = !all.source[i].is_pathway;
        const int32_t channels = all.source[i].channels;
        panel_live live = {};
        if (is_stream) live = find_live<rows>(all, all.source[i].mask, tile.row * rows);
        for (int32_t c = 0; c < channels; c += PANEL_COLUMNS, ring_next(at)) {
            ring_wait(*at);
            if (is_stream && column == tile.column)
                add_panel<number, columns, rows>(find_place(args, tile, index, first + c, channels - c), index,
                                                 ring + (uint32_t)at->index * bytes, live, keep_nothing());
            __syncwarp(); /* all lanes have seen the stage */
            ring_free(*at);
            if (is_stream && ++column == all.columns) {
                column = 0;
                index++;
            }
        }
        if (is_stream) first += channels;
    }
}

/* Square k of both groups where they have rows of the same columns, else of one. */
template <class number, int columns, int row_groups>
static __device__ __forceinline__ void add_square(const integrate_tma_args &args, uint32_t round, const sum_tile &tile,
                                                  int group, int k) {
    const integrate_panels_args &all = args.all;
    const int staged = staged_squares<columns, row_groups>(), rows = 64 * row_groups;
    const int panel = row_groups == 2 ? k : group * group_squares<columns, row_groups>() + k;
    const square_place at = find_square<staged>(args, group, k), last = find_square<staged>(args, row_groups - 1, k);
    const int32_t first = tile.row * rows, column = tile.column * columns + panel * PANEL_COLUMNS;
    const uint32_t parity = (round + (uint32_t)(k / staged)) & 1;
    const keep_results<number> keep = {(number *)all.y + (int64_t)first * all.outputs + column, all.outputs,
                                       all.outputs - column};
    barrier_wait(at.staged, parity);
    if (row_groups == 2) barrier_wait(last.staged, parity);
    const int32_t index = args.stream_sums + panel;
    add_panel<number, columns, rows>(find_place(args, tile, index, args.stream_channels + column, all.outputs - column),
                                     index, at.memory, find_live<rows>(all, NULL, first), keep);
    barrier_arrive(at.read);
    if (row_groups == 2) barrier_arrive(last.read);
}

template <class number, int columns, int row_groups>
static __device__ __forceinline__ void add_results(const integrate_tma_args &args, uint32_t round,
                                                   const sum_tile &tile) {
#pragma unroll 1
    for (int k = 0; k < group_squares<columns, row_groups>(); k++) {
#pragma unroll 1
        for (int group = 0; group < 3 - row_groups; group++)
            add_square<number, columns, row_groups>(args, round, tile, group, k);
    }
}

template <class number, int columns, int row_groups>
static __device__ __forceinline__ void add_all(const integrate_tma_args &args, const moments_parts &parts,
                                               ring_cursor at) {
    const integrate_panels_args &all = args.all;
    const int32_t part = (int32_t)blockIdx.x / all.columns, step = (int32_t)gridDim.x / all.columns;
    const int32_t end = all.tiles / all.columns;
    sum_tile tile = {part, (int32_t)blockIdx.x % all.columns, true, false, parts.moments + (int64_t)part * parts.pitch};
    uint32_t round = 0;
    for (; tile.row < end; tile.row += step) {
        tile.is_last = tile.row + step >= end;
        add_streams<number, columns, row_groups>(args, &at, tile);
        add_results<number, columns, row_groups>(args, round, tile);
        round += group_squares<columns, row_groups>() / staged_squares<columns, row_groups>();
        tile.is_first = false;
    }
}

/* ---- All ------------------------------------------------------------------------------------------- */

/* The channels that the block adds up, panel after panel: its streams', then its outputs. */
template <int columns> struct column_slice {
    const integrate_tma_args &args;
    int32_t column, count;

    __device__ __forceinline__ column_slice(const integrate_tma_args &all)
        : args(all), column((int32_t)blockIdx.x % all.all.columns), count(all.stream_sums * PANEL_COLUMNS + columns) {}
    __device__ __forceinline__ int32_t channel(int32_t k) const {
        const int32_t inside = k % PANEL_COLUMNS;
        int32_t panel = k / PANEL_COLUMNS * args.all.columns + column, first = 0;
        if (k >= args.stream_sums * PANEL_COLUMNS) {
            const int32_t output = column * columns + k - args.stream_sums * PANEL_COLUMNS;
            return output < args.all.outputs ? args.stream_channels + output : -1;
        }
        for (int32_t i = 0; i < args.all.sources; i++) {
            const int32_t channels = args.all.source[i].channels;
            if (args.all.source[i].is_pathway) continue;
            const int32_t c = panel * PANEL_COLUMNS + inside;
            panel -= (channels + PANEL_COLUMNS - 1) / PANEL_COLUMNS;
            if (panel < 0) return c < channels ? first + c : -1;
            first += channels;
        }
        return -1;
    }
};

template <class number, int columns, int row_groups>
static __device__ __forceinline__ void integrate_prepare(const integrate_prepare_args &all) {
    const integrate_tma_args &args = all.mix;
    const int squares = staged_squares<columns, row_groups>();
    open_squares<squares>(args, sum_warps<columns>() * 32);
    const ring_cursor at = open_ring(args, 2, sum_warps<columns>());
    if (is_consumer(2)) {
        consume<number, columns, row_groups>(args, at, staged_results<number, squares>{0});
    } else if (is_producer(2)) {
        produce<columns, row_groups>(args, at);
    } else if (threadIdx.x >= INTEGRATE_TMA_THREADS) { /* not the lanes beside the one that asks for the copies */
        add_all<number, columns, row_groups>(args, all.parts, at);
    }
    __syncwarp(); /* the lanes beside the one that asks for the copies have waited for it */
    moments_join<columns <= 64 ? 8 : 16>(all.parts, all.norm, column_slice<columns>(args)); /* as registers allow */
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_THREADS, 2)
    integrate_prepare_wgmma_f16_64(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<f16, 64, 2>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_THREADS, 1)
    integrate_prepare_wgmma_f16_128(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<f16, 128, 2>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_THREADS, 1)
    integrate_prepare_wgmma_f16_128_staying(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<f16, 128, 1>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_WIDE_THREADS, 1)
    integrate_prepare_wgmma_f16_256(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<f16, 256, 2>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_THREADS, 2)
    integrate_prepare_wgmma_bf16_64(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<bf16, 64, 2>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_THREADS, 1)
    integrate_prepare_wgmma_bf16_128(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<bf16, 128, 2>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_THREADS, 1)
    integrate_prepare_wgmma_bf16_128_staying(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<bf16, 128, 1>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_WIDE_THREADS, 1)
    integrate_prepare_wgmma_bf16_256(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<bf16, 256, 2>(args);
}
