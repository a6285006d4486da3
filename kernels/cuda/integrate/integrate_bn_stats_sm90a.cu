/*
 * integrate forward on Hopper's matrix units (integrate_fwd.cuh) with the statistics of its inputs and of its
 * output: what bn_stats_finalize would read all of them a second time for. Some warps do nothing else (panel_sums.cuh).
 * Those of the streams lie in the ring anyway. The groups that multiply leave their results, rounded, in squares of 64
 * pixels by 64 outputs in shared memory, and the warp that adds them up also copies them to memory.
 *
 * A tile has all outputs, up to 128. A block leaves what it found as a part, and the last blocks add the parts
 * (moments_join.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/integrate/integrate_bn_stats.h"
#include "kernels/cuda/integrate/integrate_fwd.cuh"
#include "kernels/cuda/integrate/moments_join.cuh"
#include "kernels/cuda/integrate/panel_sums.cuh"

#define STREAM_WARPS 3 /* that take turns at the steps of the ring */
#define SUM_WARPS 4    /* those, and one for the results */

/* Of a tile's results: squares that a group makes, and those of them that lie in shared memory at a time. */
template <int columns, int row_groups> static __device__ __forceinline__ constexpr int group_squares() {
    return columns * row_groups / 2 / PANEL_COLUMNS;
}

template <int columns, int row_groups> static __device__ __forceinline__ constexpr int staged_squares() {
    return group_squares<columns, row_groups>() < 2 ? 1 : 2;
}

/* A square of a group in shared memory, and its barriers, at which every thread that wrote or read arrives: it lies
 * there, it has been read. The same one of both groups lies side by side. */
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

