/*
 * conv2d weight gradient for 1 to 4 input channels, first stage, on the tensor cores. Rows of the product are (r, s, c)
 * as the weights lie in memory and then, where there is a bias, one row of ones; columns are output channels; the
 * reduction runs over the pixels of the tiles of one part. Each part writes its own float sums; weight_sum adds the
 * parts in order. Two neighbouring pixels with the same tap are one operand, and there are two ways to it. In shared
 * memory the lines of x are sorted by (column % stride, channel), where those are neighbours, one word (for every
 * second tap in a copy shifted by one element). Or x lies there as in global memory (`raw`), where two neighbouring
 * taps of the same pixel are one word: rows of the product are then pairs of taps, and the words of two pixels change
 * halves.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/few_channels/lines.cuh"
#include "kernels/cuda/ptx/matrix.cuh"
#include "kernels/cuda/ptx/mma.cuh"
#include "kernels/cuda/ptx/shared.cuh"

#define LINES_AHEAD 3 /* elements of x that a thread has under way */

/* Everything a block shares. dy and x have those of two tiles in turn, dy 16 bytes of a pixel at a time. */
struct lines_shared {
    alignas(16) uint16_t dy[2][LINES_WEIGHT_PIXELS * 64];
    alignas(16) uint16_t x[2][LINES_WEIGHT_ELEMENTS];
    int32_t pixels[LINES_WEIGHT_PIXELS / 2]; /* where the x of pixels 2 j and 2 j + 1 begins, in bytes */
};

static_assert(sizeof(lines_shared) == LINES_WEIGHT_SHARED, "kernel and launcher agree");

/* How the warps share the product: `rows` groups of row tiles, `columns` of column tiles, and the pixels. */
struct lines_share {
    int32_t row_tiles, rows, columns, pixels; /* row_tiles: of one group */
    int32_t row, column, pixel;               /* of this warp; pixel may be beyond the last */
    int32_t bias_tile, bias_row;              /* the row of ones: its row tile of this warp's, its row there; -1 */
};

template <int row_tiles, int column_tiles, int all_column_tiles>
static __device__ __forceinline__ lines_share find_share(int32_t steps, int32_t bias_at) {
    lines_share share;
    const int32_t warp = (int32_t)threadIdx.x / 32;
    share.rows = (steps + row_tiles - 1) / row_tiles;
    share.row_tiles = (steps + share.rows - 1) / share.rows;
    share.columns = all_column_tiles / column_tiles;
    share.pixels = 1; /* a power of two, as is the number of steps */
    while (2 * share.pixels * share.rows * share.columns <= LINES_WARPS) share.pixels *= 2;
    share.row = warp % share.rows;
    share.column = warp / share.rows % share.columns;
    share.pixel = warp / (share.rows * share.columns);
    share.bias_tile = bias_at < 0 ? -1 : bias_at / 16 - share.row * share.row_tiles;
    share.bias_row = bias_at < 0 ? -1 : bias_at % 16;
    return share;
}

/* The same of a raw plane: where pair j of the taps lies from the place of a pixel. */
static __device__ __forceinline__ int32_t find_pair(const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                                    int32_t j) {
    const int32_t pairs = lines_pairs(args, plane), r = j / pairs;
    return r < args.filter[0] ? 2 * (r * args.dilation * plane.row_pitch + 2 * (j - r * pairs)) : 0;
}

/* Where row m of the product reads x, from the place of a pixel pair, in bytes. */
static __device__ __forceinline__ int32_t find_tap(const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                                   int32_t m) {
    const int32_t tap = m / plane.in_channels, c = m - tap * plane.in_channels;
    const int32_t r = tap / args.filter[1], s = tap - r * args.filter[1];
    if (r >= args.filter[0]) return 0;
    const int32_t column = s / args.stride[1], lane = (s - column * args.stride[1]) * plane.in_channels + c;
    return 2 *
           (lane * plane.lane_pitch + r * args.dilation * plane.row_pitch + column + (column % 2 ? plane.copy - 1 : 0));
}

/* The place of a tap of pair j among the weights; -1: there is no such tap. */
static __device__ __forceinline__ int32_t raw_column(const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                                     int32_t j, int half) {
    const int32_t terms = args.filter[1] * plane.in_channels, pairs = lines_pairs(args, plane), r = j / pairs;
    const int32_t e = lines_term(plane, j - r * pairs) + half;
    return r < args.filter[0] && e >= 0 && e < terms ? r * terms + e : -1;
}

