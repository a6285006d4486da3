/*
 * A tile of a matrix product of small or skinny matrices by a block of 256 threads: f32 by fused multiply-adds, f16 and
 * bf16 on the tensor cores. Copies fill some stages of shared memory while older ones are multiplied. Where the tile is
 * small, groups of threads take different terms of every stage, and their sums are added in order at the end: so few
 * blocks with long sums finish early too.
 *
 * An operand lies in shared memory as it does in global memory: `along`, the terms of a row (or column) side by side,
 * or across, all rows (columns) of a term side by side.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LINEAR_SKINNY_CUH
#define BRAID_KERNELS_CUDA_LINEAR_SKINNY_CUH

#include "kernels/cuda/linear/linear_skinny.h"
#include "kernels/cuda/tile/act.cuh"
#include "kernels/cuda/ptx/matrix.cuh"
#include "kernels/cuda/ptx/mma.cuh"
#include "kernels/cuda/tile/pack.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/ptx/shared.cuh"
#include "kernels/cuda/linear/skinny.h"

/* ---- Loading ------------------------------------------------------------------------------------- */

/* One operand in global memory, from the block's first row on. */
struct skinny_source {
    const void *data;
    int64_t pitch;
    int32_t rows;         /* that are there */
    int32_t begin, end;   /* the terms */
    const uint32_t *mask; /* of the terms; NULL: all count */
    bool aligned;
};

template <class number, int tile, bool along> struct skinny_operand {
    static const int width = SKINNY_PIECE(sizeof(number)), depth = SKINNY_DEPTH(tile, sizeof(number));
    static const int pitch = SKINNY_PITCH(along ? depth : tile, sizeof(number));
    static const int side = (along ? depth : tile) / width; /* pieces side by side */
    static const int pieces = tile * depth / width / SKINNY_THREADS;

    static __device__ __forceinline__ int place(int j) {
        const int piece = (int)threadIdx.x + j * SKINNY_THREADS;
        return piece / side * pitch + piece % side * width;
    }

    /* This thread's pieces of dy become those of the gradient before the activation. */
    static __device__ __forceinline__ void apply_slope(number *dy, const number *slope, int32_t activation) {
#pragma unroll
        for (int j = 0; j < pieces; j++) {
            number *at = dy + place(j);
            const number *by = slope + place(j);
#pragma unroll
            for (int i = 0; i < width; i++) store(at + i, act_gradient(activation, load(by + i), load(at + i)));
        }
    }
};

/* The copies of an operand by one thread, stage after stage. */
template <class number, int tile, bool along> struct skinny_loader {
    typedef skinny_operand<number, tile, along> operand;
    static const int pieces = operand::pieces, width = operand::width, depth = operand::depth;
    const number *base, *at[pieces];
    const uint32_t *mask;
    int64_t advance;
    int32_t term[pieces], end, rows[pieces]; /* rows from the piece on: along, 1 or none */
    bool aligned;

    __device__ __forceinline__ explicit skinny_loader(const skinny_source &from) {
        base = (const number *)from.data;
        mask = from.mask;
        end = from.end;
        aligned = from.aligned;
        advance = along ? depth : depth * from.pitch;
#pragma unroll
        for (int j = 0; j < pieces; j++) {
            const int piece = (int)threadIdx.x + j * SKINNY_THREADS;
            const int32_t slow = piece / operand::side, fast = piece % operand::side * width;
            term[j] = from.begin + (along ? fast : slow);
            rows[j] = from.rows - (along ? slow : fast);
            at[j] = base + (along ? slow * from.pitch + term[j] : term[j] * from.pitch + fast);
        }
    }

    /* Starts to copy this thread's pieces of the next stage; zeros where there is nothing. */
    __device__ __forceinline__ void load_stage(number *to) {
#pragma unroll
        for (int j = 0; j < pieces; j++) {
            const bool live = rows[j] > 0 && term[j] < end && !mask_blanks(mask, term[j]);
            const int32_t count = !live ? 0 : along ? end - term[j] : rows[j];
            if (aligned) {
                copy_async_part(to + operand::place(j), live ? at[j] : base,
                                count >= width ? 16 : count * (int)sizeof(number));
            } else {
                copy_numbers(to + operand::place(j), at[j], count);
            }
            at[j] += advance;
            term[j] += depth;
        }
    }

    /* The same where a row does not begin at a multiple of 16 bytes. */
    static __device__ __noinline__ void copy_numbers(number *to, const number *from, int32_t count) {
        for (int i = 0; i < width; i++) {
            if (i < count)
                to[i] = from[i];
            else
                store(to + i, 0);
        }
    }
};

/* ---- Multiplying --------------------------------------------------------------------------------- */

