/*
 * conv2d weight gradient for few channels on both sides, first stage, by plain multiplications: a thread has one input
 * channel and filter column, all filter rows, and 4 or 8 output channels. It walks down columns of a tile: each pixel
 * brings one new row of x, the others are in registers. The columns of a tile are cut into slices, one for each thread
 * of the same weights; their sums are added in order. Each part writes its own float sums, weight_sum adds the parts in
 * order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/tile/pack.cuh"
#include "kernels/cuda/ptx/shared.cuh"
#include "kernels/cuda/conv/few_channels/strips.cuh"

/* What a thread adds up. */
struct strips_share {
    int32_t c, s, group, slice; /* slice: of the columns; none where it is the number of slices or more */
};

static __device__ __forceinline__ strips_share find_share(const conv2d_strips_args &args,
                                                          const conv2d_strips_plane &plane) {
    strips_share share;
    int32_t rest = (int32_t)threadIdx.x;
    share.s = rest % args.filter[1];
    rest /= args.filter[1];
    share.c = rest % plane.in_channels;
    rest /= plane.in_channels;
    share.group = rest % plane.groups;
    share.slice = rest / plane.groups;
    return share;
}

/* Loads the dy of a tile as [pixel][output channel of all groups], zeros behind the last channel. Pixels beyond the
 * image are not touched: nothing reads them. */
template <class number, int width>
static __device__ __forceinline__ void load_dy(float *to, const conv2d_strips_args &args,
                                               const conv2d_strips_plane &plane, const strips_tile &tile, int32_t rows,
                                               int32_t columns) {
    const int32_t groups = plane.groups, all = columns * groups;
    const bool vector = plane.out_pitch % width == 0 && (uintptr_t)plane.y % sizeof(pack<number, width>) == 0;
    const int32_t warp = (int32_t)threadIdx.x / 32, warps = args.threads / 32;
    const number *first =
        (const number *)plane.y +
        ((tile.sample * args.out_size[0] + tile.row) * args.out_size[1] + tile.column) * plane.out_pitch;
    for (int32_t row = warp; row < rows; row += warps) {
#pragma unroll 2
        for (int32_t e = (int32_t)threadIdx.x % 32; e < all; e += 32) {
            const int32_t column = e / groups, k = (e - column * groups) * width;
            const number *from = first + (row * args.out_size[1] + column) * plane.out_pitch + k;
            float value[width];
            if (vector) {
                pack_open(value, pack_read<width>(from));
            } else {
#pragma unroll
                for (int j = 0; j < width; j++) value[j] = k + j < plane.out_channels ? load(from + j) : 0;
            }
            pack<f32, width> *cell = (pack<f32, width> *)(to + (row * args.tile[1] * groups + e) * width);
#pragma unroll
            for (int j = 0; j < width; j++) cell->at[j].value = k + j < plane.out_channels ? value[j] : 0;
        }
    }
}

/* The products of one column. `slides`: stride and dilation of the rows are 1, a row of x serves the next pixel too. */
template <bool slides, int width>
static __device__ __forceinline__ void add_column(float (&sum)[STRIPS_ROWS][width], const float *x, const float *dy,
                                                  int32_t rows, int32_t x_row, int32_t x_tap, int32_t dy_row) {
    float value[STRIPS_ROWS];
    if (slides) {
#pragma unroll
        for (int r = 0; r + 1 < STRIPS_ROWS; r++) value[r] = x[r * x_row];
    }
    for (int32_t first = 0; first < rows; first += STRIPS_ROWS) {
#pragma unroll
        for (int j = 0; j < STRIPS_ROWS; j++) {
            const int32_t row = first + j;
            if (row >= rows) break;
            if (slides) {
                value[(j + STRIPS_ROWS - 1) % STRIPS_ROWS] = x[(row + STRIPS_ROWS - 1) * x_row];
            } else {
#pragma unroll
                for (int r = 0; r < STRIPS_ROWS; r++) value[(j + r) % STRIPS_ROWS] = x[row * x_row + r * x_tap];
            }
            const pack<f32, width> gradient = *(const pack<f32, width> *)(dy + row * dy_row);
#pragma unroll
            for (int r = 0; r < STRIPS_ROWS; r++) {
#pragma unroll
                for (int k = 0; k < width; k++) sum[r][k] += value[(j + r) % STRIPS_ROWS] * gradient.at[k].value;
            }
        }
    }
}