static __device__ __forceinline__ void find_pixels(int32_t *to, const conv2d_lines_args &args,
                                                   const conv2d_lines_plane &plane) {
    for (int32_t j = (int32_t)threadIdx.x; j < LINES_WEIGHT_PIXELS / 2; j += LINES_THREADS) {
        const int32_t row = 2 * j / args.tile[1], column = 2 * j - row * args.tile[1];
        const int32_t step = plane.raw ? args.stride[1] * plane.in_channels : 1;
        to[j] = row < args.tile[0]
                    ? 2 * (row * args.stride[0] * plane.row_pitch + column * step + plane.shift - plane.shift % 2)
                    : 0;
    }
}

/* Where 16 bytes of a pixel lie: neighbouring pixels in other banks. */
template <int all_column_tiles> static __device__ __forceinline__ int32_t dy_at(int32_t pixel, int32_t column_tile) {
    return (pixel * all_column_tiles + (column_tile ^ (pixel % all_column_tiles))) * 8;
}

/* Starts to load the dy of a tile; pixels beyond the image and lanes beyond the channels are zeros. */
template <int all_column_tiles>
static __device__ __forceinline__ void load_dy(uint16_t *to, const conv2d_lines_args &args,
                                               const conv2d_lines_plane &plane, const lines_tile &tile,
                                               int32_t first_column, bool vector) {
    const int32_t pitch = (int32_t)plane.out_pitch;
    const uint16_t *first =
        (const uint16_t *)plane.y +
        ((tile.sample * args.out_size[0] + tile.row) * args.out_size[1] + tile.column) * plane.out_pitch;
    for (int32_t i = (int32_t)threadIdx.x; i < LINES_WEIGHT_PIXELS * all_column_tiles; i += LINES_THREADS) {
        const int32_t pixel = i / all_column_tiles, column_tile = i % all_column_tiles;
        const int32_t tile_row = lines_divide(pixel, args.columns_inverse), column = first_column + 8 * column_tile;
        const int32_t p = tile.row + tile_row, q = tile.column + pixel - tile_row * args.tile[1];
        const bool inside = tile_row < args.tile[0] && p < args.out_size[0] && q < args.out_size[1];
        const uint16_t *from = inside ? first + (tile_row * args.out_size[1] + q - tile.column) * pitch + column
                                      : (const uint16_t *)plane.y;
        uint16_t *cell = to + dy_at<all_column_tiles>(pixel, column_tile);
        if (vector) {
            copy_async(cell, from, inside && column < plane.out_channels);
            continue;
        }
        for (int j = 0; j < 8; j++) cell[j] = inside && column + j < plane.out_channels ? from[j] : (uint16_t)0;
    }
}

/* The words of a lane in one row tile: two pixels of one tap each, or of a raw plane (tap[0] and tap[1]: the first and
 * the second pixel of a pair of taps) two taps of one pixel each, which change halves. */
template <bool raw>
static __device__ __forceinline__ void take_pixels(uint32_t (&to)[4], const int32_t (&tap)[2], const unsigned char *low,
                                                   const unsigned char *high) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
        to[half] = *(const uint32_t *)(low + tap[half]);
        to[2 + half] = *(const uint32_t *)(high + tap[half]);
    }
#pragma unroll
    for (int half = 0; raw && half < 4; half += 2) {
        const uint32_t first = to[half], second = to[half + 1];
        to[half] = (first & 0xFFFFu) | second << 16;
        to[half + 1] = first >> 16 | (second & 0xFFFF0000u);
    }
}

/* The products of 16 pixels. */
template <bool raw, class number, int row_tiles, int column_tiles, int all_column_tiles>
static __device__ __forceinline__ void add_pixels(float (&sum)[row_tiles][column_tiles][4],
                                                  const int32_t (&tap)[row_tiles][2], const lines_share &share,
                                                  const int32_t *pixels, const unsigned char *x, const uint16_t *dy,
                                                  int32_t step) {
    const int lane = (int)threadIdx.x % 32;
    const uint32_t ones = one_pair(number());
    uint32_t b[column_tiles][2];
#pragma unroll
    for (int j = 0; j < column_tiles; j += 2) {
        const int32_t pixel = 16 * step + lane % 16, last = column_tiles > 1 ? lane / 16 : 0;
        uint32_t words[4];
        const uint16_t *from = dy + dy_at<all_column_tiles>(pixel, share.column * column_tiles + j + last);
        matrix_load_x4_transposed(words, shared_address(from));
        b[j][0] = words[0];
        b[j][1] = words[1];
        if (column_tiles > 1) {
            b[(j + 1) % column_tiles][0] = words[2];
            b[(j + 1) % column_tiles][1] = words[3];
        }
    }
    const unsigned char *low = x + pixels[8 * step + lane % 4], *high = x + pixels[8 * step + 4 + lane % 4];
#pragma unroll
    for (int i = 0; i < row_tiles; i++) {
        if (i >= share.row_tiles) break;
        uint32_t a[4];
        take_pixels<raw>(a, tap[i], low, high);
        if (!raw && i == share.bias_tile) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                if (lane / 4 + 8 * half == share.bias_row) a[half] = a[2 + half] = ones;
            }
        }
