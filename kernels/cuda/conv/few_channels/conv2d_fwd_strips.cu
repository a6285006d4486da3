/*
 * conv2d forward, and its data gradient, for few channels on both sides, by plain multiplications: every thread makes
 * strips of 8 pixels of one column with 4 or 8 output channels. What it reads of x for one tap column serves all taps
 * of that column (`rows` of them at a time), and a weight serves all pixels. Neighbouring lanes have neighbouring
 * columns. Sums are float, over (c, s, r).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/tile/pack.cuh"
#include "kernels/cuda/ptx/shared.cuh"
#include "kernels/cuda/conv/few_channels/strips.cuh"

/* The weights as [group][c][s][r][output channel of the group], zeros behind the last channel. */
template <class number, int width>
static __device__ __forceinline__ void load_weights(float *to, const conv2d_strips_args &args,
                                                    const conv2d_strips_plane &plane) {
    const int32_t taps = args.filter[0] * args.filter[1], length = plane.in_channels * taps;
    const number *weights = (const number *)plane.w;
    for (int32_t i = (int32_t)threadIdx.x; i < plane.groups * length * width; i += args.threads) {
        int32_t rest = i / width;
        const int32_t group = rest / length, k = group * width + i % width;
        rest -= group * length;
        const int32_t c = rest / taps;
        rest -= c * taps;
        const int32_t s = rest / args.filter[0], r = rest - s * args.filter[0];
        const int64_t from = args.turned
                                 ? ((int64_t)c * taps + taps - 1 - r * args.filter[1] - s) * plane.out_channels + k
                                 : ((int64_t)k * taps + r * args.filter[1] + s) * plane.in_channels + c;
        to[i] = k < plane.out_channels ? load(weights + from) : 0;
    }
}

/* The sums of one strip. `rows` filter rows are taken at a time: all rows of x that they read are in registers, which
 * wants a stride and a dilation of 1 where there is more than one. */
template <int rows, int width>
static __device__ __forceinline__ void add_terms(float (&sum)[STRIPS_PIXELS][width], const conv2d_strips_args &args,
                                                 const conv2d_strips_plane &plane, const float *x, const float *w) {
    const int lines = STRIPS_PIXELS + rows - 1;
    const int32_t pitch = args.row_pitch, step = rows > 1 ? pitch : args.stride[0] * pitch;
    for (int32_t c = 0; c < plane.in_channels; c++, x += plane.channel_pitch) {
        for (int32_t s = 0; s < args.filter[1]; s++) {
            for (int32_t r = 0; r < args.filter[0]; r += rows) {
                const float *from = x + r * args.dilation[0] * pitch + s * args.dilation[1];
                float value[lines];
#pragma unroll
                for (int j = 0; j < lines; j++) value[j] = from[j * step];
#pragma unroll
                for (int t = 0; t < rows; t++, w += width) {
                    const pack<f32, width> weight = *(const pack<f32, width> *)w;
#pragma unroll
                    for (int j = 0; j < STRIPS_PIXELS; j++) {
#pragma unroll
                        for (int k = 0; k < width; k++) sum[j][k] += value[j + t] * weight.at[k].value;
                    }
                }
            }
        }
    }
}

/* Writes a strip: zeros behind the last channel, nothing behind the pitch. */
template <class number, int width>
static __device__ __forceinline__ void write_strip(const conv2d_strips_args &args, const conv2d_strips_plane &plane,
                                                   const strips_tile &tile, int32_t row, int32_t column, int32_t first,
                                                   bool vector, const float (&sum)[STRIPS_PIXELS][width]) {
    const int32_t p = tile.row + row, q = tile.column + column;
    if (q >= args.out_size[1]) return;
    number *to =
        (number *)plane.y + ((tile.sample * args.out_size[0] + p) * args.out_size[1] + q) * plane.out_pitch + first;
    const int64_t line = args.out_size[1] * plane.out_pitch;
    const number *bias = tile.blanked ? nullptr : (const number *)plane.bias;
    float add[width];
#pragma unroll
    for (int k = 0; k < width; k++) add[k] = bias && first + k < plane.out_channels ? load(bias + first + k) : 0;
#pragma unroll
    for (int j = 0; j < STRIPS_PIXELS; j++, to += line) {
        if (p + j >= args.out_size[0]) break;
        float value[width];
#pragma unroll
        for (int k = 0; k < width; k++) value[k] = sum[j][k] + add[k];
        if (vector) {
            pack_write(to, value, plane.out_channels - first);
            continue;
        }
#pragma unroll
        for (int k = 0; k < width; k++) {
            if (first + k < plane.out_pitch) store(to + k, first + k < plane.out_channels ? value[k] : 0);
        }
    }
}

template <class number, int rows, int width>
static __device__ __forceinline__ void conv2d_fwd_strips(const conv2d_strips_args &args, float *shared) {
    const int i = schedule_plane(args.first_block, args.planes);
    const conv2d_strips_plane &plane = args.plane[i];
    const int32_t begin = ((int32_t)blockIdx.x - args.first_block[i]) * args.block_tiles;
    const int32_t end = begin + args.block_tiles < args.all_tiles ? begin + args.block_tiles : args.all_tiles;
    const int32_t length = plane.in_channels * args.filter[0] * args.filter[1] * width;
    const int32_t strips = args.tile[0] / STRIPS_PIXELS * args.tile[1];
    const bool vector = plane.out_pitch % width == 0 && (uintptr_t)plane.y % sizeof(pack<number, width>) == 0;
    float *weights = shared + args.first_y;

    load_weights<number, width>(weights, args, plane);
    for (int32_t at = begin; at < end; at++) {
        const strips_tile tile = strips_find(args, plane, at);
        if (!tile.blanked) strips_load<number>(shared, args, plane, tile);
        __syncthreads();
        for (int32_t item = (int32_t)threadIdx.x; item < strips * plane.groups; item += args.threads) {
            const int32_t group = item / strips, strip = item - group * strips, line = strip / args.tile[1];
            const int32_t row = line * STRIPS_PIXELS, column = strip - line * args.tile[1];
            float sum[STRIPS_PIXELS][width] = {};
            if (!tile.blanked) {
                add_terms<rows, width>(sum, args, plane,
                                       shared + row * args.stride[0] * args.row_pitch + column * args.stride[1],
                                       weights + group * length);
            }
            write_strip<number, width>(args, plane, tile, row, column, group * width, vector, sum);
        }
        __syncthreads();
    }
}

ENTRY_FORMATS(conv2d_fwd_strips_7x8, (STRIPS_THREADS, 2), conv2d_strips_args,
              conv2d_fwd_strips<number, STRIPS_ROWS, 8>(args, (float *)shared_memory()))
ENTRY_FORMATS(conv2d_fwd_strips_7x4, (STRIPS_THREADS, 2), conv2d_strips_args,
              conv2d_fwd_strips<number, STRIPS_ROWS, 4>(args, (float *)shared_memory()))
ENTRY_FORMATS(conv2d_fwd_strips_1x8, (STRIPS_THREADS, 2), conv2d_strips_args,
              conv2d_fwd_strips<number, 1, 8>(args, (float *)shared_memory()))
ENTRY_FORMATS(conv2d_fwd_strips_1x4, (STRIPS_THREADS, 2), conv2d_strips_args,
              conv2d_fwd_strips<number, 1, 4>(args, (float *)shared_memory()))
