/*
 * Rows of a product that are pixels of a convolution: the forward pass and the data gradient. Both gather the taps of
 * a row from an image (x, or dy), 16 bytes of channels at a time; the taps that matter to a block are an arithmetic
 * sequence on each axis, and so are the places where they read.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_MMA_MMA_PIXELS_CUH
#define BRAID_KERNELS_CUDA_CONV_MMA_MMA_PIXELS_CUH

#include "kernels/cuda/conv/conv2d.h"
#include "kernels/cuda/tile/epilogue.cuh"
#include "kernels/cuda/conv/mma/mma_tile.cuh"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/ptx/pair.cuh"
#include "kernels/cuda/tile/schedule.cuh"

/* The taps of one axis: tap + j * step reads at `place` + j * advance from the row's own place; j < count. */
struct mma_taps {
    int32_t tap, step, count, place, advance;
};

/* A term of the sums: a tap (by number on both axes) and the first channel of a piece. */
struct mma_term {
    int32_t r, s, channel;
};

/* Goes `by` channels on; r reaches the number of taps behind the last term. */
static __device__ __forceinline__ void term_advance(mma_term *term, int32_t by, int32_t channels, int32_t columns) {
    term->channel += by;
    while (term->channel >= channels) {
        term->channel -= channels;
        if (++term->s == columns) {
            term->s = 0;
            term->r++;
        }
    }
}

/* The image that rows gather from. */
template <class number> struct mma_image {
    const number *data;
    int32_t size[2];
    int64_t pitch;
    int32_t channels; /* of the group; data points to the first of them */
};

/* The left operand: rows tid / 4 and 64 more, piece tid % 4 of a stage. */
template <class number> struct mma_gather {
    mma_image<number> image;
    mma_taps taps[2];
    mma_term term;
    int64_t sample[2]; /* of the two rows: the first element of its sample; -1: no such row, or blanked */
    int32_t h[2], w[2];

    __device__ __forceinline__ void begin() {
        term = {0, 0, 0};
        term_advance(&term, (int32_t)threadIdx.x % 4 * mma_numbers<number>::piece, image.channels, taps[1].count);
    }
    __device__ __forceinline__ void load(number *to) {
        const int32_t down = taps[0].place + term.r * taps[0].advance, right = taps[1].place + term.s * taps[1].advance;
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const int32_t y = h[j] + down, x = w[j] + right;
            const bool inside =
                sample[j] >= 0 && term.r < taps[0].count && y >= 0 && y < image.size[0] && x >= 0 && x < image.size[1];
            const int64_t at = sample[j] + ((int64_t)y * image.size[1] + x) * image.pitch + term.channel;
            copy_async(to + along_at<number>((int)threadIdx.x / 4 + 64 * j, (int)threadIdx.x % 4),
                       image.data + (inside ? at : 0), inside);
        }
        term_advance(&term, mma_numbers<number>::depth, image.channels, taps[1].count);
    }
};

/* Where the rows of a block are written. */
struct mma_rows {
    int64_t at[MMA_ROWS];      /* the pixel; -1: none */
    int32_t blanked[MMA_ROWS]; /* 1: zeros, or what is added alone, as the epilogue says */
};

/* Rounds the sums into shared memory, rows of columns + 8: columns from `live` on, which is even, are zeros. Column 0
 * is channel `first`. */
template <class number, bool is_added, int columns>
static __device__ __forceinline__ void mma_round(uint16_t *shared, const mma_sums<columns> &sums, const epilogue &of,
                                                 const mma_rows *rows, int64_t pitch, int32_t first, int32_t live) {
    typedef mma_warp_tile<columns> warp;
    const int lane = (int)threadIdx.x % 32;
    const float floor = epilogue_floor(of);
#pragma unroll
    for (int j = 0; j < warp::column_tiles; j++) {
        const int column = warp::column() + 8 * j + lane % 4 * 2;
        const epilogue_channel channel[2] = {epilogue_find<number>(of, first + column, first + live),
                                             epilogue_find<number>(of, first + column + 1, first + live)};
#pragma unroll
        for (int i = 0; i < 2 * warp::row_tiles; i++) {
            const int row = warp::row() + 8 * i + lane / 4;
            const float *sum = sums.at[i / 2][j] + i % 2 * 2;
            uint32_t added = 0, pair = 0;
            if (is_added && column < live && rows->at[row] >= 0)
                read_bytes<4>(&added, (const number *)of.added + rows->at[row] * pitch + first + column);
            if (rows->blanked[row])
                pair = of.keeps ? added : 0;
            else if (is_added)
                pair = pair_made<number>(epilogue_value(sum[0], channel[0], floor, pair_at<number>(added, 0)),
                                         epilogue_value(sum[1], channel[1], floor, pair_at<number>(added, 1)));
            else
                pair = pair_made<number>(epilogue_value(sum[0], channel[0], floor),
                                         epilogue_value(sum[1], channel[1], floor));
            *(uint32_t *)(shared + row * (columns + MMA_PIECE) + column) = column < live ? pair : 0;
        }
    }
}

