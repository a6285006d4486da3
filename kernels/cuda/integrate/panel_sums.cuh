/*
 * Statistics of the columns of panels (panel.cuh), by a warp that has nothing else to do. Lane l has the eight columns
 * of piece l % 8, of every fourth row: it adds up their distances from an origin, the mean of the first rows that
 * count, and the squares of these. Between two panels of the same columns the sums lie in shared memory, which no other
 * warp touches.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_PANEL_SUMS_CUH
#define BRAID_KERNELS_CUDA_INTEGRATE_PANEL_SUMS_CUH

#include <string.h>

#include "kernels/cuda/tile/sums.h"
#include "kernels/cuda/tile/panel.cuh"
#include "kernels/cuda/integrate/panel_sums.h"

struct panel_sums {
    float origin[8], sum[8], square[8];
    int32_t count; /* rows of the warp */
};

/* Which rows of a panel count, as bits, the same in all lanes. */
template <int rows> struct panel_live { uint32_t word[rows / 32]; };

template <int rows> static __device__ __forceinline__ int32_t panel_live_count(const panel_live<rows> &live) {
    int32_t count = 0;
#pragma unroll
    for (int w = 0; w < rows / 32; w++) count += __popc(live.word[w]);
    return count;
}

static __device__ __forceinline__ uint32_t panel_piece_address(uint32_t panel, uint32_t row, uint32_t piece) {
    return panel + row * PANEL_ROW_BYTES + ((piece ^ (row & 7)) << 4);
}

/* ---- Between panels ------------------------------------------------------------------------------- */

static __device__ __forceinline__ void shared_read_eight(float (&to)[8], uint32_t first, uint32_t second) {
    uint32_t word[2][4];
    shared_read(word[0], first);
    shared_read(word[1], second);
    memcpy(to, word, sizeof to);
}

static __device__ __forceinline__ void shared_write_eight(uint32_t first, uint32_t second, const float (&from)[8]) {
    uint32_t word[2][4];
    memcpy(word, from, sizeof from);
    shared_write(first, word[0]);
    shared_write(second, word[1]);
}

static __device__ __forceinline__ void panel_sums_load(panel_sums *sums, uint32_t from) {
    const uint32_t lane = threadIdx.x % 32, own = from + lane * 16;
    const uint32_t origin = from + PANEL_SUMS_ORIGIN_AT + lane % 8 * 32;
    shared_read_eight(sums->sum, own, own + 512);
    shared_read_eight(sums->square, own + PANEL_SUMS_SQUARE_AT, own + PANEL_SUMS_SQUARE_AT + 512);
    shared_read_eight(sums->origin, origin, origin + 16);
    sums->count = (int32_t)shared_read_word(from + PANEL_SUMS_COUNT_AT + lane * 4);
}

static __device__ __forceinline__ void panel_sums_store(uint32_t to, const panel_sums &sums) {
    const uint32_t lane = threadIdx.x % 32, own = to + lane * 16;
    const uint32_t origin = to + PANEL_SUMS_ORIGIN_AT + lane % 8 * 32;
    __syncwarp(); /* all lanes have read the origin */
    shared_write_eight(own, own + 512, sums.sum);
    shared_write_eight(own + PANEL_SUMS_SQUARE_AT, own + PANEL_SUMS_SQUARE_AT + 512, sums.square);
    if (lane < 8) shared_write_eight(origin, origin + 16, sums.origin);
    shared_write_word(to + PANEL_SUMS_COUNT_AT + lane * 4, (uint32_t)sums.count);
    __syncwarp();
}

static __device__ __forceinline__ void panel_sums_clear(panel_sums *sums) {
#pragma unroll
    for (int c = 0; c < 8; c++) sums->origin[c] = sums->sum[c] = sums->square[c] = 0;
    sums->count = 0;
}

/* What becomes of the first `columns` of 64 columns: the block's first panel of them, its last, and where that goes. */
struct panel_sums_place {
    uint32_t between; /* in shared memory */
    bool is_first, is_last;
    bn_moments *to;
    int32_t columns;
};

/* ---- A panel -------------------------------------------------------------------------------------- */

