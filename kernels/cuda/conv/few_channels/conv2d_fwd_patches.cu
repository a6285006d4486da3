/*
 * conv2d forward, and its data gradient, for few channels on both sides and a stride of 1, on the tensor cores. Rows of
 * a product are 2 x 8 output pixels, columns are output channels, and the reduction runs over the terms (s, c) of one
 * row of the filter, 16 at a time (8 where they fit). A warp makes 8 x 8 pixels: what it reads of x for 16 terms of one
 * filter row is in registers for all rows of the filter. The x of a tile lies in shared memory as it does in global
 * memory, so two neighbours of the reduction are one word there (for every second pixel in a copy shifted by one
 * element, where a pixel may begin at an odd one). Terms that do not exist are cut off: what lies there may be an
 * infinity.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/few_channels/conv2d_patches.h"
#include "kernels/cuda/ptx/mma.cuh"
#include "kernels/cuda/ptx/mma_short.cuh"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/tile/padding.cuh"
#include "kernels/cuda/ptx/pair.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/ptx/shared.cuh"

#define PATCHES_WARPS (PATCHES_THREADS / 32)
#define PATCHES_PAIRS (PATCHES_SIZE / 2)                 /* of rows in a patch, the second one half a patch below */
#define PATCHES_LINES (PATCHES_PAIRS + PATCHES_ROWS - 1) /* pairs of lines of x behind them */

/* Where a tile lies: its sample and its first output row and column. */
struct patches_tile {
    int64_t sample;
    int32_t row, column;
    bool blanked;
};

/* Two terms of a row of the filter: where they lie from a pixel's first element, in bytes, and which of them exist. */
struct patches_pair {
    int32_t at;
    uint32_t exists;
};

static __device__ __forceinline__ patches_tile find_tile(const conv2d_patches_args &args,
                                                         const conv2d_patches_plane &plane, int32_t tile) {
    const int32_t line = tile / args.tiles[1], sample = line / args.tiles[0];
    patches_tile found;
    found.sample = sample;
    found.row = (line - sample * args.tiles[0]) * args.tile[0];
    found.column = (tile - line * args.tiles[1]) * args.tile[1];
    found.blanked = mask_blanks(plane.mask, sample);
    return found;
}

static __device__ __forceinline__ void find_pairs(patches_pair *to, const conv2d_patches_args &args,
                                                  const conv2d_patches_plane &plane) {
    const int32_t terms = args.filter[1] * plane.in_channels, all = plane.steps ? 8 * plane.steps : 4;
    for (int32_t j = (int32_t)threadIdx.x; j < all; j += PATCHES_THREADS) {
        const int32_t e = 2 * j, s = e / plane.in_channels, c = e - s * plane.in_channels;
        to[j].at = e < terms ? 2 * (s * plane.pixel_pitch + c) : 0;
        to[j].exists = e >= terms ? 0 : e + 1 < terms ? 0xFFFFFFFFu : 0xFFFFu;
    }
}

/* The weight of an output channel, a filter row and a term of that row. */
static __device__ __forceinline__ uint32_t find_weight(const conv2d_patches_args &args,
                                                       const conv2d_patches_plane &plane, int32_t k, int32_t r,
                                                       int32_t e) {
    const int32_t terms = args.filter[1] * plane.in_channels;
    if (k >= plane.out_channels || r >= args.filter[0] || e >= terms) return 0;
    const int32_t s = e / plane.in_channels, c = e - s * plane.in_channels;
    const int64_t turned =
        ((int64_t)(c * args.filter[0] + args.filter[0] - 1 - r) * args.filter[1] + args.filter[1] - 1 - s) *
            plane.out_channels +
        k;
    return ((const uint16_t *)plane.w)[args.turned ? turned : ((int64_t)k * args.filter[0] + r) * terms + e];
}

/* The operands of all products as lanes take them: [step and row of the filter][lane][column tile][2] */
template <int column_tiles>
static __device__ __forceinline__ void load_weights(uint32_t *to, const conv2d_patches_args &args,
                                                    const conv2d_patches_plane &plane) {
    const int32_t rows = args.filter[0], units = (plane.steps ? plane.steps : 1) * rows;
    for (int32_t i = (int32_t)threadIdx.x; i < units * 64 * column_tiles; i += PATCHES_THREADS) {
        const int32_t half = i % 2, column = i / 2 % column_tiles * 8 + i / (2 * column_tiles) % 32 / 4;
        const int32_t pair = i / (2 * column_tiles) % 4, unit = i / (64 * column_tiles), step = unit / rows;
        const int32_t r = unit - step * rows, e = 16 * step + 8 * half + 2 * pair;
        to[i] = find_weight(args, plane, column, r, e) | find_weight(args, plane, column, r, e + 1) << 16;
    }
}

