/*
 * Statistics of the columns of panels (panel.cuh), by warps that have nothing else to do and share each panel, so that
 * the ring that it lies in goes on soon: a warp takes a quarter of the columns, 16, and a lane two of these side by
 * side, of every fourth row: the mean of its rows, and the squares of their distances from it. What several pieces of
 * rows have adds up without losing digits. Between two panels of the same columns it lies in shared memory, which no
 * other lane touches.
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
    float mean[2], square[2];
};

/* Which rows of a panel count: all, or those of the lane's own that have a bit, in their order. */
struct panel_live {
    bool whole;
    uint32_t own;
};

static __device__ __forceinline__ uint32_t panel_piece_address(uint32_t panel, uint32_t row, uint32_t piece) {
    return panel + row * PANEL_ROW_BYTES + ((piece ^ (row & 7)) << 4);
}

/* ---- Adding pieces of rows ------------------------------------------------------------------------- */

/* `share` is what the count of `more` is of both. */
static __device__ __forceinline__ void panel_sums_join(panel_sums *sums, const panel_sums &more, float share) {
    const float weight = sums->count * share;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float distance = more.mean[i] - sums->mean[i];
        sums->mean[i] += distance * share;
        sums->square[i] += more.square[i] + distance * distance * weight;
    }
    sums->count += more.count;
}

/* Of any counts; where one is 0 the other's mean is left as it is. */
static __device__ __forceinline__ void panel_sums_join(panel_sums *sums, const panel_sums &more) {
    const float count = sums->count + more.count;
    panel_sums_join(sums, more, count > 0 ? more.count / count : 0);
}

/* What the four lanes of a column have goes to the first of them. All lanes of the warp take part; `equal`: their
 * counts are. */
static __device__ __forceinline__ void panel_sums_gather(panel_sums *sums, bool equal) {
#pragma unroll
    for (int bits = 8; bits < 32; bits *= 2) {
        panel_sums other = *sums;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            other.mean[i] = __shfl_xor_sync(0xFFFFFFFFu, sums->mean[i], bits);
            other.square[i] = __shfl_xor_sync(0xFFFFFFFFu, sums->square[i], bits);
        }
        if (equal) {
            panel_sums_join(sums, other, 0.5f);
        } else {
            other.count = __shfl_xor_sync(0xFFFFFFFFu, sums->count, bits);
            panel_sums_join(sums, other);
        }
    }
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

/* `count` rows of the lane's, four times as many of the panel, from row `first` of the panel on, all of which count;
 * every pair of numbers goes to copy(row, column, word), too. */
template <class number, int count, class sink>
static __device__ __forceinline__ void panel_sums_whole(panel_sums *sums, const panel_lane &at, uint32_t first,
                                                        const sink &copy) {
    uint32_t word[count];
    float value[count][2], sum[2][2];
#pragma unroll
    for (uint32_t j = 0; j < count; j++)
        word[j] = shared_read_word(at.address[j % 2] + (first + j / 2 * 8) * PANEL_ROW_BYTES);
#pragma unroll
    for (uint32_t j = 0; j < count; j++) {
        copy(first + panel_lane_row() + j / 2 * 8 + j % 2, at.column, word[j]);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            value[j][i] = pair_at<number>(word[j], i);
            sum[j % 2][i] = j < 2 ? value[j][i] : sum[j % 2][i] + value[j][i];
        }
    }
    sums->count = count;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float mean = (sum[0][i] + sum[1][i]) * (1.0f / count);
        float square[2] = {0, 0};
#pragma unroll
        for (int j = 0; j < count; j++) {
            const float distance = value[j][i] - mean;
            square[j % 2] += distance * distance;
        }
        sums->mean[i] = mean;
        sums->square[i] = square[0] + square[1];
    }
}

