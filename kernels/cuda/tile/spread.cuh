/*
 * The lines of x behind units of output pixels, spread in shared memory to operands of the matrix units
 * (kernels/cuda/conv2d_rows.h): one thread loads lines, some warps spread them and those that multiply wait for them,
 * each some units ahead of the next. Units of blanked samples are passed over. A copy must begin at a multiple of 16
 * bytes of the line, so the first element of a box lies `shift` elements behind its begin.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SPREAD_CUH
#define BRAID_KERNELS_CUDA_TILE_SPREAD_CUH

#include "kernels/cuda/conv2d_rows.h"
#include "kernels/cuda/tile/ring.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shared.cuh"
#include "kernels/cuda/tile/tma.cuh"

#define SPREAD_PIECE 8 /* pixels of 16 bytes of a spread row */

/* Where the parts of shared memory begin: what the kernel has of its own, then spread units, lines and barriers. */
struct spread_memory {
    uint32_t own, spread, x, x_ring, spread_ring, own_barriers;
    int32_t spreaders; /* warps */
};

static __device__ __forceinline__ spread_memory spread_find_memory(const conv2d_rows_args &args, uint32_t own_bytes,
                                                                   int32_t spreaders = ROWS_SPREADERS) {
    spread_memory at;
    at.spreaders = spreaders;
    at.own = shared_address(shared_memory());
    at.spread = at.own + own_bytes;
    at.x = at.spread + ROWS_X_STAGES * args.spread_bytes;
    at.x_ring = at.x + ROWS_X_STAGES * args.x_bytes;
    at.spread_ring = at.x_ring + 2 * ROWS_X_STAGES * BARRIER_BYTES;
    at.own_barriers = at.spread_ring + 2 * ROWS_X_STAGES * BARRIER_BYTES;
    return at;
}

/* `warps` multiply. One thread does this, then barrier_publish. */
static __device__ __forceinline__ void spread_init(const spread_memory &memory, uint32_t warps) {
    ring_init(memory.x_ring, ROWS_X_STAGES, (uint32_t)memory.spreaders);
    for (uint32_t i = 0; i < ROWS_X_STAGES; i++) {
        barrier_init(memory.spread_ring + i * BARRIER_BYTES, (uint32_t)memory.spreaders);
        barrier_init(memory.spread_ring + (ROWS_X_STAGES + i) * BARRIER_BYTES, warps);
    }
}

/* The work of a block: a part of the units of a plane, and 64 filters. */
struct spread_work {
    int32_t plane, part, filter; /* the first of them */
    int32_t unit, end;
};

static __device__ __forceinline__ spread_work spread_find_work(const conv2d_rows_args &args) {
    spread_work work;
    work.plane = schedule_plane(args.first_block, args.planes);
    const conv2d_rows_plane &plane = args.plane[work.plane];
    const int32_t blocks = (plane.lanes + ROWS_FILTERS - 1) / ROWS_FILTERS;
    const int32_t block = (int32_t)blockIdx.x - args.first_block[work.plane];
    work.part = block / blocks;
    work.filter = block % blocks * ROWS_FILTERS;
    work.unit = work.part * plane.part_units;
    work.end = work.unit + plane.part_units < args.units ? work.unit + plane.part_units : args.units;
    return work;
}

/* Where a unit lies. */
struct spread_unit {
    int32_t sample, row, column; /* of the first output pixel */
    int32_t rows, pixels, steps; /* inside the image: rows, columns, and 16 columns each */
    bool blanked;
};