/* Loads x, zeros where the padding has none, `width` elements at a time. A warp has lines warp, warp + warps, ...,
 * `ahead` of them under way at once. Lines and columns that no pixel of the output needs are not touched. */
template <class word, int width, bool zeros>
static __device__ __forceinline__ void load_lines(uint16_t *to, const conv2d_patches_args &args,
                                                  const conv2d_patches_plane &plane, const patches_tile &tile) {
    const int ahead = 6;
    const int32_t warp = (int32_t)threadIdx.x / 32, pieces = plane.in_channels / width, copy = plane.copy;
    const int32_t first_h = tile.row - args.padding[0], first_w = tile.column - args.padding[1];
    const int32_t pitch = (int32_t)plane.in_pitch, line = args.size[1] * pitch, row_pitch = plane.row_pitch;
    const int32_t lines = args.in_tile[0], height = args.size[0];
    const uint16_t *sample = (const uint16_t *)plane.x + tile.sample * height * line;
    for (int32_t e = (int32_t)threadIdx.x % 32; e < args.in_tile[1] * pieces; e += 32) {
        const int32_t column = e / pieces, c = (e - column * pieces) * width;
        int32_t w = first_w + column;
        if (!zeros) w = padding_pixel(args.mode, w, args.size[1]);
        const bool inside = (uint32_t)w < (uint32_t)args.size[1];
        const int32_t from = w * pitch + c;
        uint16_t *cell = to + column * plane.pixel_pitch + c;
#pragma unroll 1
        for (int32_t row = warp; row < lines; row += ahead * PATCHES_WARPS) {
            word value[ahead];
#pragma unroll
            for (int j = 0; j < ahead; j++) {
                int32_t h = first_h + row + j * PATCHES_WARPS;
                if (!zeros) h = padding_pixel(args.mode, h, height);
                value[j] = word();
                if (inside && (uint32_t)h < (uint32_t)height && row + j * PATCHES_WARPS < lines)
                    read_bytes<2 * width>(&value[j], sample + (h * line + from));
            }
#pragma unroll
            for (int j = 0; j < ahead; j++) {
                uint16_t *at = cell + (row + j * PATCHES_WARPS) * row_pitch;
                if (row + j * PATCHES_WARPS >= lines) break;
                *(word *)at = value[j];
                if (width == 1 && copy && at > to) *(word *)(at + copy - 1) = value[j];
            }
        }
    }
}

template <class word, int width>
static __device__ __forceinline__ void load_x(uint16_t *to, const conv2d_patches_args &args,
                                              const conv2d_patches_plane &plane, const patches_tile &tile) {
    if (args.mode == BRAID_PADDING_ZEROS) {
        load_lines<word, width, true>(to, args, plane, tile);
    } else {
        load_lines<word, width, false>(to, args, plane, tile);
    }
}

/* The operands of all column tiles. */
template <int column_tiles>
static __device__ __forceinline__ void take_weights(uint32_t (&to)[column_tiles][2], const uint32_t *from,
                                                    int32_t unit) {
    const uint32_t *at = from + (unit * 32 + (int32_t)threadIdx.x % 32) * 2 * column_tiles;
    if (column_tiles == 2) {
        const uint4 words = *(const uint4 *)at;
        to[0][0] = words.x;
        to[0][1] = words.y;
        to[column_tiles - 1][0] = words.z;
        to[column_tiles - 1][1] = words.w;
    } else {
        const uint2 words = *(const uint2 *)at;
        to[0][0] = words.x;
        to[0][1] = words.y;
    }
}

/* The sums of a patch over rows of 16 terms. x: its first pixel of this lane, in bytes. */
template <class number, int column_tiles>
static __device__ __forceinline__ void add_steps(float (&sum)[PATCHES_PAIRS][column_tiles][4], int32_t rows,
                                                 int32_t pitch, int32_t steps, const unsigned char *x,
                                                 const uint32_t *weights, const patches_pair *pairs) {
    const int32_t pair = (int32_t)threadIdx.x % 4;
#pragma unroll 1
    for (int32_t step = 0; step < steps; step++) {
        const patches_pair low = pairs[8 * step + pair], high = pairs[8 * step + 4 + pair];
        const unsigned char *first = x + low.at, *second = x + high.at;
        uint32_t a[PATCHES_LINES][4];
#pragma unroll
        for (int j = 0; j < PATCHES_LINES; j++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int32_t line = 2 * (j + half * PATCHES_PAIRS) * pitch;
                a[j][half] = *(const uint32_t *)(first + line) & low.exists;
                a[j][2 + half] = *(const uint32_t *)(second + line) & high.exists;
            }
        }
#pragma unroll
        for (int r = 0; r < PATCHES_ROWS; r++) {
            if (r >= rows) break;
            uint32_t b[column_tiles][2];
            take_weights<column_tiles>(b, weights, step * rows + r);
#pragma unroll
            for (int i = 0; i < PATCHES_PAIRS; i++) {
#pragma unroll
                for (int j = 0; j < column_tiles; j++) mma(sum[i][j], a[i + r], b[j], number());
            }
        }
    }
}

