/*
 * The part of x behind a tile of a convolution's output, in shared memory, line by line and with its padding; and
 * which tiles a block has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_LINES_CUH
#define BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_LINES_CUH

#include "kernels/cuda/conv/few_channels/conv2d_lines.h"
#include "kernels/cuda/ptx/mma.cuh"
#include "kernels/cuda/ptx/number.cuh"
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

/* The x of a tile on its way to shared memory. A warp has lines warp, warp + 8, ... and a lane one element of them, the
 * same in all lines of a batch: `ahead` of them are in its registers. A column and channel of a line go to
 * where(column, channel), and to one element earlier in the shifted copy. */
template <int ahead> struct lines_batch {
    uint16_t value[ahead];

    /* Batches of one element of every lane. */
    static __device__ __forceinline__ int32_t rounds(const conv2d_lines_args &args) {
        return (args.in_tile[0] + ahead * LINES_WARPS - 1) / (ahead * LINES_WARPS);
    }
    static __device__ __forceinline__ int32_t count(const conv2d_lines_args &args, const conv2d_lines_plane &plane) {
        return (args.in_tile[1] * plane.in_channels + 31) / 32 * rounds(args);
    }

    template <bool zeros>
    __device__ __forceinline__ void fetch_as(const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                             const lines_tile &tile, int32_t part, int32_t round) {
        const int32_t e = part * 32 + (int32_t)threadIdx.x % 32;
        const int32_t column = lines_divide(e, plane.channels_inverse), c = e - column * plane.in_channels;
        const int32_t first_row = round * ahead * LINES_WARPS + (int32_t)threadIdx.x / 32;
        const int32_t first_h = tile.row * args.stride[0] - args.padding[0] + first_row;
        const uint32_t height = (uint32_t)args.size[0];
        int32_t w = tile.column * args.stride[1] - args.padding[1] + column;
        if (!zeros) w = padding_pixel(args.mode, w, args.size[1]);
        const bool inside = (uint32_t)w < (uint32_t)args.size[1] && column < args.in_tile[1];
        const int64_t line = (int64_t)args.size[1] * plane.in_pitch;
        const uint16_t *from = (const uint16_t *)plane.x + tile.sample * args.size[0] * line + w * plane.in_pitch + c;
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            int32_t h = first_h + j * LINES_WARPS;
            if (!zeros) h = padding_pixel(args.mode, h, args.size[0]);
            const bool there = inside && (uint32_t)h < height && first_row + j * LINES_WARPS < args.in_tile[0];
            value[j] = there ? from[h * line] : (uint16_t)0;
        }
    }

    __device__ __forceinline__ void fetch(const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                          const lines_tile &tile, int32_t part, int32_t round) {
        if (args.mode == BRAID_PADDING_ZEROS) {
            fetch_as<true>(args, plane, tile, part, round);
        } else {
            fetch_as<false>(args, plane, tile, part, round);
        }
    }

    template <class place>
    __device__ __forceinline__ void put(uint16_t *to, const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                        int32_t part, int32_t round, const place &where) const {
        const int32_t e = part * 32 + (int32_t)threadIdx.x % 32;
        const int32_t column = lines_divide(e, plane.channels_inverse), c = e - column * plane.in_channels;
        const int32_t first_row = round * ahead * LINES_WARPS + (int32_t)threadIdx.x / 32;
        const int32_t first = first_row * plane.row_pitch + where(column, c);
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            const int32_t cell = first + j * LINES_WARPS * plane.row_pitch;
            if (column >= args.in_tile[1] || first_row + j * LINES_WARPS >= args.in_tile[0]) break;
            to[cell] = value[j];
            if (plane.copy && cell > 0) to[cell + plane.copy - 1] = value[j];
        }
    }
};

/* Starts to copy all of the x of a tile of a `raw` plane; zeros beyond the image. Lines of the image begin and end at
 * multiples of 16 bytes, so none of these pieces lies across its edge. */
static __device__ __forceinline__ void lines_copy(uint16_t *to, const conv2d_lines_args &args,
                                                  const conv2d_lines_plane &plane, const lines_tile &tile) {
    const int32_t pieces = plane.row_pitch / 8, length = args.size[1] * plane.in_channels;
    const int32_t first = (tile.column * args.stride[1] - args.padding[1]) * plane.in_channels - plane.shift;
    const int32_t first_h = tile.row * args.stride[0] - args.padding[0];
    const uint16_t *sample = (const uint16_t *)plane.x + tile.sample * args.size[0] * length;
    for (int32_t i = (int32_t)threadIdx.x; i < pieces * args.in_tile[0]; i += LINES_THREADS) {
        const int32_t row = lines_divide(i, plane.pieces_inverse), h = first_h + row;
        const int32_t e = first + 8 * (i - row * pieces);
        const bool inside = (uint32_t)h < (uint32_t)args.size[0] && (uint32_t)e < (uint32_t)length;
        copy_async(to + 8 * i, inside ? sample + (int64_t)h * length + e : (const uint16_t *)plane.x, inside);
    }
}

/* The pairs in one row of the filter, and the first term of pair j of them; terms below 0 do not exist. */
static __device__ __forceinline__ int32_t lines_pairs(const conv2d_lines_args &args, const conv2d_lines_plane &plane) {
    return (args.filter[1] * plane.in_channels + plane.shift % 2 + 1) / 2;
}
static __device__ __forceinline__ int32_t lines_term(const conv2d_lines_plane &plane, int32_t j) {
    return 2 * j - plane.shift % 2;
}

/* While the next tile's x comes, computes `steps` steps of this one, some under each batch. work(begin, end) does steps
 * [begin, end). */
template <int ahead, class place, class worker>
static __device__ __forceinline__ void lines_overlap(uint16_t *to, const conv2d_lines_args &args,
                                                     const conv2d_lines_plane &plane, const lines_tile &next,
                                                     bool is_next, const place &where, int32_t steps,
                                                     const worker &work) {
    const int32_t batches = is_next && !next.blanked ? lines_batch<ahead>::count(args, plane) : 0;
    const int32_t rounds = lines_batch<ahead>::rounds(args), share = (steps + batches) / (batches + 1);
    int32_t done = 0, part = 0, round = 0;
    for (int32_t batch = 0; batch < batches; batch++) {
        lines_batch<ahead> x;
        x.fetch(args, plane, next, part, round);
        const int32_t end = done + share < steps ? done + share : steps;
        work(done, end);
        done = end;
        x.put(to, args, plane, part, round, where);
        if (++round == rounds) {
            round = 0;
            part++;
        }
    }
    work(done, steps);
}

/* Loads all of the x of a tile. */
template <int ahead, class place>
static __device__ __forceinline__ void lines_load(uint16_t *to, const conv2d_lines_args &args,
                                                  const conv2d_lines_plane &plane, const lines_tile &tile,
                                                  const place &where) {
    lines_overlap<ahead>(to, args, plane, tile, true, where, 0, [](int32_t, int32_t) {});
}

#endif
