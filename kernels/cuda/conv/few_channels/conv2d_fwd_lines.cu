/*
 * conv2d forward for 1 to 4 input channels, on the tensor cores. Rows of the product are output pixels, columns are
 * output channels, and the reduction runs over (r, s, c), every filter row padded to an even length. The x of a tile
 * lies in shared memory as it does in global memory, so two neighbours of that reduction are one word there (for every
 * second pixel in a copy shifted by one element, where a pixel may begin at an odd one). Weights stay in shared memory,
 * in the order in which lanes take them. What the padding reads is cut off: it may be an infinity.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/tile/epilogue.cuh"
#include "kernels/cuda/conv/few_channels/lines.cuh"
#include "kernels/cuda/ptx/mma.cuh"
#include "kernels/cuda/ptx/pair.cuh"
#include "kernels/cuda/ptx/shared.cuh"

/* A pixel of a tile: its row and column, and its first element in y from that of the tile. */
struct lines_cell {
    int16_t row, column;
    int32_t at;
};

/* Two terms of the reduction: where they lie from a pixel's first element, in bytes, and which of the two exist. */
struct lines_pair {
    int32_t at;
    uint32_t exists;
};

#define LINES_AHEAD 5 /* elements of x that a thread has under way */

/* Everything a block shares: x of two tiles in turn. */
struct lines_shared {
    alignas(16) uint32_t weights[LINES_MOST_TERMS * 64 / 2];
    alignas(16) uint16_t x[2][LINES_MOST_ELEMENTS];
    alignas(16) epilogue_channel channels[64];               /* of the block's outputs */
    alignas(16) uint16_t stage[LINES_WARPS * 16 * (64 + 8)]; /* the output on its way */
    lines_pair pairs[LINES_MOST_TERMS / 2];
    lines_cell cells[LINES_FWD_PIXELS];
};
static_assert(sizeof(lines_shared) == LINES_FWD_SHARED, "kernel and launcher agree");

/* The pairs of the reduction: filter rows of `pairs` pairs each, `terms` terms. */
static __device__ __forceinline__ void find_pairs(lines_pair *to, const conv2d_lines_args &args,
                                                  const conv2d_lines_plane &plane) {
    const int32_t terms = args.filter[1] * plane.in_channels, pairs = lines_pairs(args, plane);
    for (int32_t j = (int32_t)threadIdx.x; j < 8 * plane.steps; j += LINES_THREADS) {
        const int32_t r = j / pairs, e = lines_term(plane, j - r * pairs);
        const bool exists = r < args.filter[0];
        to[j].at = exists ? 2 * (r * args.dilation * plane.row_pitch + 2 * (j - r * pairs)) : 0;
        to[j].exists = !exists ? 0 : (e >= 0 ? 0xFFFFu : 0u) | (e + 1 < terms ? 0xFFFF0000u : 0u);
    }
}

/* The word of lane `lane` and half `half` in the operand of column tile j and a step. */
template <int column_tiles>
static __device__ __forceinline__ int32_t weight_at(int32_t step, int j, int lane, int half) {
    const int together = column_tiles > 1 ? 2 : 1;
    return (((step * (column_tiles / together) + j / together) * 32 + lane) * together + j % together) * 2 + half;
}

template <int column_tiles>
static __device__ __forceinline__ void load_weights(uint32_t *to, const conv2d_lines_args &args,
                                                    const conv2d_lines_plane &plane, int32_t first_column) {
    const int32_t terms = args.filter[1] * plane.in_channels, length = args.filter[0] * terms;
    const int32_t pairs = lines_pairs(args, plane);
    const int32_t all = 8 * plane.steps;
    const uint16_t *weights = (const uint16_t *)plane.w;
    const int ahead = 4;
    for (int32_t begin = (int32_t)threadIdx.x; begin < all * 8 * column_tiles; begin += ahead * LINES_THREADS) {
        uint32_t word[ahead];
        int32_t at[ahead];
#pragma unroll
        for (int n = 0; n < ahead; n++) {
            const int32_t i = begin + n * LINES_THREADS, column = i / all, j = i - column * all, r = j / pairs;
            const int32_t e = lines_term(plane, j - r * pairs), filter = first_column + column;
            const bool inside = column < 8 * column_tiles && filter < plane.out_channels && r < args.filter[0];
            const uint16_t *from = weights + (inside ? (int64_t)filter * length + r * terms : 0);
            const uint32_t low = inside && e >= 0 ? from[e] : 0u, high = inside && e + 1 < terms ? from[e + 1] : 0u;
            word[n] = low | high << 16;
            at[n] = weight_at<column_tiles>(j / 8, column / 8, column % 8 * 4 + j % 4, j % 8 / 4);
        }
#pragma unroll
        for (int n = 0; n < ahead; n++) {
            if (begin + n * LINES_THREADS < all * 8 * column_tiles) to[at[n]] = word[n];
        }
    }
}