/* The mean of the first rows that count: near the mean of all, so that a large one costs no digits. */
template <class number, int rows>
static __device__ __forceinline__ void panel_sums_find_origin(panel_sums *sums, uint32_t panel,
                                                              const panel_live<rows> &live) {
    const int32_t count = panel_live_count<rows>(live), few = count < 8 ? count : 8;
    const float share = 1.0f / (float)few;
    int32_t found = 0;
#pragma unroll 1
    for (uint32_t row = 0; row < rows && found < few; row++) {
        uint32_t word[4];
        if (!(live.word[row / 32] >> row % 32 & 1)) continue;
        shared_read(word, panel_piece_address(panel, row, threadIdx.x % 8));
#pragma unroll
        for (int c = 0; c < 8; c++) sums->origin[c] += pair_at<number>(word[c / 2], c % 2) * share;
        found++;
    }
#pragma unroll
    for (int c = 0; c < 8; c++) {
        if (!isfinite(sums->origin[c])) sums->origin[c] = 0;
    }
}

template <class number>
static __device__ __forceinline__ void panel_sums_include(panel_sums *sums, const uint32_t (&word)[4]) {
#pragma unroll
    for (int c = 0; c < 8; c++) {
        const float distance = pair_at<number>(word[c / 2], c % 2) - sums->origin[c];
        sums->sum[c] += distance;
        sums->square[c] += distance * distance;
    }
}

/* Adds the rows of a panel; every piece goes to copy(row, word), too. */
template <class number, int rows, class sink>
static __device__ __forceinline__ void panel_sums_rows(panel_sums *sums, uint32_t panel, const sink &copy) {
    const uint32_t first = threadIdx.x % 32 / 8, piece = threadIdx.x % 8;
    const uint32_t even = panel_piece_address(panel, first, piece), odd = panel_piece_address(panel, first + 4, piece);
#pragma unroll 1
    for (uint32_t row = 0; row < rows; row += 16) {
        uint32_t word[4][4];
#pragma unroll
        for (uint32_t j = 0; j < 4; j++)
            shared_read(word[j], (j % 2 ? odd : even) + (row + j / 2 * 8) * PANEL_ROW_BYTES);
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            copy(row + j * 4 + first, word[j]);
            panel_sums_include<number>(sums, word[j]);
        }
    }
}

/* The same of the rows that count, one at a time. The others are not read: somebody may be clearing them. */
template <class number, int rows, class sink>
static __device__ __forceinline__ void panel_sums_live_rows(panel_sums *sums, uint32_t panel,
                                                            const panel_live<rows> &live, const sink &copy) {
#pragma unroll 1
    for (uint32_t row = threadIdx.x % 32 / 8; row < rows; row += 4) {
        uint32_t word[4];
        if (!(live.word[row / 32] >> row % 32 & 1)) continue;
        shared_read(word, panel_piece_address(panel, row, threadIdx.x % 8));
        copy(row, word);
        panel_sums_include<number>(sums, word);
    }
}

/* Writes what the warp found. */
static __device__ __forceinline__ void panel_sums_write(const panel_sums_place &at, const panel_sums &sums) {
    const int32_t lane = (int32_t)threadIdx.x % 32;
    const float share = sums.count > 0 ? 1.0f / (float)sums.count : 0;
#pragma unroll
    for (int c = 0; c < 8; c++) {
        float sum = sums.sum[c], square = sums.square[c];
#pragma unroll
        for (int bits = 8; bits < 32; bits *= 2) {
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, bits);
            square += __shfl_xor_sync(0xFFFFFFFFu, square, bits);
        }
        const float mean = sum * share;
        bn_moments found = {(float)sums.count, sums.origin[c] + mean, square - mean * sum};
        if (lane < 8 && 8 * lane + c < at.columns) at.to[8 * lane + c] = found;
    }
}

/* Adds a panel to the sums of its columns. All lanes of the warp take part. */
template <class number, int rows, class sink>
static __device__ __forceinline__ void panel_sums_add(const panel_sums_place &at, uint32_t panel,
                                                      const panel_live<rows> &live, const sink &copy) {
    const int32_t count = panel_live_count<rows>(live);
    panel_sums sums;
    if (at.is_first) {
        panel_sums_clear(&sums);
    } else {
        panel_sums_load(&sums, at.between);
    }
    if (sums.count == 0 && count > 0) panel_sums_find_origin<number, rows>(&sums, panel, live);
    sums.count += count;
    if (count == rows) {
        panel_sums_rows<number, rows>(&sums, panel, copy);
    } else {
        panel_sums_live_rows<number, rows>(&sums, panel, live, copy);
    }
    if (at.is_last) {
        panel_sums_write(at, sums);
    } else {
        panel_sums_store(at.between, sums);
    }
}

#endif