/* Rounds the sums and writes `lanes` lanes of y, where column 0 is lane `first`: columns from `live` on are zeros. */
template <class number, int columns>
static __device__ __forceinline__ void mma_write(number *y, int64_t pitch, const mma_rows *rows, int32_t first,
                                                 int32_t lanes, int32_t live, const epilogue &of, number *memory,
                                                 const mma_sums<columns> &sums) {
    uint16_t *shared = (uint16_t *)memory;
    const int stage_pitch = columns + MMA_PIECE;
    if (of.added)
        mma_round<number, true>(shared, sums, of, rows, pitch, first, live);
    else
        mma_round<number, false>(shared, sums, of, rows, pitch, first, live);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < MMA_ROWS * (columns / MMA_PIECE); i += MMA_THREADS) {
        const int row = i / (columns / MMA_PIECE), piece = i % (columns / MMA_PIECE) * MMA_PIECE;
        if (rows->at[row] < 0 || piece >= lanes) continue;
        write_bytes<16>(y + rows->at[row] * pitch + first + piece, shared + row * stage_pitch + piece);
    }
}

/* The same for f32, which needs no rounding: a lane has two neighbouring columns, four lanes write 32 bytes. */
template <class number, int columns>
static __device__ __forceinline__ void mma_write_words(number *y, int64_t pitch, const mma_rows *rows, int32_t first,
                                                       int32_t lanes, int32_t live, const epilogue &of,
                                                       const mma_sums<columns> &sums) {
    typedef mma_warp_tile<columns> warp;
    const int lane = (int)threadIdx.x % 32;
    const float floor = epilogue_floor(of);
#pragma unroll
    for (int j = 0; j < warp::column_tiles; j++) {
        const int column = warp::column() + 8 * j + lane % 4 * 2;
        const epilogue_channel channel[2] = {epilogue_find<number>(of, first + column, first + live),
                                             epilogue_find<number>(of, first + column + 1, first + live)};
#pragma unroll
        for (int i = 0; i < 2 * warp::row_tiles; i++) {
            const int row = warp::row() + 8 * i + lane / 4;
            const float *sum = sums.at[i / 2][j] + i % 2 * 2;
            if (rows->at[row] < 0 || column >= lanes) continue;
            const int64_t at = rows->at[row] * pitch + first + column;
            float pair[2] = {0, 0}, added[2] = {0, 0};
            if (of.added && column < live) read_bytes<8>(added, (const number *)of.added + at);
#pragma unroll
            for (int k = 0; k < 2; k++) {
                if (rows->blanked[row])
                    pair[k] = of.keeps ? added[k] : 0;
                else if (column < live)
                    pair[k] = epilogue_value(sum[k], channel[k], floor, added[k]);
            }
            write_bytes<8>(y + at, pair);
        }
    }
}

template <int columns>
static __device__ __forceinline__ void mma_write(f32 *y, int64_t pitch, const mma_rows *rows, int32_t first,
                                                 int32_t lanes, int32_t live, const epilogue &of, f32 *,
                                                 const mma_sums<columns> &sums) {
    mma_write_words(y, pitch, rows, first, lanes, live, of, sums);
}

template <int columns>
static __device__ __forceinline__ void mma_write(tf32 *y, int64_t pitch, const mma_rows *rows, int32_t first,
                                                 int32_t lanes, int32_t live, const epilogue &of, tf32 *,
                                                 const mma_sums<columns> &sums) {
    mma_write_words(y, pitch, rows, first, lanes, live, of, sums);
}

#endif