/* The same where a row has 8 terms at most. */
template <class number, int column_tiles>
static __device__ __forceinline__ void add_rows(float (&sum)[PATCHES_PAIRS][column_tiles][4], int32_t rows,
                                                int32_t pitch, const unsigned char *x, const uint32_t *weights,
                                                const patches_pair *pairs) {
    const patches_pair here = pairs[(int32_t)threadIdx.x % 4];
    uint32_t a[PATCHES_LINES][2];
#pragma unroll
    for (int j = 0; j < PATCHES_LINES; j++) {
#pragma unroll
        for (int half = 0; half < 2; half++)
            a[j][half] = *(const uint32_t *)(x + here.at + 2 * (j + half * PATCHES_PAIRS) * pitch) & here.exists;
    }
#pragma unroll
    for (int r = 0; r < PATCHES_ROWS; r++) {
        if (r >= rows) break;
        uint32_t b[column_tiles][2];
        take_weights<column_tiles>(b, weights, r);
#pragma unroll
        for (int i = 0; i < PATCHES_PAIRS; i++) {
#pragma unroll
            for (int j = 0; j < column_tiles; j++) mma_short(sum[i][j], a[i + r], b[j][0], number());
        }
    }
}

/* Where a patch goes: its first pixel of this lane, and how lanes share the words of a pixel. */
struct patches_output {
    uint16_t *y;
    int32_t line; /* elements of a row of y */
    int32_t rows; /* of the patch that exist */
    bool inside;  /* the column of this lane exists */
};

/* Writes a pair of rows as they lie in the lanes: two channels of each column tile. Nothing behind the pitch. */
template <class number, int column_tiles>
static __device__ __forceinline__ void write_pairs(const patches_output &out, const conv2d_patches_plane &plane,
                                                   int32_t row, const uint32_t (&word)[2][column_tiles], bool even) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
        for (int j = 0; j < column_tiles; j++) {
            const int32_t k = 8 * j + (int32_t)threadIdx.x % 4 * 2;
            uint16_t *to = out.y + (row + half * PATCHES_PAIRS) * out.line + k;
            if (!out.inside || row + half * PATCHES_PAIRS >= out.rows || k >= plane.out_pitch) continue;
            if (even) {
                *(uint32_t *)to = word[half][j];
            } else {
                to[0] = (uint16_t)word[half][j];
                if (k + 1 < plane.out_pitch) to[1] = (uint16_t)(word[half][j] >> 16);
            }
        }
    }
}

/* The same for pixels of 4 channels: half of the lanes have none, and take those of the second row. */
static __device__ __forceinline__ void write_fours(const patches_output &out, int32_t row, uint32_t first,
                                                   uint32_t second) {
    const int32_t lane = (int32_t)threadIdx.x % 32, half = lane % 4 / 2, at = row + half * PATCHES_PAIRS;
    const uint32_t moved = __shfl_sync(0xFFFFFFFFu, second, lane & ~2);
    if (out.inside && at < out.rows) *(uint32_t *)(out.y + at * out.line + lane % 2 * 2) = half ? moved : first;
}

/* The same for pixels of 16 channels: lanes exchange words, so that each writes four channels at once. */
static __device__ __forceinline__ void write_sixteens(const patches_output &out, int32_t row, uint32_t low,
                                                      uint32_t high) {
    const int32_t pair = (int32_t)threadIdx.x % 4, odd = pair % 2;
    const uint32_t moved = __shfl_xor_sync(0xFFFFFFFFu, odd ? low : high, 1);
    const uint32_t words[2] = {odd ? moved : low, odd ? high : moved};
    if (out.inside && row < out.rows)
        write_bytes<8>(out.y + row * out.line + (odd ? 8 + 2 * (pair - 1) : 2 * pair), words);
}