/* The operands of all column tiles in one step. */
template <int column_tiles>
static __device__ __forceinline__ void take_weights(uint32_t (&to)[column_tiles][2], const uint32_t *from, int32_t step,
                                                    int lane) {
#pragma unroll
    for (int j = 0; j + 1 < column_tiles; j += 2) {
        const uint4 words = *(const uint4 *)(from + weight_at<column_tiles>(step, j, lane, 0));
        to[j][0] = words.x;
        to[j][1] = words.y;
        to[j + 1][0] = words.z;
        to[j + 1][1] = words.w;
    }
    if (column_tiles == 1) {
        const uint2 words = *(const uint2 *)(from + weight_at<column_tiles>(step, 0, lane, 0));
        to[0][0] = words.x;
        to[0][1] = words.y;
    }
}

/* Where pixels go: the tile, the lanes of y that this block writes, and how many of them are one access. */
struct lines_output {
    lines_tile tile;
    int32_t first_column, columns, width, pieces; /* pieces: columns / width */
    uint32_t pieces_inverse;
    bool unused; /* there are lanes without a channel */
    bool plain;  /* there are none, and sums are stored as they are */
};

/* The pixels of a tile; one behind the last has a row that no image has. */
static __device__ __forceinline__ void find_cells(lines_cell *to, const conv2d_lines_args &args,
                                                  const conv2d_lines_plane &plane) {
    for (int32_t pixel = (int32_t)threadIdx.x; pixel < LINES_FWD_PIXELS; pixel += LINES_THREADS) {
        const int32_t row = lines_divide(pixel, args.columns_inverse), column = pixel - row * args.tile[1];
        to[pixel].row = row < args.tile[0] ? (int16_t)row : INT16_MAX;
        to[pixel].column = (int16_t)column;
        to[pixel].at = row < args.tile[0] ? (row * args.out_size[1] + column) * (int32_t)plane.out_pitch : 0;
    }
}

/* Writes some pixels of a warp out of shared memory. */
template <int width>
static __device__ __forceinline__ void write_pixels(const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                                    const lines_output &out, const uint16_t *stage, int stage_pitch,
                                                    const lines_cell *cells, int32_t pixels) {
    uint16_t *y =
        (uint16_t *)plane.y + out.first_column +
        ((out.tile.sample * args.out_size[0] + out.tile.row) * args.out_size[1] + out.tile.column) * plane.out_pitch;
    const int32_t rows = args.out_size[0] - out.tile.row, columns = args.out_size[1] - out.tile.column;
#pragma unroll 2
    for (int32_t i = (int32_t)threadIdx.x % 32; i < pixels * out.pieces; i += 32) {
        const int32_t pixel = lines_divide(i, out.pieces_inverse), piece = (i - pixel * out.pieces) * width;
        const lines_cell cell = cells[pixel];
        if (cell.row >= rows || cell.column >= columns) continue;
        write_bytes<2 * width>(y + cell.at + piece, stage + pixel * stage_pitch + piece);
    }
}

