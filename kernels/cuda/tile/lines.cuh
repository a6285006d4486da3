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

/* The x of a tile on its way to shared memory: a thread has `ahead` elements of a batch in its registers. A column and
 * channel of a line go to where(column, channel), and to one element earlier in the shifted copy. */
template <int ahead> struct lines_batch {
    uint16_t value[ahead];

    static __device__ __forceinline__ int32_t elements(const conv2d_lines_args &args, const conv2d_lines_plane &plane) {
        return args.in_tile[0] * args.in_tile[1] * plane.in_channels;
    }
    static __device__ __forceinline__ int32_t count(const conv2d_lines_args &args, const conv2d_lines_plane &plane) {
        return (elements(args, plane) + ahead * LINES_THREADS - 1) / (ahead * LINES_THREADS);
    }

    template <bool zeros>
    __device__ __forceinline__ void fetch_as(const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                             const lines_tile &tile, int32_t batch) {
        const uint16_t *sample = (const uint16_t *)plane.x + tile.sample * args.size[0] * args.size[1] * plane.in_pitch;
        const int32_t pitch = (int32_t)plane.in_pitch, line = args.in_tile[1] * plane.in_channels;
        const int64_t line_elements = (int64_t)args.size[1] * pitch;
        const int32_t first_h = tile.row * args.stride[0] - args.padding[0];
        const int32_t first_w = tile.column * args.stride[1] - args.padding[1];
        const int32_t begin = batch * ahead * LINES_THREADS, all = elements(args, plane);
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            if (begin + j * LINES_THREADS >= all) break;
            const int32_t at = begin + j * LINES_THREADS + (int32_t)threadIdx.x;
            const int32_t row = lines_divide(at, plane.elements_inverse), e = at - row * line;
            const int32_t column = lines_divide(e, plane.channels_inverse), c = e - column * plane.in_channels;
            int32_t h = first_h + row, w = first_w + column;
            if (!zeros) h = padding_pixel(args.mode, h, args.size[0]);
            if (!zeros) w = padding_pixel(args.mode, w, args.size[1]);
            const bool inside = at < all && h >= 0 && h < args.size[0] && w >= 0 && w < args.size[1];
            value[j] = inside ? sample[h * line_elements + w * pitch + c] : (uint16_t)0;
        }
    }

    __device__ __forceinline__ void fetch(const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                          const lines_tile &tile, int32_t batch) {
        if (args.mode == BRAID_PADDING_ZEROS) {
            fetch_as<true>(args, plane, tile, batch);
        } else {
            fetch_as<false>(args, plane, tile, batch);
        }
    }

    template <class place>
    __device__ __forceinline__ void put(uint16_t *to, const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                        int32_t batch, const place &where) const {
        const int32_t line = args.in_tile[1] * plane.in_channels;
        const int32_t begin = batch * ahead * LINES_THREADS, all = elements(args, plane);
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            if (begin + j * LINES_THREADS >= all) break;
            const int32_t at = begin + j * LINES_THREADS + (int32_t)threadIdx.x;
            const int32_t row = lines_divide(at, plane.elements_inverse), e = at - row * line;
            const int32_t column = lines_divide(e, plane.channels_inverse), c = e - column * plane.in_channels;
            const int32_t cell = row * plane.row_pitch + where(column, c);
            if (at >= all) break;
            to[cell] = value[j];
            if (plane.copy && cell > 0) to[cell + plane.copy - 1] = value[j];
        }
    }
};

/* Loads all of the x of a tile. */
template <int ahead, class place>
static __device__ __forceinline__ void lines_load(uint16_t *to, const conv2d_lines_args &args,
                                                  const conv2d_lines_plane &plane, const lines_tile &tile,
                                                  const place &where) {
    for (int32_t batch = 0; batch < lines_batch<ahead>::count(args, plane); batch++) {
        lines_batch<ahead> x;
        x.fetch(args, plane, tile, batch);
        x.put(to, args, plane, batch, where);
    }
}

/* While the next tile's x comes, computes `steps` steps of this one: half of them, where there are several batches,
 * under the first. work(begin, end) does steps [begin, end). */
template <int ahead, class place, class worker>
static __device__ __forceinline__ void lines_overlap(uint16_t *to, const conv2d_lines_args &args,
                                                     const conv2d_lines_plane &plane, const lines_tile &next,
                                                     bool is_next, const place &where, int32_t steps,
                                                     const worker &work) {
    const int32_t batches = is_next && !next.blanked ? lines_batch<ahead>::count(args, plane) : 0;
    int32_t done = 0;
    for (int32_t batch = 0; batch == 0 || batch < batches; batch++) {
        lines_batch<ahead> x;
        if (batch < batches) x.fetch(args, plane, next, batch);
        const int32_t end = batch == 0 && batches > 1 ? steps / 2 : steps;
        work(done, end);
        done = end;
        if (batch < batches) x.put(to, args, plane, batch, where);
    }
}

#endif