/* Adds up the slices in order and writes the sums of this part. */
template <int width>
static __device__ __forceinline__ void write_part(const conv2d_strips_args &args, const conv2d_strips_plane &plane,
                                                  float *shared, int32_t part, const float (&sum)[STRIPS_ROWS][width]) {
    const int32_t share = args.filter[1] * plane.in_channels * plane.groups;
    const int32_t length = args.filter[0] * args.filter[1] * plane.in_channels;
    float *partial = args.workspace + part * args.part_elements + plane.partial;
    if ((int32_t)threadIdx.x < share * args.slices) {
#pragma unroll
        for (int j = 0; j < STRIPS_ROWS * width; j++)
            shared[j * args.threads + (int32_t)threadIdx.x] = sum[j / width][j % width];
    }
    __syncthreads();
    for (int32_t i = (int32_t)threadIdx.x; i < share * args.filter[0] * width; i += args.threads) {
        const int32_t j = i / share, thread = i - j * share, r = j / width;
        const int32_t s = thread % args.filter[1], rest = thread / args.filter[1];
        const int32_t c = rest % plane.in_channels, k = rest / plane.in_channels * width + j % width;
        float all = 0;
        for (int32_t slice = 0; slice < args.slices; slice++) all += shared[j * args.threads + slice * share + thread];
        if (k < plane.out_channels)
            partial[(int64_t)k * length + (r * args.filter[1] + s) * plane.in_channels + c] = all;
    }
}

template <class number, bool slides, int width>
static __device__ __forceinline__ void conv2d_bwd_weight_strips(const conv2d_strips_args &args, float *shared) {
    const int i = schedule_plane(args.first_block, args.planes);
    const conv2d_strips_plane &plane = args.plane[i];
    const int32_t part = (int32_t)blockIdx.x - args.first_block[i], begin = part * args.block_tiles;
    const int32_t end = begin + args.block_tiles < args.all_tiles ? begin + args.block_tiles : args.all_tiles;
    const int32_t all = plane.groups * width;
    const strips_share share = find_share(args, plane);
    const float *x = shared + share.c * plane.channel_pitch + share.s * args.dilation[1];
    const float *dy = shared + args.first_y + share.group * width;

    float sum[STRIPS_ROWS][width] = {};
    for (int32_t at = begin; at < end; at++) {
        const strips_tile tile = strips_find(args, plane, at);
        if (tile.blanked) continue;
        const int32_t rows = args.out_size[0] - tile.row < args.tile[0] ? args.out_size[0] - tile.row : args.tile[0];
        const int32_t columns =
            args.out_size[1] - tile.column < args.tile[1] ? args.out_size[1] - tile.column : args.tile[1];
        __syncthreads();
        strips_load<number>(shared, args, plane, tile);
        load_dy<number, width>(shared + args.first_y, args, plane, tile, rows, columns);
        __syncthreads();
        for (int32_t q = share.slice; q < columns && share.slice < args.slices; q += args.slices) {
            add_column<slides>(sum, x + q * args.stride[1], dy + q * all, rows, args.stride[0] * args.row_pitch,
                               args.dilation[0] * args.row_pitch, args.tile[1] * all);
        }
    }
    __syncthreads();
    write_part(args, plane, shared, part, sum);
}

ENTRY_FORMATS(conv2d_bwd_weight_strips_slide8, (STRIPS_THREADS, 2), conv2d_strips_args,
              conv2d_bwd_weight_strips<number, true, 8>(args, (float *)shared_memory()))
ENTRY_FORMATS(conv2d_bwd_weight_strips_slide4, (STRIPS_THREADS, 2), conv2d_strips_args,
              conv2d_bwd_weight_strips<number, true, 4>(args, (float *)shared_memory()))
ENTRY_FORMATS(conv2d_bwd_weight_strips_any8, (STRIPS_THREADS, 2), conv2d_strips_args,
              conv2d_bwd_weight_strips<number, false, 8>(args, (float *)shared_memory()))
ENTRY_FORMATS(conv2d_bwd_weight_strips_any4, (STRIPS_THREADS, 2), conv2d_strips_args,
              conv2d_bwd_weight_strips<number, false, 4>(args, (float *)shared_memory()))
