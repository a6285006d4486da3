/*
 * Statistics of the columns of panels (panel.cuh), by warps that have nothing else to do and share each panel, so that
 * the ring that it lies in goes on soon: a warp takes a quarter of the columns, 16, and a lane two of these side by
 * side, of every fourth row. It adds up their distances from an origin, the mean of the first rows that count, and the
 * squares of these. Between two panels of the same columns the sums lie in shared memory, which no other warp touches.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_PANEL_SUMS_CUH
#define BRAID_KERNELS_CUDA_TILE_PANEL_SUMS_CUH

#include <string.h>

#include "kernels/cuda/sums.h"
#include "kernels/cuda/tile/panel.cuh"
#include "kernels/cuda/tile/panel_sums.h"

/* Of two columns. */
struct panel_sums {
    float count; /* rows */
    float origin[2], sum[2], square[2];
};

/* Which rows of a panel count: all, or those of the lane's own that have a bit, in their order. */
struct panel_live {
    bool whole;
    uint32_t own;
};

static __device__ __forceinline__ uint32_t panel_piece_address(uint32_t panel, uint32_t row, uint32_t piece) {
    return panel + row * PANEL_ROW_BYTES + ((piece ^ (row & 7)) << 4);
}

/* ---- Rows of a panel ------------------------------------------------------------------------------- */

/* A lane has two rows of every eight, one behind the other: the first of them. So that the lanes of a row's columns
 * meet no bank of shared memory twice. */
static __device__ __forceinline__ uint32_t panel_lane_row() { return threadIdx.x % 32 / 8 * 2; }

/* Includes rows [first, first + 32) of a panel; all lanes of a warp take part, lane l with `counts` of row first + l.
 * Begins with {true, 0}. */
static __device__ __forceinline__ void panel_live_include(panel_live *live, uint32_t first, bool counts) {
    const uint32_t all = __ballot_sync(0xFFFFFFFFu, counts), own = all >> panel_lane_row() & 0x03030303u;
    live->whole = live->whole && all == 0xFFFFFFFFu;
    live->own |= ((own | own >> 6 | own >> 12 | own >> 18) & 0xFFu) << first / 4;
}

/* The lane's columns of a quarter, and its first two rows of a panel in shared memory. */
struct panel_lane {
    uint32_t column, address[2];
};

static __device__ __forceinline__ panel_lane panel_lane_of(uint32_t panel, uint32_t quarter) {
    const uint32_t lane = threadIdx.x % 32, row = panel_lane_row(), piece = quarter * 2 + lane % 8 / 4;
    const uint32_t word = lane % 4 * 4;
    const panel_lane at = {
        quarter * 16 + lane % 8 * 2,
        {panel_piece_address(panel, row, piece) + word, panel_piece_address(panel, row + 1, piece) + word}};
    return at;
}

/* The pair of numbers in row j of the lane's. */
static __device__ __forceinline__ uint32_t panel_lane_word(const panel_lane &at, uint32_t j) {
    return shared_read_word((j % 2 ? at.address[1] : at.address[0]) + j / 2 * 8 * PANEL_ROW_BYTES);
}

/* The same number in all lanes of a column: the sum of what they have. */
static __device__ __forceinline__ float panel_lanes_sum(float mine) {
    mine += __shfl_xor_sync(0xFFFFFFFFu, mine, 8);
    return mine + __shfl_xor_sync(0xFFFFFFFFu, mine, 16);
}

/* The mean of the first 32 rows, or of those that count: near the mean of all, so that a large one costs no digits. All
 * lanes of the warp take part. */
template <class number>
static __device__ __forceinline__ void panel_sums_find_origin(panel_sums *sums, const panel_lane &at,
                                                              const panel_live &live) {
    const float count = live.whole ? 32 : panel_lanes_sum((float)__popc(live.own));
    float sum[2] = {0, 0};
    if (live.whole) {
        uint32_t word[8];
#pragma unroll
        for (uint32_t j = 0; j < 8; j++) word[j] = panel_lane_word(at, j);
#pragma unroll
        for (int j = 0; j < 16; j++) sum[j % 2] += pair_at<number>(word[j / 2], j % 2);
    } else {
#pragma unroll 1
        for (uint32_t left = live.own; left; left &= left - 1) {
            const uint32_t word = panel_lane_word(at, (uint32_t)__popc(~left & (left - 1)));
            for (int i = 0; i < 2; i++) sum[i] += pair_at<number>(word, i);
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float mean = panel_lanes_sum(sum[i]) / (count > 0 ? count : 1);
        sums->origin[i] = isfinite(mean) ? mean : 0;
    }
}

template <class number> static __device__ __forceinline__ void panel_sums_include(panel_sums *sums, uint32_t word) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float distance = pair_at<number>(word, i) - sums->origin[i];
        sums->sum[i] += distance;
        sums->square[i] += distance * distance;
    }
}