template <int squares> static __device__ __forceinline__ void open_squares(const integrate_tma_args &args) {
    if (threadIdx.x != 0) return;
    for (int i = 0; i < 2 * squares; i++) {
        const square_place at = find_square<squares>(args, i % 2, i / 2);
        barrier_init(at.staged, PANEL_GROUP);
        barrier_init(at.read, 32);
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
    __device__ __forceinline__ void operator()(uint32_t, const uint32_t (&)[4]) const {}
};

/* Copies the results of a square to memory. */
template <class number> struct keep_results {
    number *to;    /* the lane's piece of the first row */
    int32_t pitch; /* elements */
    int32_t rows;  /* that exist; 0: nor does the piece */
    __device__ __forceinline__ void operator()(uint32_t row, const uint32_t (&word)[4]) const {
        if ((int32_t)row < rows) write_bytes<16>(to + (int64_t)row * pitch, word);
    }
};

template <int rows>
static __device__ __forceinline__ panel_live<rows> find_live(const integrate_panels_args &all, const uint32_t *mask,
                                                             int32_t first) {
    panel_live<rows> live;
    const uint32_t sample_pixels = (uint32_t)(all.out_size[0] * all.out_size[1]);
#pragma unroll
    for (int w = 0; w < rows / 32; w++) {
        const int32_t pixel = first + 32 * w + (int32_t)threadIdx.x % 32;
        const bool counts = pixel < all.pixels && !(mask && mask_blanks(mask, (uint32_t)pixel / sample_pixels));
        live.word[w] = __ballot_sync(0xFFFFFFFFu, counts);
    }
    return live;
}

static __device__ __forceinline__ int sum_warp() { return (int)threadIdx.x / 32 - 2 * PANEL_GROUP / 32 - 1; }

static __device__ __forceinline__ uint32_t sums_address(const integrate_tma_args &args, int32_t index) {
    return shared_address(shared_memory()) + (uint32_t)(args.sums_at + index * PANEL_SUMS_BYTES);
}

/* Does this warp add up square k of the groups' results? A square's place in shared memory is always the same warp's,
 * which so sees every phase of its barriers. */
template <int columns, int row_groups> static __device__ __forceinline__ bool has_results(int k) {
    return sum_warp() == SUM_WARPS - 1 - k % staged_squares<columns, row_groups>();
}

/* A tile of the block, and the part of the statistics that the block makes. */
struct sum_tile {
    int32_t index;
    bool is_first, is_last;
    bn_moments *part;
};

static __device__ __forceinline__ panel_sums_place find_place(const integrate_tma_args &args, const sum_tile &tile,
                                                              int32_t index, int32_t channel, int32_t channels) {
    const panel_sums_place at = {sums_address(args, index), tile.is_first, tile.is_last, tile.part + channel, channels};
    return at;
}

/* All warps for the streams go through all steps, so that none loses count of the phases, and take turns at adding. */
template <class number, int columns, int row_groups>
static __device__ __forceinline__ void add_streams(const integrate_tma_args &args, pipeline *at, const sum_tile &tile) {
    const integrate_panels_args &all = args.all;
    const int rows = 64 * row_groups;
    const uint32_t ring = ring_address<columns>(args), bytes = stage_bytes<columns, row_groups>(args);
    int32_t warp = 0, index = 0, first = 0; /* whose turn it is, and which of the streams' panels it is */
    for (int32_t i = 0; i < all.sources; i++) {
        const bool is_stream = !all.source[i].is_pathway;
        const int32_t channels = all.source[i].channels;
        panel_live<rows> live;
        if (is_stream) live = find_live<rows>(all, all.source[i].mask, tile.index * rows);
        for (int32_t c = 0; c < channels; c += PANEL_COLUMNS, pipeline_next(at)) {
            pipeline_wait(*at);
            if (is_stream && warp == sum_warp())
                panel_sums_add<number, rows>(find_place(args, tile, index, first + c, channels - c),
                                             ring + (uint32_t)at->index * bytes, live, keep_nothing());
            __syncwarp(); /* all lanes have seen the stage */
            pipeline_free(*at);
            if (++warp == STREAM_WARPS) warp = 0;
            if (is_stream) index++;
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
    const int32_t first = tile.index * rows, column = panel * PANEL_COLUMNS;
    const int32_t piece = column + (int32_t)threadIdx.x % 8 * 8;
    const uint32_t parity = (round + (uint32_t)(k / staged)) & 1;
    const keep_results<number> keep = {(number *)all.y + (int64_t)first * all.outputs + piece, all.outputs,
                                       piece < all.outputs ? all.pixels - first : 0};
    barrier_wait(at.staged, parity);
    if (row_groups == 2) barrier_wait(last.staged, parity);
    panel_sums_add<number, rows>(
        find_place(args, tile, args.stream_panels + panel, args.stream_channels + column, all.outputs - column),
        at.memory, find_live<rows>(all, NULL, first), keep);
    barrier_arrive(at.read);
    if (row_groups == 2) barrier_arrive(last.read);
}

template <class number, int columns, int row_groups>
static __device__ __forceinline__ void add_results(const integrate_tma_args &args, uint32_t round,
                                                   const sum_tile &tile) {
#pragma unroll 1
    for (int k = 0; k < group_squares<columns, row_groups>(); k++) {
        if (!has_results<columns, row_groups>(k)) continue;
#pragma unroll 1
        for (int group = 0; group < 3 - row_groups; group++)
            add_square<number, columns, row_groups>(args, round, tile, group, k);
    }
}

template <class number, int columns, int row_groups>
static __device__ __forceinline__ void add_all(const integrate_tma_args &args, const moments_parts &parts,
                                               pipeline at) {
    const int32_t part = (int32_t)blockIdx.x, end = args.all.tiles, step = (int32_t)gridDim.x;
    sum_tile tile = {part, true, false, parts.moments + (int64_t)part * parts.pitch};
    uint32_t round = 0;
    for (; tile.index < end; tile.index += step) {
        tile.is_last = tile.index + step >= end;
        if (sum_warp() < STREAM_WARPS) add_streams<number, columns, row_groups>(args, &at, tile);
        add_results<number, columns, row_groups>(args, round, tile);
        round += group_squares<columns, row_groups>() / staged_squares<columns, row_groups>();
        tile.is_first = false;
    }
}

/* The channels of all planes. */
struct all_channels {
    int32_t count;
    __device__ __forceinline__ int32_t channel(int32_t k) const { return k; }
};

template <class number, int columns, int row_groups>
static __device__ __forceinline__ void integrate_bn_stats(const integrate_bn_stats_args &all) {
    const integrate_tma_args &args = all.mix;
    const int squares = staged_squares<columns, row_groups>();
    const all_channels channels = {all.parts.pitch};
    open_squares<squares>(args);
    const pipeline at = open_ring(args, 2, STREAM_WARPS);
    if (is_consumer(2)) {
        consume<number, columns, row_groups>(args, at, staged_results<number, squares>{0});
    } else if (is_producer(2)) {
        produce<columns, row_groups>(args, at);
    } else if (sum_warp() >= 0) { /* not the lanes beside the one that asks for the copies */
        add_all<number, columns, row_groups>(args, all.parts, at);
    }
    __syncwarp(); /* the lanes beside the one that asks for the copies have waited for it */
    moments_join<columns <= 64 ? 8 : 16>(all.parts, all.norm, channels); /* as many as registers hold */
}

ENTRY_HALVES(integrate_bn_stats_wgmma_64, (INTEGRATE_BN_STATS_THREADS, 2), integrate_bn_stats_args,
             integrate_bn_stats<number, 64, 2>(args))
ENTRY_HALVES(integrate_bn_stats_wgmma_128_staying, (INTEGRATE_BN_STATS_THREADS, 1), integrate_bn_stats_args,
             integrate_bn_stats<number, 128, 1>(args))