#pragma unroll
        for (int j = 0; j < column_tiles; j++) mma(sum[i][j], a, b[j], number());
    }
}

/* Adds the sums of the warps that share an output but not its pixels, in order: the first of them gets the sum. */
template <int row_tiles, int column_tiles>
static __device__ __forceinline__ void add_warps(float (&sum)[row_tiles][column_tiles][4], const lines_share &share,
                                                 float *shared) {
    const int32_t groups = share.rows * share.columns, group = (int32_t)threadIdx.x / 32 % groups;
    float *mine = shared + group * (row_tiles * column_tiles * 4 * 32) + threadIdx.x % 32;
    for (int32_t pixel = 1; pixel < share.pixels; pixel++) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < row_tiles * column_tiles * 4; i++) {
            if (share.pixel == pixel) mine[i * 32] = sum[i / 4 / column_tiles][i / 4 % column_tiles][i % 4];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < row_tiles * column_tiles * 4; i++) {
            if (share.pixel == 0) sum[i / 4 / column_tiles][i / 4 % column_tiles][i % 4] += mine[i * 32];
        }
    }
}

template <bool raw, class number, int row_tiles, int column_tiles, int all_column_tiles>
static __device__ __forceinline__ void conv2d_bwd_weight_lines(const conv2d_lines_args &args, lines_shared *shared) {
    static_assert(4 * row_tiles * column_tiles * 512 <= sizeof(shared->dy) + sizeof(shared->x), "room to add warps");
    const int i = schedule_plane(args.first_block, args.planes);
    const conv2d_lines_plane &plane = args.plane[i];
    const int32_t column_blocks = (plane.out_channels + 8 * all_column_tiles - 1) / (8 * all_column_tiles);
    const int32_t block = (int32_t)blockIdx.x - args.first_block[i], part = block / column_blocks;
    const int32_t first_column = block % column_blocks * 8 * all_column_tiles;
    const int32_t begin = part * args.block_tiles;
    const int32_t end = begin + args.block_tiles < args.all_tiles ? begin + args.block_tiles : args.all_tiles;
    const bool vector =
        ((uint32_t)((uintptr_t)plane.y / 2) | (uint32_t)plane.out_pitch | (uint32_t)plane.out_channels) % 8 == 0;
    const int lane = (int)threadIdx.x % 32;
    const lines_share share = find_share<row_tiles, column_tiles, all_column_tiles>(
        plane.steps, args.bias ? args.filter[0] * args.filter[1] * plane.in_channels : -1);
    const auto place = [&plane, &args](int32_t column, int32_t c) {
        const int32_t at = lines_divide(column, args.stride_inverse);
        return ((column - at * args.stride[1]) * plane.in_channels + c) * plane.lane_pitch + at;
    };

    int32_t tap[row_tiles][2];
    float sum[row_tiles][column_tiles][4] = {};
#pragma unroll
    for (int j = 0; j < 2 * row_tiles; j++) {
        const int32_t m = 16 * (share.row * share.row_tiles + j / 2) + 8 * (j % 2) + lane / 4;
        tap[j / 2][j % 2] = find_tap(args, plane, m);
        if (!raw) continue;
        const int32_t pair = 8 * (share.row * share.row_tiles + j / 2) + lane / 4;
        tap[j / 2][j % 2] = find_pair(args, plane, pair) + j % 2 * 2 * args.stride[1] * plane.in_channels;
    }
    find_pixels(shared->pixels, args, plane);
    const int32_t most_steps = LINES_WEIGHT_PIXELS / 16,
                  steps = share.pixel < share.pixels ? most_steps / share.pixels : 0;
    lines_tile next = begin < end ? lines_find(args, plane, begin) : lines_tile();
    if (begin < end && !next.blanked) {
        load_dy<all_column_tiles>(shared->dy[0], args, plane, next, first_column, vector);
        if (raw) {
            lines_copy(shared->x[0], args, plane, next);
        } else {
            lines_load<LINES_AHEAD>(shared->x[0], args, plane, next, place);
        }
    }
    copy_async_commit();
    for (int32_t at = begin; at < end; at++) {
        const bool blanked = next.blanked, is_next = at + 1 < end;
        const int now = (at - begin) % 2;
        copy_async_wait<0>();
        __syncthreads();
        if (is_next) next = lines_find(args, plane, at + 1);
        if (is_next && !next.blanked)
            load_dy<all_column_tiles>(shared->dy[1 - now], args, plane, next, first_column, vector);
        if (is_next && !next.blanked && raw) lines_copy(shared->x[1 - now], args, plane, next);
        copy_async_commit();
        if (raw) {
#pragma unroll 1
            for (int32_t step = 0; step < (blanked ? 0 : steps); step++) {
                add_pixels<true, number, row_tiles, column_tiles, all_column_tiles>(
                    sum, tap, share, shared->pixels, (const unsigned char *)shared->x[now], shared->dy[now],
                    step * share.pixels + share.pixel);
            }
            continue;
        }
        lines_overlap<LINES_AHEAD>(shared->x[1 - now], args, plane, next, is_next, place, blanked ? 0 : steps,
                                   [&](int32_t first_step, int32_t last_step) {
                                       for (int32_t step = first_step; step < last_step; step++) {
                                           add_pixels<false, number, row_tiles, column_tiles, all_column_tiles>(
                                               sum, tap, share, shared->pixels, (const unsigned char *)shared->x[now],
                                               shared->dy[now], step * share.pixels + share.pixel);
                                       }
                                   });
    }
    copy_async_wait<0>();

    add_warps(sum, share, (float *)shared);
    if (share.pixel != 0) return;
    const int32_t columns = args.filter[0] * args.filter[1] * plane.in_channels + args.bias;
    float *partial = args.workspace + part * args.part_elements + plane.partial;
#pragma unroll
    for (int j = 0; j < row_tiles * column_tiles * 4; j++) {
        const int32_t row_tile = j / 4 / column_tiles, column_tile = share.column * column_tiles + j / 4 % column_tiles;
        const int32_t tile = share.row * share.row_tiles + row_tile, half = j % 4 / 2;
        const int32_t m = raw ? raw_column(args, plane, 8 * tile + lane / 4, half) : 16 * tile + 8 * half + lane / 4;
        const int32_t filter = first_column + 8 * column_tile + lane % 4 * 2 + j % 2;
        if (row_tile < share.row_tiles && m >= 0 && m < columns && filter < plane.out_channels)
            partial[(int64_t)filter * columns + m] = sum[row_tile][j / 4 % column_tiles][j % 4];
    }
}