/* Adds all rows of the lane's; every pair of numbers goes to copy(row, column, word), too. */
template <class number, int rows, class sink>
static __device__ __forceinline__ void panel_sums_rows(panel_sums *sums, const panel_lane &at, const sink &copy) {
#pragma unroll 1
    for (uint32_t first = 0; first < rows / 4; first += 16) {
        uint32_t word[16];
#pragma unroll
        for (uint32_t j = 0; j < 16; j++) word[j] = panel_lane_word(at, first + j);
#pragma unroll
        for (uint32_t j = 0; j < 16; j++) {
            copy((first + j) / 2 * 8 + j % 2 + panel_lane_row(), at.column, word[j]);
            panel_sums_include<number>(sums, word[j]);
        }
    }
}

/* The same of the rows that count. The others are not read: somebody may be clearing them. */
template <class number, class sink>
static __device__ __forceinline__ void panel_sums_live_rows(panel_sums *sums, const panel_lane &at, uint32_t own,
                                                            const sink &copy) {
#pragma unroll 1
    for (uint32_t left = own; left; left &= left - 1) {
        const uint32_t j = (uint32_t)__popc(~left & (left - 1)), word = panel_lane_word(at, j);
        copy(j / 2 * 8 + j % 2 + panel_lane_row(), at.column, word);
        panel_sums_include<number>(sums, word);
    }
}

/* ---- A panel --------------------------------------------------------------------------------------- */

/* What becomes of the first `columns` of 64 columns: the block's first panel of them, its last, and where that goes. */
struct panel_sums_place {
    uint32_t between; /* in shared memory */
    bool is_first, is_last;
    bn_moments *to;
    int32_t columns;
};

/* What all lanes of a pair of columns need of the panels before; `pair` of 32. */
static __device__ __forceinline__ void panel_sums_open(panel_sums *sums, uint32_t from, uint32_t pair) {
    shared_read_pair(sums->origin, from + PANEL_SUMS_ORIGIN_AT + pair * 8);
    sums->count = shared_read_f32(from + PANEL_SUMS_COUNT_AT + pair * 4);
}

/* The first lane of a pair adds the sums of the panels before. */
static __device__ __forceinline__ void panel_sums_continue(panel_sums *sums, uint32_t from, uint32_t pair) {
    uint32_t word[4];
    float before[4];
    shared_read(word, from + pair * 16);
    memcpy(before, word, sizeof before);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        sums->sum[i] += before[i];
        sums->square[i] += before[2 + i];
    }
}

static __device__ __forceinline__ void panel_sums_leave(const panel_sums &sums, uint32_t to, uint32_t pair) {
    uint32_t word[4];
    memcpy(word, sums.sum, sizeof sums.sum);
    memcpy(word + 2, sums.square, sizeof sums.square);
    shared_write(to + pair * 16, word);
    shared_write_f32(to + PANEL_SUMS_ORIGIN_AT + pair * 8, sums.origin[0]);
    shared_write_f32(to + PANEL_SUMS_ORIGIN_AT + pair * 8 + 4, sums.origin[1]);
    shared_write_f32(to + PANEL_SUMS_COUNT_AT + pair * 4, sums.count);
}

static __device__ __forceinline__ void panel_sums_write(const panel_sums_place &at, const panel_sums &sums,
                                                        int32_t column) {
    const float share = sums.count > 0 ? 1 / sums.count : 0;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float mean = sums.sum[i] * share;
        const bn_moments found = {sums.count, sums.origin[i] + mean, sums.square[i] - mean * sums.sum[i]};
        if (column + i < at.columns) write_bytes<sizeof found>(at.to + column + i, &found);
    }
}

/* Adds a panel to the sums of a quarter of its columns. All lanes of the warp take part. */
template <class number, int rows, class sink>
static __device__ __forceinline__ void panel_sums_add(const panel_sums_place &at, uint32_t panel, uint32_t quarter,
                                                      const panel_live &live, const sink &copy) {
    const panel_lane from = panel_lane_of(panel, quarter);
    const uint32_t pair = from.column / 2;
    panel_sums sums = {};
    if (!at.is_first) panel_sums_open(&sums, at.between, pair);
    if (sums.count == 0) panel_sums_find_origin<number>(&sums, from, live);
    if (live.whole) {
        panel_sums_rows<number, rows>(&sums, from, copy);
        sums.count += rows;
    } else {
        panel_sums_live_rows<number>(&sums, from, live.own, copy);
        sums.count += panel_lanes_sum((float)__popc(live.own));
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        sums.sum[i] = panel_lanes_sum(sums.sum[i]);
        sums.square[i] = panel_lanes_sum(sums.square[i]);
    }
    if (threadIdx.x % 32 < 8) {
        if (!at.is_first) panel_sums_continue(&sums, at.between, pair);
        if (at.is_last) {
            panel_sums_write(at, sums, (int32_t)from.column);
        } else {
            panel_sums_leave(sums, at.between, pair);
        }
    }
    __syncwarp();
}

#endif