/* All rows of the lane's that count. The others are not read: somebody may be clearing them. */
template <class number, class sink>
static __device__ __forceinline__ void panel_sums_some(panel_sums *sums, const panel_lane &at, uint32_t own,
                                                       const sink &copy) {
    float sum[2] = {0, 0};
    sums->count = (float)__popc(own);
#pragma unroll 1
    for (uint32_t left = own; left; left &= left - 1) {
        const uint32_t j = (uint32_t)__popc(~left & (left - 1)), from = j / 2 * 8;
        const uint32_t word = shared_read_word((j % 2 ? at.address[1] : at.address[0]) + from * PANEL_ROW_BYTES);
        copy(from + panel_lane_row() + j % 2, at.column, word);
        for (int i = 0; i < 2; i++) sum[i] += pair_at<number>(word, i);
    }
    for (int i = 0; i < 2; i++) {
        sums->mean[i] = own ? sum[i] / sums->count : 0;
        sums->square[i] = 0;
    }
#pragma unroll 1
    for (uint32_t left = own; left; left &= left - 1) {
        const uint32_t j = (uint32_t)__popc(~left & (left - 1)), from = j / 2 * 8;
        const uint32_t word = shared_read_word((j % 2 ? at.address[1] : at.address[0]) + from * PANEL_ROW_BYTES);
        for (int i = 0; i < 2; i++) {
            const float distance = pair_at<number>(word, i) - sums->mean[i];
            sums->square[i] += distance * distance;
        }
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

/* The sums of the panels before, and these. `pair` is the lane's pair of columns, of 32. */
static __device__ __forceinline__ void panel_sums_continue(panel_sums *sums, uint32_t from, uint32_t pair) {
    uint32_t word[4];
    panel_sums all;
    shared_read(word, from + pair * 16);
    memcpy(all.mean, word, sizeof all.mean);
    memcpy(all.square, word + 2, sizeof all.square);
    all.count = shared_read_f32(from + PANEL_SUMS_COUNT_AT + pair * 4);
    panel_sums_join(&all, *sums);
    *sums = all;
}

static __device__ __forceinline__ void panel_sums_leave(const panel_sums &sums, uint32_t to, uint32_t pair) {
    uint32_t word[4];
    memcpy(word, sums.mean, sizeof sums.mean);
    memcpy(word + 2, sums.square, sizeof sums.square);
    shared_write(to + pair * 16, word);
    shared_write_f32(to + PANEL_SUMS_COUNT_AT + pair * 4, sums.count);
}

static __device__ __forceinline__ void panel_sums_write(const panel_sums_place &at, const panel_sums &sums,
                                                        int32_t column) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const bn_moments found = {sums.count, sums.mean[i], sums.square[i]};
        if (column + i < at.columns) write_bytes<sizeof found>(at.to + column + i, &found);
    }
}

/* Adds a panel to the sums of a quarter of its columns, `piece` rows at a time where all count. All lanes of the warp
 * take part. */
template <class number, int rows, int piece, class sink>
static __device__ __forceinline__ void panel_sums_add(const panel_sums_place &at, uint32_t panel, uint32_t quarter,
                                                      const panel_live &live, const sink &copy) {
    const panel_lane from = panel_lane_of(panel, quarter);
    panel_sums sums = {};
    if (live.whole) {
#pragma unroll 1
        for (uint32_t first = 0; first < rows; first += piece) {
            panel_sums more;
            panel_sums_whole<number, piece / 4>(&more, from, first, copy);
            panel_sums_join(&sums, more, __fdividef((float)piece, (float)(first + piece)));
        }
    } else {
        panel_sums_some<number>(&sums, from, live.own, copy);
    }
    panel_sums_gather(&sums, live.whole);
    if (threadIdx.x % 32 >= 8) return;
    const uint32_t pair = from.column / 2;
    if (!at.is_first) panel_sums_continue(&sums, at.between, pair);
    if (at.is_last) {
        panel_sums_write(at, sums, (int32_t)from.column);
    } else {
        panel_sums_leave(sums, at.between, pair);
    }
}

#endif