ENTRY_HALVES(conv2d_bwd_weight_lines_64, (LINES_THREADS, 2), conv2d_lines_args,
             conv2d_bwd_weight_lines<false, number, 5, 4, 8>(args, (lines_shared *)shared_memory()))
ENTRY_HALVES(conv2d_bwd_weight_lines_16, (LINES_THREADS, 2), conv2d_lines_args,
             conv2d_bwd_weight_lines<false, number, 7, 2, 2>(args, (lines_shared *)shared_memory()))
ENTRY_HALVES(conv2d_bwd_weight_lines_8, (LINES_THREADS, 2), conv2d_lines_args,
             conv2d_bwd_weight_lines<false, number, 7, 1, 1>(args, (lines_shared *)shared_memory()))
ENTRY_HALVES(conv2d_bwd_weight_lines_64_raw, (LINES_THREADS, 2), conv2d_lines_args,
             conv2d_bwd_weight_lines<true, number, 5, 4, 8>(args, (lines_shared *)shared_memory()))
ENTRY_HALVES(conv2d_bwd_weight_lines_16_raw, (LINES_THREADS, 2), conv2d_lines_args,
             conv2d_bwd_weight_lines<true, number, 7, 2, 2>(args, (lines_shared *)shared_memory()))
ENTRY_HALVES(conv2d_bwd_weight_lines_8_raw, (LINES_THREADS, 2), conv2d_lines_args,
             conv2d_bwd_weight_lines<true, number, 7, 1, 1>(args, (lines_shared *)shared_memory()))
