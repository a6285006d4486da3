/*
 * The part of x behind a tile of a convolution's output, in shared memory, line by line and with its padding; and
 * which tiles a block has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_LINES_CUH
#define BRAID_KERNELS_CUDA_TILE_LINES_CUH

#include "kernels/cuda/conv2d_lines.h"
#include "kernels/cuda/tile/number.cuh"
#include "kernels/cuda/tile/padding.cuh"
#include "kernels/cuda/tile/schedule.cuh"

#define LINES_WARPS (LINES_THREADS / 32)

/* Where a tile lies: its sample and its first output row and column. */
struct lines_tile {
    int64_t sample;
    int32_t row, column;
    bool blanked;
};

static __device__ __forceinline__ lines_tile lines_find(const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                                        int32_t tile) {
    const int32_t line = tile / args.tiles[1], sample = line / args.tiles[0];
    lines_tile found;
    found.sample = sample;
    found.row = (line - sample * args.tiles[0]) * args.tile[0];
    found.column = (tile - line * args.tiles[1]) * args.tile[1];
    found.blanked = mask_blanks(plane.mask, sample);
    return found;
}

/* Whole numbers below 2^10, divided by one of them. */
struct lines_divisor {
    uint32_t inverse;
    __device__ __forceinline__ explicit lines_divisor(int32_t by) {
        inverse = ((1u << 20) + (uint32_t)by - 1) / (uint32_t)by;
    }
    __device__ __forceinline__ int32_t divide(int32_t a) const { return (int32_t)(((uint32_t)a * inverse) >> 20); }
};

/* Loads the x of a tile. Column and channel e = column * channels + c of a line go to place(column, c), and to one
 * element earlier in the shifted copy. */
template <class place>
static __device__ __forceinline__ void lines_load(uint16_t *to, const conv2d_lines_args &args,
                                                  const conv2d_lines_plane &plane, const lines_tile &tile,
                                                  const place &where) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const uint16_t *sample = (const uint16_t *)plane.x + tile.sample * args.size[0] * args.size[1] * plane.in_pitch;
    const int64_t line_elements = args.size[1] * plane.in_pitch;
    const int32_t first_h = tile.row * args.stride[0] - args.padding[0];
    const int32_t first_w = tile.column * args.stride[1] - args.padding[1];
    const int32_t elements = args.in_tile[1] * plane.in_channels;
    const lines_divisor channels(plane.in_channels);
    for (int32_t e = lane; e < elements; e += 32) {
        const int32_t column = channels.divide(e), c = e - column * plane.in_channels;
        const int32_t w = padding_pixel(args.mode, first_w + column, args.size[1]);
        const uint16_t *from = sample + (int64_t)(w < 0 ? 0 : w) * plane.in_pitch + c;
        const int32_t at = where(column, c);
#pragma unroll 4
        for (int32_t row = warp; row < args.in_tile[0]; row += LINES_WARPS) {
            const int32_t h = padding_pixel(args.mode, first_h + row, args.size[0]);
            const bool inside = h >= 0 && h < args.size[0] && w >= 0 && w < args.size[1];
            const uint16_t value = inside ? from[h * line_elements] : (uint16_t)0;
            uint16_t *cell = to + row * plane.row_pitch + at;
            *cell = value;
            if (plane.copy && at > 0) cell[plane.copy - 1] = value;
        }
    }
}

#endif