static __device__ __forceinline__ spread_unit spread_find_unit(const conv2d_rows_args &args,
                                                               const conv2d_rows_plane &plane, int32_t index) {
    const int32_t side = args.is_down ? args.units_down : args.units_across;
    const int32_t other = args.is_down ? args.units_across : args.units_down;
    const int32_t line = index / side, first = index - line * side;
    spread_unit unit;
    unit.sample = line / other;
    const int32_t second = line - unit.sample * other;
    unit.row = (args.is_down ? first : second) * args.unit_rows;
    unit.column = (args.is_down ? second : first) * args.unit_pixels;
    unit.blanked = mask_blanks(plane.mask, unit.sample);
    const int32_t rows = args.out_size[0] - unit.row, columns = args.out_size[1] - unit.column;
    unit.rows = rows < args.unit_rows ? rows : args.unit_rows;
    unit.pixels = columns < args.unit_pixels ? columns : args.unit_pixels;
    unit.steps = (unit.pixels + ROWS_STEP - 1) / ROWS_STEP;
    return unit;
}

/* Loads the lines of a unit, if it is one before `end` whose sample is not blanked. */
static __device__ __forceinline__ void spread_load_unit(const conv2d_rows_args &args, const spread_memory &memory,
                                                        const conv2d_rows_plane &plane, int32_t index, int32_t end,
                                                        ring_cursor *ring) {
    if (index >= end) return;
    const spread_unit unit = spread_find_unit(args, plane, index);
    if (unit.blanked) return;
    const int32_t line = unit.row * args.stride - args.padding, first = unit.column * plane.step - plane.before;
    ring_fill(*ring, (uint32_t)(unit.steps * args.unit_lines * plane.box * 2));
    for (int32_t step = 0; step < unit.steps; step++) {
        tma_load_3d(memory.x + ring->index * args.x_bytes + step * plane.box_bytes, &plane.x, ring_filled(*ring),
                    first + step * ROWS_STEP * plane.step, line, unit.sample);
    }
    ring_next(ring);
}

/* The thread that loads lines. */
static __device__ __forceinline__ void spread_load(const conv2d_rows_args &args, const spread_memory &memory,
                                                   const spread_work &work) {
    ring_cursor ring = ring_begin(memory.x_ring, ROWS_X_STAGES);
    for (int32_t i = work.unit; i < work.end; i++)
        spread_load_unit(args, memory, args.plane[work.plane], i, work.end, &ring);
}

/* Two neighbours of a line, as one word. `even`: they begin at an even element. */
template <bool even> static __device__ __forceinline__ uint32_t spread_pair(const uint16_t *from) {
    return even ? *(const uint32_t *)from : from[0] | (uint32_t)from[1] << 16;
}

/* Division of numbers that are not negative, by `by`: their product must be less than 2^31. */
struct spread_divisor {
    int32_t by;
    uint32_t factor;
    __device__ __forceinline__ explicit spread_divisor(int32_t to) : by(to), factor((0x7FFFFFFFu + to) / to) {}
    __device__ __forceinline__ int32_t quotient(int32_t of) const {
        return (int32_t)((uint64_t)(uint32_t)of * factor >> 31);
    }
};

/* Writes a pair of spread rows of eight pixels, of which so many are inside; the others become zeros. */
static __device__ __forceinline__ void spread_write(uint32_t to, int32_t row, int32_t piece, const uint32_t *word,
                                                    int32_t inside, bool has_first, bool has_second) {
    uint32_t low[4], high[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        low[j] = (word[2 * j] & 0xFFFFu) | word[2 * j + 1] << 16;
        high[j] = word[2 * j] >> 16 | (word[2 * j + 1] & 0xFFFF0000u);
    }
    if (inside < SPREAD_PIECE) { /* the last piece of a line: rarely */
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint32_t kept = (2 * j < inside ? 0xFFFFu : 0) | (2 * j + 1 < inside ? 0xFFFF0000u : 0);
            low[j] &= kept;
            high[j] &= kept;
        }
    }
    if (has_first) shared_write(to + row * ROWS_ROW_BYTES + ((piece ^ (row & 7)) << 4), low);
    if (has_second) shared_write(to + (row + 1) * ROWS_ROW_BYTES + ((piece ^ ((row + 1) & 7)) << 4), high);
}

