/*
 * The part of x behind a tile of a convolution's output, in shared memory as floats, channel by channel and with its
 * padding; and which tiles a block has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_STRIPS_CUH
#define BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_STRIPS_CUH

#include "kernels/cuda/conv/few_channels/conv2d_strips.h"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/tile/padding.cuh"
#include "kernels/cuda/tile/schedule.cuh"

/* Where a tile lies: its sample and its first output row and column. */
struct strips_tile {
    int64_t sample;
    int32_t row, column;
    bool blanked;
};

static __device__ __forceinline__ strips_tile strips_find(const conv2d_strips_args &args,
                                                          const conv2d_strips_plane &plane, int32_t tile) {
    const int32_t line = tile / args.tiles[1], sample = line / args.tiles[0];
    strips_tile found;
    found.sample = sample;
    found.row = (line - sample * args.tiles[0]) * args.tile[0];
    found.column = (tile - line * args.tiles[1]) * args.tile[1];
    found.blanked = mask_blanks(plane.mask, sample);
    return found;
}

/* Loads x, zeros where the padding has none. A warp has lines warp, warp + warps, ... of the tile, `ahead` of them
 * under way at once, and a lane one column and channel of each. */
template <class number, bool zeros>
static __device__ __forceinline__ void strips_load_lines(float *to, const conv2d_strips_args &args,
                                                         const conv2d_strips_plane &plane, const strips_tile &tile) {
    const int ahead = 6;
    const int32_t warp = (int32_t)threadIdx.x / 32, warps = args.threads / 32, channels = plane.in_channels;
    const int32_t first_h = tile.row * args.stride[0] - args.padding[0];
    const int32_t first_w = tile.column * args.stride[1] - args.padding[1];
    const int32_t pitch = (int32_t)plane.in_pitch, line = args.size[1] * pitch, row_pitch = args.row_pitch;
    const int32_t lines = args.in_tile[0], height = args.size[0];
    const number *sample = (const number *)plane.x + tile.sample * height * line;
    for (int32_t e = (int32_t)threadIdx.x % 32; e < args.in_tile[1] * channels; e += 32) {
        const int32_t column = e / channels, c = e - column * channels;
        int32_t w = first_w + column;
        if (!zeros) w = padding_pixel(args.mode, w, args.size[1]);
        const bool inside = (uint32_t)w < (uint32_t)args.size[1];
        const int32_t from = w * pitch + c;
        float *cell = to + c * plane.channel_pitch + column;
#pragma unroll 1
        for (int32_t row = warp; row < lines; row += ahead * warps) {
            float value[ahead];
#pragma unroll
            for (int j = 0; j < ahead; j++) {
                int32_t h = first_h + row + j * warps;
                if (!zeros) h = padding_pixel(args.mode, h, height);
                const bool there = inside && (uint32_t)h < (uint32_t)height && row + j * warps < lines;
                value[j] = there ? load(sample + (h * line + from)) : 0;
            }
#pragma unroll
            for (int j = 0; j < ahead; j++) {
                if (row + j * warps < lines) cell[(row + j * warps) * row_pitch] = value[j];
            }
        }
    }
}

template <class number>
static __device__ __forceinline__ void strips_load(float *to, const conv2d_strips_args &args,
                                                   const conv2d_strips_plane &plane, const strips_tile &tile) {
    if (args.mode == BRAID_PADDING_ZEROS) {
        strips_load_lines<number, true>(to, args, plane, tile);
    } else {
        strips_load_lines<number, false>(to, args, plane, tile);
    }
}

#endif