/* 4 x 4 sums of a thread, 4 terms at a time. Along, its rows are a quarter of the tile apart, for the banks' sake. */
template <class number, int tile> struct skinny_sums {
    static const int across = tile / 4, group_threads = across * across;
    static const int terms = SKINNY_DEPTH(tile, 4) / SKINNY_GROUPS(tile, 4); /* of a group in one stage */
    float at[4][4], row_sum[4];

    static __device__ __forceinline__ int group() { return (int)threadIdx.x / group_threads; }
    static __device__ __forceinline__ int y() { return (int)threadIdx.x % group_threads / across; }
    static __device__ __forceinline__ int x() { return (int)threadIdx.x % across; }

    __device__ __forceinline__ void clear() {
        for (int i = 0; i < 4; i++) {
            row_sum[i] = 0;
            for (int j = 0; j < 4; j++) at[i][j] = 0;
        }
    }
    /* to[i][t]: row i of the thread, term t of four. */
    template <bool along>
    static __device__ __forceinline__ void take(float (&to)[4][4], const f32 *from, int me, int term) {
        const int pitch = skinny_operand<f32, tile, along>::pitch;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float four[4];
            const pack<f32, 4> all = *(
                const pack<f32, 4> *)(from + (along ? (me + across * i) * pitch + term : (term + i) * pitch + 4 * me));
            pack_open(four, all);
#pragma unroll
            for (int t = 0; t < 4; t++) (along ? to[i][t] : to[t][i]) = four[t];
        }
    }
    template <bool left_along, bool right_along, bool sums_rows>
    __device__ __forceinline__ void multiply(const f32 *left, const f32 *right) {
#pragma unroll
        for (int step = 0; step < terms; step += 4) {
            const int term = group() * terms + step;
            float a[4][4], b[4][4];
            take<left_along>(a, left, y(), term);
            take<right_along>(b, right, x(), term);
#pragma unroll
            for (int t = 0; t < 4; t++) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
#pragma unroll
                    for (int j = 0; j < 4; j++) at[i][j] += a[i][t] * b[j][t];
                    if (sums_rows) row_sum[i] += a[i][t];
                }
            }
        }
    }
    /* Leaves the sums in [group][row][column] and behind them [group][row]. */
    template <bool left_along, bool right_along, bool sums_rows>
    __device__ __forceinline__ void leave(float *to) const {
        const int pitch = SKINNY_SUM_PITCH(tile);
        float *column_of = to + SKINNY_GROUPS(tile, 4) * tile * pitch + group() * tile;
        to += group() * tile * pitch;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int row = left_along ? y() + across * i : 4 * y() + i;
#pragma unroll
            for (int j = 0; j < 4; j++) to[row * pitch + (right_along ? x() + across * j : 4 * x() + j)] = at[i][j];
            if (sums_rows && x() == 0) column_of[row] = row_sum[i];
        }
    }
};

struct alignas(8) pair_of_floats {
    float first, second;
};

/* 16 rows and 16 or 32 columns of a warp, 16 terms at a time; halves. */
template <class number, int tile> struct skinny_matrices {
    static const int columns = tile == 64 ? 32 : 16; /* of a warp */
    static const int warps = tile / 16 * (tile / columns), groups = SKINNY_GROUPS(tile, 2);
    static const int terms = SKINNY_DEPTH(tile, 2) / groups;
    float at[columns / 8][4], row_sum[4];

    static __device__ __forceinline__ int lane() { return (int)threadIdx.x % 32; }
    static __device__ __forceinline__ int group() { return (int)threadIdx.x / 32 / warps; }
    static __device__ __forceinline__ int row() { return (int)threadIdx.x / 32 % warps / (tile / columns) * 16; }
    static __device__ __forceinline__ int column() { return (int)threadIdx.x / 32 % (tile / columns) * columns; }

    __device__ __forceinline__ void clear() {
        for (int j = 0; j < 4; j++) {
            row_sum[j] = 0;
            for (int i = 0; i < columns / 8; i++) at[i][j] = 0;
        }
    }
    template <bool along>
    static __device__ __forceinline__ void take_left(uint32_t (&a)[4], const number *left, int term) {
        const int pitch = skinny_operand<number, tile, along>::pitch;
        if (along) {
            matrix_load_x4(a, shared_address(left + (row() + lane() % 16) * pitch + term + lane() / 16 * 8));
        } else {
            matrix_load_x4_transposed(
                a, shared_address(left + (term + lane() / 16 * 8 + lane() % 8) * pitch + row() + lane() / 8 % 2 * 8));
        }
    }
    template <bool along>
    static __device__ __forceinline__ void take_right(uint32_t (&b)[4], const number *right, int from, int term) {
        const int pitch = skinny_operand<number, tile, along>::pitch;
        if (along) {
            matrix_load_x4(
                b, shared_address(right + (from + lane() % 8 + lane() / 16 * 8) * pitch + term + lane() / 8 % 2 * 8));
        } else {
            matrix_load_x4_transposed(b, shared_address(right + (term + lane() % 16) * pitch + from + lane() / 16 * 8));
        }
    }
    template <bool left_along, bool right_along, bool sums_rows>
    __device__ __forceinline__ void multiply(const number *left, const number *right) {
#pragma unroll
        for (int step = 0; step < terms; step += 16) {
            const int term = group() * terms + step;
            uint32_t a[4];
            take_left<left_along>(a, left, term);
#pragma unroll
            for (int i = 0; i < columns / 16; i++) {
                uint32_t b[4];
                take_right<right_along>(b, right, column() + 16 * i, term);
                const uint32_t first[2] = {b[0], b[1]}, second[2] = {b[2], b[3]};
                mma(at[2 * i], a, first, number());
                mma(at[2 * i + 1], a, second, number());
            }
            if (sums_rows) {
                const uint32_t ones[2] = {one_pair(number()), one_pair(number())};
                mma(row_sum, a, ones, number());
            }
        }
    }
    template <bool left_along, bool right_along, bool sums_rows>
    __device__ __forceinline__ void leave(float *to) const {
        const int pitch = SKINNY_SUM_PITCH(tile);
        float *column_of = to + groups * tile * pitch + group() * tile;
        to += group() * tile * pitch;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int r = row() + lane() / 4 + half * 8;
#pragma unroll
            for (int i = 0; i < columns / 8; i++) {
                pair_of_floats two = {at[i][2 * half], at[i][2 * half + 1]};
                *(pair_of_floats *)(to + r * pitch + column() + 8 * i + lane() % 4 * 2) = two;
            }
            if (sums_rows && column() == 0 && lane() % 4 == 0) column_of[r] = row_sum[2 * half];
        }
    }
};

