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

/* a / by for the lines_inverse of `by`: exact where a * by is below 2^32. */
static __device__ __forceinline__ int32_t lines_divide(int32_t a, uint32_t inverse) {
    return inverse ? (int32_t)(((uint64_t)(uint32_t)a * inverse) >> 32) : a;
}

template <bool zeros, int ahead, class place>
static __device__ __forceinline__ void lines_load_as(uint16_t *to, const conv2d_lines_args &args,
                                                     const conv2d_lines_plane &plane, const lines_tile &tile,
                                                     const place &where) {
    const uint16_t *sample = (const uint16_t *)plane.x + tile.sample * args.size[0] * args.size[1] * plane.in_pitch;
    const int32_t pitch = (int32_t)plane.in_pitch;
    const int64_t line_elements = (int64_t)args.size[1] * pitch;
    const int32_t first_h = tile.row * args.stride[0] - args.padding[0];
    const int32_t first_w = tile.column * args.stride[1] - args.padding[1];
    const int32_t elements = args.in_tile[1] * plane.in_channels, all = args.in_tile[0] * elements;
    for (int32_t begin = 0; begin < all; begin += ahead * LINES_THREADS) {
        uint16_t value[ahead];
        int32_t cell[ahead];
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            if (begin + j * LINES_THREADS >= all) break;
            const int32_t at = begin + j * LINES_THREADS + (int32_t)threadIdx.x;
            const int32_t row = lines_divide(at, plane.elements_inverse), e = at - row * elements;
            const int32_t column = lines_divide(e, plane.channels_inverse), c = e - column * plane.in_channels;
            int32_t h = first_h + row, w = first_w + column;
            if (!zeros) h = padding_pixel(args.mode, h, args.size[0]);
            if (!zeros) w = padding_pixel(args.mode, w, args.size[1]);
            const bool inside = at < all && h >= 0 && h < args.size[0] && w >= 0 && w < args.size[1];
            value[j] = inside ? sample[h * line_elements + w * pitch + c] : (uint16_t)0;
            cell[j] = row * plane.row_pitch + where(column, c);
        }
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            if (begin + j * LINES_THREADS + (int32_t)threadIdx.x >= all) break;
            to[cell[j]] = value[j];
            if (plane.copy && cell[j] > 0) to[cell[j] + plane.copy - 1] = value[j];
        }
    }
}

/* Loads the x of a tile. A column and channel of a line go to where(column, channel), and to one element earlier in the
 * shifted copy. A thread has `ahead` elements under way. */
template <int ahead, class place>
static __device__ __forceinline__ void lines_load(uint16_t *to, const conv2d_lines_args &args,
                                                  const conv2d_lines_plane &plane, const lines_tile &tile,
                                                  const place &where) {
    if (args.mode == BRAID_PADDING_ZEROS) {
        lines_load_as<true, ahead>(to, args, plane, tile, where);
    } else {
        lines_load_as<false, ahead>(to, args, plane, tile, where);
    }
}

#endif