template <class number, int column_tiles>
static __device__ __forceinline__ void write_patch(const patches_output &out, const conv2d_patches_plane &plane,
                                                   bool blanked, const float (&sum)[PATCHES_PAIRS][column_tiles][4]) {
    const number *bias = blanked ? nullptr : (const number *)plane.bias;
    const uint32_t address = (uint32_t)(uintptr_t)plane.y;
    float add[column_tiles][2];
#pragma unroll
    for (int j = 0; j < 2 * column_tiles; j++) {
        const int32_t k = 8 * (j / 2) + (int32_t)threadIdx.x % 4 * 2 + j % 2;
        add[j / 2][j % 2] = bias && k < plane.out_channels ? load(bias + k) : 0;
    }
#pragma unroll
    for (int i = 0; i < PATCHES_PAIRS; i++) {
        uint32_t word[2][column_tiles];
#pragma unroll
        for (int j = 0; j < 2 * column_tiles; j++) {
            const int half = j % 2, tile = j / 2;
            const int32_t k = 8 * tile + (int32_t)threadIdx.x % 4 * 2;
            float first = sum[i][tile][2 * half] + add[tile][0], second = sum[i][tile][2 * half + 1] + add[tile][1];
            if (k >= plane.out_channels)
                first = 0; /* nothing, infinities included, comes from a lane without a channel */
            if (k + 1 >= plane.out_channels) second = 0;
            word[half][tile] = pair_made<number>(first, second);
        }
        if (column_tiles == 1 && plane.out_pitch == 4 && address % 4 == 0) {
            write_fours(out, i, word[0][0], word[1][0]);
        } else if (column_tiles == 2 && plane.out_pitch == 16 && address % 8 == 0) {
            write_sixteens(out, i, word[0][0], word[0][column_tiles - 1]);
            write_sixteens(out, i + PATCHES_PAIRS, word[1][0], word[1][column_tiles - 1]);
        } else {
            write_pairs<number, column_tiles>(out, plane, i, word, plane.out_pitch % 2 == 0 && address % 4 == 0);
        }
    }
}

template <class number, int column_tiles>
static __device__ __forceinline__ void conv2d_fwd_patches(const conv2d_patches_args &args, unsigned char *shared) {
    const int plane_at = schedule_plane(args.first_block, args.planes);
    const conv2d_patches_plane &plane = args.plane[plane_at];
    const int32_t begin = ((int32_t)blockIdx.x - args.first_block[plane_at]) * args.block_tiles;
    const int32_t end = begin + args.block_tiles < args.all_tiles ? begin + args.block_tiles : args.all_tiles;
    const int32_t patches = args.tile[1] / PATCHES_SIZE, column = (int32_t)threadIdx.x % 32 / 4;
    const int32_t rows = args.filter[0], pitch = plane.row_pitch, steps = plane.steps;
    const bool vector =
        ((uint32_t)plane.in_channels | (uint32_t)plane.in_pitch | (uint32_t)((uintptr_t)plane.x / 2)) % 4 == 0;
    uint32_t *weights = (uint32_t *)(shared + args.first_weight);
    patches_pair *pairs = (patches_pair *)(shared + args.first_pair);

    load_weights<column_tiles>(weights, args, plane);
    find_pairs(pairs, args, plane);
    for (int32_t at = begin; at < end; at++) {
        const patches_tile tile = find_tile(args, plane, at);
        if (!tile.blanked && vector) load_x<uint2, 4>((uint16_t *)shared, args, plane, tile);
        if (!tile.blanked && !vector) load_x<uint16_t, 1>((uint16_t *)shared, args, plane, tile);
        __syncthreads();
        for (int32_t patch = (int32_t)threadIdx.x / 32; patch < patches; patch += PATCHES_WARPS) {
            const int32_t q = patch * PATCHES_SIZE + column, first = q * plane.pixel_pitch;
            const unsigned char *x = shared + 2 * (first + (first % 2 ? plane.copy - 1 : 0));
            patches_output out = {
                (uint16_t *)plane.y +
                    ((tile.sample * args.out_size[0] + tile.row) * args.out_size[1] + tile.column + q) *
                        plane.out_pitch,
                args.out_size[1] * (int32_t)plane.out_pitch, args.out_size[0] - tile.row,
                tile.column + q < args.out_size[1]};
#pragma unroll 1
            for (int32_t row = 0; row < args.tile[0] && out.rows > 0; row += PATCHES_SIZE) {
                float sum[PATCHES_PAIRS][column_tiles][4] = {};
                if (!tile.blanked && steps) add_steps<number, column_tiles>(sum, rows, pitch, steps, x, weights, pairs);
                if (!tile.blanked && !steps) add_rows<number, column_tiles>(sum, rows, pitch, x, weights, pairs);
                write_patch<number, column_tiles>(out, plane, tile.blanked, sum);
                x += 2 * PATCHES_SIZE * pitch;
                out.y += PATCHES_SIZE * out.line;
                out.rows -= PATCHES_SIZE;
            }
        }
        __syncthreads();
    }
}

ENTRY_HALVES(conv2d_fwd_patches_16, (PATCHES_THREADS, 3), conv2d_patches_args,
             conv2d_fwd_patches<number, 2>(args, (unsigned char *)shared_memory()))
ENTRY_HALVES(conv2d_fwd_patches_8, (PATCHES_THREADS, 4), conv2d_patches_args,
             conv2d_fwd_patches<number, 1>(args, (unsigned char *)shared_memory()))