template <int tile> struct skinny_sums<f16, tile> : skinny_matrices<f16, tile> {};
template <int tile> struct skinny_sums<bf16, tile> : skinny_matrices<bf16, tile> {};

/* ---- The block ----------------------------------------------------------------------------------- */

/* What a block has to make. */
struct skinny_work {
    int plane;
    int32_t part, row, column; /* the first ones of its tile */
};

static __device__ __forceinline__ skinny_work skinny_begin(const skinny_args &args, int tile) {
    skinny_work work;
    work.plane = schedule_plane(args.first_block, args.planes);
    const int32_t at = (int32_t)blockIdx.x - args.first_block[work.plane], block = at / args.parts;
    work.part = at % args.parts;
    work.row = block / args.plane[work.plane].column_tiles * tile;
    work.column = block % args.plane[work.plane].column_tiles * tile;
    return work;
}

/* Makes the sums of all terms of the sources and leaves them at the beginning of the shared memory, for all to see. */
template <class number, int tile, bool left_along, bool right_along, bool sums_rows>
static __device__ __forceinline__ void skinny_run(number *shared, const skinny_source &left, const skinny_source &right,
                                                  const void *slope, int32_t activation) {
    typedef skinny_operand<number, tile, left_along> left_operand;
    const int bytes = (int)sizeof(number), stages = SKINNY_STAGES(tile);
    const int left_size = SKINNY_OPERAND(tile, bytes, left_along),
              right_size = SKINNY_OPERAND(tile, bytes, right_along);
    const int size = left_size * (slope ? 2 : 1) + right_size;
    const int32_t count = (left.end - left.begin + left_operand::depth - 1) / left_operand::depth;
    skinny_source by = left;
    by.data = slope;
    skinny_loader<number, tile, left_along> lefts(left), slopes(by);
    skinny_loader<number, tile, right_along> rights(right);
    skinny_sums<number, tile> sums;
    sums.clear();
    for (int32_t next = 0, used = 1 - stages; used < count; next++, used++) {
        if (used >= 0) {
            const int at = used % stages * size;
            copy_async_wait<SKINNY_STAGES(tile) - 2>();
            if (slope) left_operand::apply_slope(shared + at, shared + at + left_size + right_size, activation);
            __syncthreads();
        }
        if (next < count) {
            const int at = next % stages * size;
            lefts.load_stage(shared + at);
            rights.load_stage(shared + at + left_size);
            if (slope) slopes.load_stage(shared + at + left_size + right_size);
        }
        copy_async_commit();
        if (used >= 0) {
            const int at = used % stages * size;
            sums.template multiply<left_along, right_along, sums_rows>(shared + at, shared + at + left_size);
        }
    }
    copy_async_wait<0>();
    __syncthreads();
    sums.template leave<left_along, right_along, sums_rows>((float *)shared);
    __syncthreads();
}

/* `width` neighbouring sums of a tile, 1 or fours, from element `at` on; the groups' added in order. */
template <class number, int tile, int width>
static __device__ __forceinline__ void skinny_total(float (&to)[width], const float *sums, int32_t at) {
    const int fours = width == 1 ? 1 : 4, pitch = SKINNY_SUM_PITCH(tile);
    const f32 *from = (const f32 *)sums + at / tile * pitch + at % tile;
#pragma unroll
    for (int j = 0; j < width; j += fours) {
        float total[fours];
        pack_open(total, *(const pack<f32, fours> *)(from + j));
#pragma unroll
        for (int g = 1; g < SKINNY_GROUPS(tile, (int)sizeof(number)); g++) {
            float more[fours];
            pack_open(more, *(const pack<f32, fours> *)(from + g * tile * pitch + j));
#pragma unroll
            for (int i = 0; i < fours; i++) total[i] += more[i];
        }
#pragma unroll
        for (int i = 0; i < fours; i++) to[j + i] = total[i];
    }
}

#endif
