/*
 * The part of x behind a tile of a convolution's output, in shared memory as floats, channel by channel and with its
 * padding; and which tiles a block has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_STRIPS_CUH
#define BRAID_KERNELS_CUDA_TILE_STRIPS_CUH

#include "kernels/cuda/conv2d_strips.h"
#include "kernels/cuda/tile/number.cuh"
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

/* Loads x, zeros where the padding has none. A warp has lines warp, warp + warps, ... of the tile, `ahead` of them under
 * way at once, and a lane one column and channel of each. */
template <class number>
static __device__ __forceinline__ void strips_load(float *to, const conv2d_strips_args &args,
                                                   const conv2d_strips_plane &plane, const strips_tile &tile) {
    const int ahead = 4;
    const int32_t warp = (int32_t)threadIdx.x / 32, warps = args.threads / 32, channels = plane.in_channels;
    const int32_t first_h = tile.row * args.stride[0] - args.padding[0];
    const int32_t first_w = tile.column * args.stride[1] - args.padding[1];
    const int64_t line = (int64_t)args.size[1] * plane.in_pitch;
    const number *sample = (const number *)plane.x + tile.sample * args.size[0] * line;
    for (int32_t e = (int32_t)threadIdx.x % 32; e < args.in_tile[1] * channels; e += 32) {
        const int32_t column = e / channels, c = e - column * channels;
        const int32_t w = padding_pixel(args.mode, first_w + column, args.size[1]);
        const bool inside = (uint32_t)w < (uint32_t)args.size[1];
        const number *from = sample + (inside ? w * plane.in_pitch : 0) + c;
        float *cell = to + c * plane.channel_pitch + column;
        for (int32_t row = warp; row < args.in_tile[0]; row += ahead * warps) {
            float value[ahead];
#pragma unroll
            for (int j = 0; j < ahead; j++) {
                const int32_t h = padding_pixel(args.mode, first_h + row + j * warps, args.size[0]);
                const bool there = inside && (uint32_t)h < (uint32_t)args.size[0] && row + j * warps < args.in_tile[0];
                value[j] = there ? load(from + h * line) : 0;
            }
#pragma unroll
            for (int j = 0; j < ahead; j++) {
                if (row + j * warps < args.in_tile[0]) cell[(row + j * warps) * args.row_pitch] = value[j];
            }
        }
    }
}

#endif