/* `plain`: a sum is stored as it is. */
template <bool plain, class number, int row_tiles, int column_tiles>
static __device__ __forceinline__ void write_some(const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                                  const lines_output &out, lines_shared *shared,
                                                  const float (&sum)[row_tiles][column_tiles][4]) {
    const int together = column_tiles > 2 ? 1 : 2, pitch = 8 * column_tiles + 8; /* row tiles at a time */
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    uint16_t *stage = shared->stage + warp * (16 * together * pitch);
    const float floor = epilogue_floor(plane.epilogue);
#pragma unroll
    for (int i = 0; i < row_tiles; i += together) {
        __syncwarp();
#pragma unroll
        for (int j = 0; j < column_tiles; j++) {
            const int32_t column = 8 * j + lane % 4 * 2;
            epilogue_channel channel[2] = {{1, 0}, {1, 0}}; /* blanked sums are zeros, and stay so */
            for (int half = 0; half < 2 && !plain && !out.tile.blanked; half++)
                channel[half] = shared->channels[column + half];
#pragma unroll
            for (int t = 0; t < together; t++) {
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    float first = sum[i + t][j][2 * half], second = sum[i + t][j][2 * half + 1];
                    if (!plain) {
                        first = epilogue_value(first, channel[0], floor);
                        second = epilogue_value(second, channel[1], floor);
                    }
                    if (!plain && out.unused) { /* nothing, infinities included, comes from a lane without a channel */
                        if (out.first_column + column >= plane.out_channels) first = 0;
                        if (out.first_column + column + 1 >= plane.out_channels) second = 0;
                    }
                    *(uint32_t *)(stage + (16 * t + lane / 4 + 8 * half) * pitch + column) =
                        pair_made<number>(first, second);
                }
            }
        }
        __syncwarp();
        const lines_cell *cells = shared->cells + (warp * row_tiles + i) * 16;
        switch (out.width) {
            case 8: write_pixels<8>(args, plane, out, stage, pitch, cells, 16 * together); break;
            case 4: write_pixels<4>(args, plane, out, stage, pitch, cells, 16 * together); break;
            case 2: write_pixels<2>(args, plane, out, stage, pitch, cells, 16 * together); break;
            default: write_pixels<1>(args, plane, out, stage, pitch, cells, 16 * together); break;
        }
    }
}

template <class number, int row_tiles, int column_tiles>
static __device__ __forceinline__ void write_sums(const conv2d_lines_args &args, const conv2d_lines_plane &plane,
                                                  const lines_output &out, lines_shared *shared,
                                                  const float (&sum)[row_tiles][column_tiles][4]) {
    if (out.plain) {
        write_some<true, number>(args, plane, out, shared, sum);
    } else {
        write_some<false, number>(args, plane, out, shared, sum);
    }
}

/* Where the pixels of a lane begin in the x of a tile, in bytes. */
template <int row_tiles>
static __device__ __forceinline__ void find_pixels(int32_t (&first)[row_tiles][2], const conv2d_lines_args &args,
                                                   const conv2d_lines_plane &plane) {
#pragma unroll
    for (int i = 0; i < 2 * row_tiles; i++) {
        const int32_t pixel = (int32_t)threadIdx.x / 32 * 16 * row_tiles + 8 * i + (int32_t)threadIdx.x % 32 / 4;
        const int32_t row = lines_divide(pixel, args.columns_inverse), column = pixel - row * args.tile[1];
        int32_t at = row < args.tile[0]
                         ? row * args.stride[0] * plane.row_pitch + column * args.stride[1] * plane.in_channels
                         : 0;
        if (at % 2) at += plane.copy - 1;
        first[i / 2][i % 2] = 2 * (at + plane.shift - plane.shift % 2);
    }
}

/* The sums of one tile; a warp has 16 * row_tiles pixels. */
template <class number, int row_tiles, int column_tiles>
static __device__ __forceinline__ void add_terms(float (&sum)[row_tiles][column_tiles][4],
                                                 const int32_t (&first)[row_tiles][2], int32_t begin, int32_t end,
                                                 const lines_shared *shared, const unsigned char *x) {
    const int lane = (int)threadIdx.x % 32, pair = lane % 4;
#pragma unroll 2
    for (int32_t step = begin; step < end; step++) {
        const lines_pair low = shared->pairs[8 * step + pair], high = shared->pairs[8 * step + 4 + pair];
        uint32_t b[column_tiles][2];
        take_weights<column_tiles>(b, shared->weights, step, lane);
#pragma unroll
        for (int i = 0; i < row_tiles; i++) {
            uint32_t a[4];
#pragma unroll
            for (int half = 0; half < 2; half++) {
                a[half] = *(const uint32_t *)(x + first[i][half] + low.at) & low.exists;
                a[2 + half] = *(const uint32_t *)(x + first[i][half] + high.at) & high.exists;
            }
#pragma unroll
            for (int j = 0; j < column_tiles; j++) mma(sum[i][j], a, b[j], number());
        }
    }
}