/* Spreads the lines of a unit. A thread takes eight pixels of a line and a pair of neighbouring taps, and with it the
 * pairs that lie whole pixels further: each sees the words of the one before, from the second pixel on. Pairs begin at
 * even elements where pixels do (`even`; else each is read by itself), so the first may have one tap, as may the last.
 * What is read of the argument stays in registers: it takes as long as shared memory, and every write in between would
 * have it read anew. */
template <bool even>
static __device__ __forceinline__ void spread_lines(uint32_t to, const unsigned char *from,
                                                    const conv2d_rows_args &args, const conv2d_rows_plane &plane,
                                                    const spread_unit &unit, int32_t warp, int32_t warps) {
    const int turns = even ? 4 : 1;
    const int32_t spread = plane.spread, step = plane.step, box = plane.box, box_bytes = plane.box_bytes;
    const int32_t shift = plane.shift, odd = shift % 2, pairs = (spread + odd + 1) / 2;
    const int32_t apart = even && step / 2 < pairs ? step / 2 : pairs; /* pairs of a pixel */
    const spread_divisor by_apart(apart), by_lines((unit.rows - 1) * args.stride + args.filter_rows);
    const int32_t items = unit.steps * by_lines.by * apart * 2;
    for (int32_t i = warp * 32 + (int32_t)threadIdx.x % 32; i < items; i += 32 * warps) {
        const int32_t of_line = by_apart.quotient(i / 2), phase = i / 2 - of_line * apart;
        const int32_t of_step = by_lines.quotient(of_line), line = of_line - of_step * by_lines.by;
        const int32_t piece = 2 * of_step + i % 2, inside = unit.pixels - SPREAD_PIECE * piece;
        const uint16_t *x = (const uint16_t *)(from + of_step * box_bytes) + shift - odd;
        x += line * box + i % 2 * SPREAD_PIECE * step;
        for (int32_t pair = phase; pair < pairs; pair += turns * apart) {
            uint32_t word[SPREAD_PIECE + turns - 1];
#pragma unroll
            for (int j = 0; j < SPREAD_PIECE + turns - 1; j++) {
                const int32_t turn = j < SPREAD_PIECE ? 0 : j - SPREAD_PIECE + 1;
                const bool read = inside > 0 && pair + turn * apart < pairs;
                word[j] = read ? spread_pair<even>(x + 2 * pair + j * step) : 0;
            }
#pragma unroll
            for (int turn = 0; turn < turns; turn++) {
                const int32_t tap = 2 * (pair + turn * apart) - odd;
                spread_write(to, line * spread + tap, piece, word + turn, inside, tap >= 0 && tap < spread,
                             tap + 1 < spread);
            }
        }
    }
}

/* The warps that spread; `warp` of them counts from 0 on. */
static __device__ __forceinline__ void spread_all(const conv2d_rows_args &args, const spread_memory &memory,
                                                  const spread_work &work, int32_t warp) {
    const conv2d_rows_plane &plane = args.plane[work.plane];
    ring_cursor ring = ring_begin(memory.x_ring, ROWS_X_STAGES);
    ring_cursor made = ring_begin(memory.spread_ring, ROWS_X_STAGES);
    const unsigned char *x = (const unsigned char *)shared_memory() + (memory.x - memory.own);
    for (int32_t i = work.unit; i < work.end; i++) {
        const spread_unit unit = spread_find_unit(args, plane, i);
        if (unit.blanked) continue;
        const uint32_t to = memory.spread + made.index * args.spread_bytes;
        barrier_wait(made.barriers + (uint32_t)(made.stages + made.index) * BARRIER_BYTES, made.parity ^ 1);
        ring_wait(ring);
        if (plane.step % 2 == 0) {
            spread_lines<true>(to, x + ring.index * args.x_bytes, args, plane, unit, warp, memory.spreaders);
        } else {
            spread_lines<false>(to, x + ring.index * args.x_bytes, args, plane, unit, warp, memory.spreaders);
        }
        fence_async();
        __syncwarp();
        if (threadIdx.x % 32 == 0) barrier_arrive(ring_filled(made));
        ring_free(ring);
        ring_next(&ring);
        ring_next(&made);
    }
}

#endif
