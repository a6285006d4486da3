/*
 * conv2d weight gradient, first stage: an implicit matrix product per stream, group and part of the
 * output pixels. Rows are output channels, columns are (r, s, c) as the weights lie in memory and
 * then, where there is a bias, one column of ones; the reduction runs over the pixels of the part.
 * Each part writes its own float sums; weight_sum adds the parts in order, so no atomics are needed
 * and the bits are the same in every run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/conv2d.h"
#include "kernels/cuda/tile/gemm.cuh"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/tile/padding.cuh"
#include "kernels/cuda/tile/schedule.cuh"

/* The output pixels of one slice, found once for the whole block. */
struct slice_pixels {
    int64_t out[TILE_K];          /* the pixel; -1: beyond the part, or blanked */
    int64_t in[TILE_K];           /* the first input pixel of its sample */
    int32_t h[TILE_K], w[TILE_K]; /* the input place of its first tap */
};

/* Everything a block shares. */
struct weight_slices {
    gemm_slice values;
    slice_pixels pixels;
};

static __device__ __forceinline__ void find_pixel(slice_pixels *pixels, int at, const conv2d_args &args,
                                                  const uint32_t *mask, int64_t pixel, int64_t end) {
    const int64_t row = divide(pixel, args.out_size[1]), sample = divide(row, args.out_size[0]);
    pixels->out[at] = pixel < end && !mask_blanks(mask, sample) ? pixel : -1;
    pixels->in[at] = sample * args.size[0] * args.size[1];
    pixels->h[at] = (int32_t)(row - sample * args.out_size[0]) * args.stride[0] - args.padding[0];
    pixels->w[at] = (int32_t)(pixel - row * args.out_size[1]) * args.stride[1] - args.padding[1];
}

template <class number>
static __device__ __forceinline__ void conv2d_bwd_weight(const conv2d_args &args, weight_slices *shared) {
    const int i = schedule_plane(args.first_block, args.planes);
    const conv2d_plane &plane = args.plane[i];
    const int32_t channels = plane.in_channels / args.groups, filters = plane.out_channels / args.groups;
    const int32_t length = args.filter[0] * args.filter[1] * channels, columns = length + args.bias;
    const int32_t row_tiles = (filters + TILE_M - 1) / TILE_M, column_tiles = (columns + TILE_N - 1) / TILE_N;
    int32_t tile = (int32_t)blockIdx.x - args.first_block[i];
    const int32_t first_row = tile % row_tiles * TILE_M;
    tile /= row_tiles;
    const int32_t first_column = tile % column_tiles * TILE_N;
    tile /= column_tiles;
    const int32_t group = tile % args.groups, part = tile / args.groups;
    const int64_t pixels = args.batch * args.out_size[0] * args.out_size[1];
    const int64_t first_pixel = part * args.part_pixels;
    const int64_t end = first_pixel + args.part_pixels < pixels ? first_pixel + args.part_pixels : pixels;

    const int lane = (int)threadIdx.x % TILE_N, first_k = (int)threadIdx.x / TILE_N;
    const int32_t row = first_row + lane, column = first_column + lane;
    const int32_t tap = channels ? column / channels : 0, c = column - tap * channels;
    const int32_t r = tap / args.filter[1], s = tap - r * args.filter[1];
    const number *x = (const number *)plane.x + group * channels + c,
                 *dy = (const number *)plane.y + group * filters + row;

    gemm_sums sums;
    gemm_clear(&sums);
    for (int64_t begin = first_pixel; begin < end; begin += TILE_K) {
        if (threadIdx.x < TILE_K) {
            find_pixel(&shared->pixels, (int)threadIdx.x, args, plane.mask, begin + (int)threadIdx.x, end);
        }
        __syncthreads();
        for (int j = 0; j < 4; j++) {
            const int k = first_k + 4 * j;
            const int64_t out = shared->pixels.out[k];
            float gradient = 0, value = 0;
            if (out >= 0 && row < filters) gradient = load(dy + out * plane.out_pitch);
            if (out >= 0 && column < length) {
                const int32_t h = padding_pixel(args.mode, shared->pixels.h[k] + r * args.dilation[0], args.size[0]);
                const int32_t w = padding_pixel(args.mode, shared->pixels.w[k] + s * args.dilation[1], args.size[1]);
                if (h >= 0 && w >= 0)
                    value = load(x + (shared->pixels.in[k] + (int64_t)h * args.size[1] + w) * plane.in_pitch);
            } else if (column == length) {
                value = 1; /* the bias column; a blanked pixel has no gradient */
            }
            shared->values.a[k][lane] = gradient;
            shared->values.b[k][lane] = value;
        }
        __syncthreads();
        gemm_add(&sums, &shared->values); /* the values are overwritten behind the next slice's first barrier */
    }

    float *partial = args.workspace + part * args.part_elements + plane.partial;
    for (int m = 0; m < 4; m++) {
        for (int n = 0; n < 4; n++) {
            const int32_t filter = first_row + gemm_row() + m, at = first_column + gemm_column() + n;
            if (filter < filters && at < columns)
                partial[(int64_t)(group * filters + filter) * columns + at] = sums.at[m][n];
        }
    }
}

ENTRY_FORMATS(conv2d_bwd_weight, (BLOCK_THREADS), conv2d_args, __shared__ weight_slices shared;
              conv2d_bwd_weight<number>(args, &shared))