/* The widest access that every address and the number of lanes allow. */
static __device__ __forceinline__ int32_t access_width(const conv2d_lines_plane &plane, int32_t columns) {
    const uint32_t all = (uint32_t)((uintptr_t)plane.y / 2) | (uint32_t)plane.out_pitch | (uint32_t)columns;
    return all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
}

template <class number, int row_tiles, int column_tiles>
static __device__ __forceinline__ void conv2d_fwd_lines(const conv2d_lines_args &args, lines_shared *shared) {
    const int i = schedule_plane(args.first_block, args.planes);
    const conv2d_lines_plane &plane = args.plane[i];
    const int32_t all_columns = (int32_t)plane.out_pitch; /* lanes behind the last channel are written as zero */
    const int32_t column_blocks = (all_columns + 8 * column_tiles - 1) / (8 * column_tiles);
    const int32_t block = (int32_t)blockIdx.x - args.first_block[i];
    lines_output out;
    out.first_column = block % column_blocks * 8 * column_tiles;
    out.columns = all_columns - out.first_column < 8 * column_tiles ? all_columns - out.first_column : 8 * column_tiles;
    out.width = access_width(plane, out.columns);
    out.unused = out.first_column + 8 * column_tiles > plane.out_channels;
    out.plain = !out.unused && !plane.epilogue.bias && !plane.epilogue.scale && !plane.epilogue.shift &&
                !plane.epilogue.floored;
    out.pieces = out.columns / out.width;
    out.pieces_inverse = lines_inverse(out.pieces);
    const int32_t begin = block / column_blocks * args.block_tiles;
    const int32_t end = begin + args.block_tiles < args.all_tiles ? begin + args.block_tiles : args.all_tiles;
    const auto place = [&plane](int32_t column, int32_t c) { return column * plane.in_channels + c; };

    int32_t first[row_tiles][2];
    find_pixels(first, args, plane);
    find_cells(shared->cells, args, plane);
    find_pairs(shared->pairs, args, plane);
    for (int32_t c = (int32_t)threadIdx.x; c < 8 * column_tiles; c += LINES_THREADS)
        shared->channels[c] = epilogue_find<number>(plane.epilogue, out.first_column + c, plane.out_channels);
    load_weights<column_tiles>(shared->weights, args, plane, out.first_column);
    lines_tile next = begin < end ? lines_find(args, plane, begin) : lines_tile();
    if (begin < end && !next.blanked) {
        if (plane.raw) {
            lines_copy(shared->x[0], args, plane, next);
        } else {
            lines_load<LINES_AHEAD>(shared->x[0], args, plane, next, place);
        }
    }
    copy_async_commit();
    for (int32_t tile = begin; tile < end; tile++) {
        const unsigned char *x = (const unsigned char *)shared->x[(tile - begin) % 2];
        float sum[row_tiles][column_tiles][4] = {};
        copy_async_wait<0>();
        __syncthreads();
        out.tile = next;
        if (tile + 1 < end) next = lines_find(args, plane, tile + 1);
        if (plane.raw) {
            if (tile + 1 < end && !next.blanked) lines_copy(shared->x[(tile + 1 - begin) % 2], args, plane, next);
            copy_async_commit();
            if (!out.tile.blanked) add_terms<number>(sum, first, 0, plane.steps, shared, x);
            write_sums<number>(args, plane, out, shared, sum);
            continue;
        }
        lines_overlap<LINES_AHEAD>(shared->x[(tile + 1 - begin) % 2], args, plane, next, tile + 1 < end, place,
                                   out.tile.blanked ? 0 : plane.steps, [&](int32_t first_step, int32_t last_step) {
                                       add_terms<number>(sum, first, first_step, last_step, shared, x);
                                   });
        write_sums<number>(args, plane, out, shared, sum);
    }
}

ENTRY_HALVES(conv2d_fwd_lines_64, (LINES_THREADS, 2), conv2d_lines_args,
             conv2d_fwd_lines<number, 2, 8>(args, (lines_shared *)shared_memory()))
ENTRY_HALVES(conv2d_fwd_lines_16, (LINES_THREADS, 2), conv2d_lines_args,
             conv2d_fwd_lines<number, 4, 2>(args, (lines_shared *)shared_memory()))
ENTRY_HALVES(conv2d_fwd_lines_8, (LINES_THREADS, 2), conv2d_lines_args,
             conv2d_fwd_lines<number, 4, 1>(args, (lines_shared *)shared_memory()))
