/*
 * conv2d weight gradient on the tensor cores of sm_80 and newer, first stage: an implicit matrix product per stream,
 * group and part of the output pixels. Rows are output channels, columns are (r, s, c) as the weights lie in memory
 * and then, where there is a bias, one of ones; the reduction runs over the pixels of the part. Each part writes its
 * own float sums; weight_sum adds the parts in order. Zero padding only.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/conv2d.h"
#include "kernels/cuda/conv/mma/mma_tile.cuh"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/tile/schedule.cuh"

/* Both operands: pixels tid / pieces and half a stage more, a piece of rows of one and of columns of the other. A
 * column's tap is the same for all pixels. */
template <class number> struct weight_loader {
    static const int depth = mma_numbers<number>::depth, pieces = MMA_ROWS / mma_numbers<number>::piece;
    const conv2d_args &args;
    const conv2d_plane &plane;
    const number *dy, *x; /* of the group, and of this thread's rows and columns */
    bool row_inside, column_inside;
    uint32_t one; /* in place of x: the column of ones begins here; 0: it does not */
    int32_t tap_h, tap_w;
    int64_t pixel[2], end;
    int64_t sample[2];
    int32_t p[2], q[2];

    __device__ __forceinline__ weight_loader(const conv2d_args &all, const conv2d_plane &of) : args(all), plane(of) {}

    __device__ __forceinline__ void load(number *left, number *right) {
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const int term = (int)threadIdx.x / pieces + depth / 2 * j, piece = (int)threadIdx.x % pieces;
            const bool live = pixel[j] < end && !mask_blanks(plane.mask, sample[j]);
            const bool left_inside = live && row_inside;
            copy_async(left + across_at<number, MMA_ROWS>(term, piece),
                       left_inside ? (const void *)(dy + pixel[j] * plane.out_pitch) : plane.y, left_inside);
            const int32_t h = p[j] * args.stride[0] + tap_h, w = q[j] * args.stride[1] + tap_w;
            const bool inside = live && column_inside && h >= 0 && h < args.size[0] && w >= 0 && w < args.size[1];
            number *cell = right + across_at<number, MMA_COLUMNS>(term, piece);
            if (one) {
                const uint32_t words[4] = {one, 0, 0, 0};
                for (int k = 0; k < 4; k++) ((uint32_t *)cell)[k] = words[k];
            } else {
                copy_async(
                    cell,
                    inside ? (const void *)(x + ((sample[j] * args.size[0] + h) * args.size[1] + w) * plane.in_pitch)
                           : plane.x,
                    inside);
            }
            advance(j);
        }
    }
    __device__ __forceinline__ void advance(int j) {
        pixel[j] += depth;
        q[j] += depth;
        while (q[j] >= args.out_size[1]) {
            q[j] -= args.out_size[1];
            if (++p[j] == args.out_size[0]) {
                p[j] = 0;
                sample[j]++;
            }
        }
    }
};

template <class number> static __device__ __forceinline__ void conv2d_bwd_weight_mma(const conv2d_args &args) {
    typedef mma_warp_tile<MMA_COLUMNS> warp;
    typedef weight_loader<number> loader;
    const int i = schedule_plane(args.first_block, args.planes);
    const conv2d_plane &plane = args.plane[i];
    const int32_t channels = plane.in_channels / args.groups, filters = plane.out_channels / args.groups;
    const int32_t length = args.filter[0] * args.filter[1] * channels, columns = length + args.bias;
    const int32_t row_tiles = (filters + MMA_ROWS - 1) / MMA_ROWS;
    const int32_t column_tiles = (columns + MMA_COLUMNS - 1) / MMA_COLUMNS;
    int32_t tile = (int32_t)blockIdx.x - args.first_block[i];
    const int32_t first_row = tile % row_tiles * MMA_ROWS;
    tile /= row_tiles;
    const int32_t first_column = tile % column_tiles * MMA_COLUMNS;
    tile /= column_tiles;
    const int32_t group = tile % args.groups, part = tile / args.groups;
    const int64_t pixels = args.batch * args.out_size[0] * args.out_size[1];
    const int64_t first_pixel = part * args.part_pixels;
    const int64_t end = first_pixel + args.part_pixels < pixels ? first_pixel + args.part_pixels : pixels;

    const int piece = mma_numbers<number>::piece, depth = loader::depth, pieces = loader::pieces;
    const int32_t row = first_row + (int32_t)threadIdx.x % pieces * piece;
    const int32_t column = first_column + (int32_t)threadIdx.x % pieces * piece;
    const int32_t tap = column / channels, c = column - tap * channels;
    const int32_t r = tap / args.filter[1], s = tap - r * args.filter[1];
    loader from(args, plane);
    from.dy = (const number *)plane.y + group * filters + row;
    from.x = (const number *)plane.x + group * channels + c;
    from.row_inside = row < filters;
    from.column_inside = column < length;
    from.one = args.bias && column == length ? one_word(number()) : 0;
    from.tap_h = r * args.dilation[0] - args.padding[0];
    from.tap_w = s * args.dilation[1] - args.padding[1];
    from.end = end;
    for (int j = 0; j < 2; j++) {
        from.pixel[j] = first_pixel + (int)threadIdx.x / pieces + depth / 2 * j;
        const int64_t line = divide(from.pixel[j], args.out_size[1]);
        from.sample[j] = divide(line, args.out_size[0]);
        from.p[j] = (int32_t)(line - from.sample[j] * args.out_size[0]);
        from.q[j] = (int32_t)(from.pixel[j] - line * args.out_size[1]);
    }

    mma_sums<MMA_COLUMNS> sums = {};
    const int32_t stages = end > first_pixel ? (int32_t)((end - first_pixel + depth - 1) / depth) : 0;
    mma_run<number, false, false>(&sums, (number *)shared_memory(), stages, &from);
    float *partial = args.workspace + part * args.part_elements + plane.partial;
    const int lane = (int)threadIdx.x % 32;
#pragma unroll
    for (int m = 0; m < 2 * warp::row_tiles; m++) {
#pragma unroll
        for (int n = 0; n < 2 * warp::column_tiles; n++) {
            const int32_t filter = first_row + warp::row() + 8 * m + lane / 4;
            const int32_t at = first_column + warp::column() + n / 2 * 8 + lane % 4 * 2 + n % 2;
            if (filter < filters && at < columns)
                partial[(int64_t)(group * filters + filter) * columns + at] = sums.at[m / 2][n / 2][m % 2 * 2 + n % 2];
        }
    }
}

ENTRY_FORMATS(conv2d_bwd_weight_mma, (MMA_THREADS, 2), conv2d_args, conv2d_bwd_weight_mma<number>(args))
ENTRY_OF(conv2d_bwd_weight_mma, tf32, tf32, (MMA_THREADS, 2), conv2d_args, conv2d_bwd_weight_mma<number>(args))
