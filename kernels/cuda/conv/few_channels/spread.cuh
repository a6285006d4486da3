/*
 * The lines of x behind units of output pixels, spread in shared memory to operands of the matrix units
 * (conv2d_rows.h): one thread loads lines, some warps spread them and those that multiply wait for them,
 * each some units ahead of the next. Units of blanked samples are passed over. A copy must begin at a multiple of 16
 * bytes of the line, so the first element of a box lies `shift` elements behind its begin.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_SPREAD_CUH
#define BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_SPREAD_CUH

#include "kernels/cuda/conv/few_channels/conv2d_rows.h"
#include "kernels/cuda/tile/pipeline.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/ptx/shared.cuh"
#include "kernels/cuda/ptx/tma.cuh"

#define SPREAD_PIECE 8 /* pixels of 16 bytes of a spread row */
#define SPREAD_LINES 8 /* of which a thread takes one */

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
    pipeline_init(memory.x_ring, ROWS_X_STAGES, 1, (uint32_t)memory.spreaders);
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

/* Where a unit ends, by where it begins. */
static __device__ __forceinline__ void spread_bound_unit(const conv2d_rows_args &args, spread_unit *unit) {
    const int32_t rows = args.out_size[0] - unit->row, columns = args.out_size[1] - unit->column;
    unit->rows = rows < args.unit_rows ? rows : args.unit_rows;
    unit->pixels = columns < args.unit_pixels ? columns : args.unit_pixels;
    unit->steps = (unit->pixels + ROWS_STEP - 1) / ROWS_STEP;
}

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
    spread_bound_unit(args, &unit);
    return unit;
}

/* Units of a block one by one: number i, behind number i - 1 in `unit`. False: there is none. */
static __device__ __forceinline__ bool spread_next_unit(const conv2d_rows_args &args, const conv2d_rows_plane &plane,
                                                        const spread_work &work, int32_t i, spread_unit *unit) {
    if (i >= work.end) return false;
    if (i == work.unit) {
        *unit = spread_find_unit(args, plane, i);
        return true;
    }
    int32_t first = args.is_down ? unit->row : unit->column, second = args.is_down ? unit->column : unit->row;
    const int32_t down = args.is_down;
    first += down ? args.unit_rows : args.unit_pixels;
    if (first >= args.out_size[1 - down]) {
        first = 0;
        second += down ? args.unit_pixels : args.unit_rows;
        if (second >= args.out_size[down]) {
            second = 0;
            unit->sample++;
            unit->blanked = mask_blanks(plane.mask, unit->sample);
        }
    }
    unit->row = down ? first : second;
    unit->column = down ? second : first;
    spread_bound_unit(args, unit);
    return true;
}

/* Loads the lines of a unit, if it is one before `end` whose sample is not blanked. */
static __device__ __forceinline__ void spread_load_unit(const conv2d_rows_args &args, const spread_memory &memory,
                                                        const conv2d_rows_plane &plane, int32_t index, int32_t end,
                                                        pipeline *ring) {
    if (index >= end) return;
    const spread_unit unit = spread_find_unit(args, plane, index);
    if (unit.blanked) return;
    const int32_t line = unit.row * args.stride - args.padding, first = unit.column * plane.step - plane.before;
    pipeline_fill(*ring, (uint32_t)(unit.steps * args.unit_lines * plane.box * 2));
    for (int32_t step = 0; step < unit.steps; step++) {
        tma_load_3d(memory.x + ring->index * args.x_bytes + step * plane.box_bytes, &plane.x, pipeline_full(*ring),
                    first + step * ROWS_STEP * plane.step, line, unit.sample);
    }
    pipeline_next(ring);
}

/* The thread that loads lines. */
static __device__ __forceinline__ void spread_load(const conv2d_rows_args &args, const spread_memory &memory,
                                                   const spread_work &work) {
    pipeline ring = pipeline_begin(memory.x_ring, ROWS_X_STAGES);
    for (int32_t i = work.unit; i < work.end; i++)
        spread_load_unit(args, memory, args.plane[work.plane], i, work.end, &ring);
}

/* Two neighbours of a line, as one word. `even`: they begin at an even element. */
template <bool even> static __device__ __forceinline__ uint32_t spread_pair(const uint16_t *from) {
    return even ? *(const uint32_t *)from : from[0] | (uint32_t)from[1] << 16;
}

/* Writes a pair of spread rows of eight pixels, of which so many are inside; the others become zeros. `whole`: all. */
template <bool whole>
static __device__ __forceinline__ void spread_write(uint32_t first, uint32_t second, const uint32_t *word,
                                                    int32_t inside, bool has_first, bool has_second) {
    uint32_t low[4], high[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const uint32_t kept = (2 * j < inside ? 0xFFFFu : 0) | (2 * j + 1 < inside ? 0xFFFF0000u : 0);
        low[j] = ((word[2 * j] & 0xFFFFu) | word[2 * j + 1] << 16) & (whole ? 0xFFFFFFFFu : kept);
        high[j] = (word[2 * j] >> 16 | (word[2 * j + 1] & 0xFFFF0000u)) & (whole ? 0xFFFFFFFFu : kept);
    }
    if (has_first) shared_write(first, low);
    if (has_second) shared_write(second, high);
}

/* A piece of a spread row. */
static __device__ __forceinline__ uint32_t spread_at(uint32_t to, int32_t row, int32_t piece) {
    return to + (uint32_t)(row * ROWS_ROW_BYTES + ((piece ^ (row & 7)) << 4));
}

/* What a thread spreads: eight pixels of every eighth line, whose rows of one tap all have the same swizzle. */
struct spread_share {
    const uint16_t *x; /* the first tap of the first pixel in the first line */
    uint32_t to;
    int32_t line, lines, piece, inside;
};

/* A pair of neighbouring taps, from `pair` on, and with it the pairs that lie whole pixels (`apart`) further: each sees
 * the words of the one before, from the second pixel on. */
template <int turns, bool whole>
static __device__ __forceinline__ void spread_taps(const spread_share &share, int32_t spread, int32_t box, int32_t step,
                                                   int32_t apart, int32_t pair, int32_t pairs, int32_t odd) {
    const bool even = turns > 1;
    uint32_t at[2 * turns], moved = 0;
#pragma unroll
    for (int j = 0; j < 2 * turns; j++)
        at[j] = spread_at(share.to, share.line * spread + 2 * (pair + j / 2 * apart) - odd + j % 2, share.piece);
    const uint16_t *x = share.x + 2 * pair;
    for (int32_t line = share.line; line < share.lines; line += SPREAD_LINES) {
        uint32_t word[SPREAD_PIECE + turns - 1];
#pragma unroll
        for (int j = 0; j < SPREAD_PIECE + turns - 1; j++) {
            const bool read = j < SPREAD_PIECE || pair + (j - SPREAD_PIECE + 1) * apart < pairs;
            word[j] = read ? spread_pair<even>(x + j * step) : 0;
        }
#pragma unroll
        for (int turn = 0; turn < turns; turn++) {
            const int32_t tap = 2 * (pair + turn * apart) - odd;
            spread_write<whole>(at[2 * turn] + moved, at[2 * turn + 1] + moved, word + turn, share.inside,
                                tap >= 0 && tap < spread, tap + 1 < spread);
        }
        x += SPREAD_LINES * box;
        moved += (uint32_t)(SPREAD_LINES * spread * ROWS_ROW_BYTES);
    }
}

/* Spreads the lines of a unit. Pairs of taps begin at even elements where pixels do (else each is read by itself), so
 * the first may have one tap, as may the last. `known`: elements from one output pixel to the next, where the compiler
 * is to know them; else 0. What is read of the argument stays in registers: it takes as long as shared memory, and
 * every write in between would have it read anew. */
template <int known, int turns>
static __device__ __forceinline__ void spread_lines(uint32_t to, const unsigned char *from,
                                                    const conv2d_rows_args &args, const conv2d_rows_plane &plane,
                                                    const spread_unit &unit, int32_t warp, int32_t warps) {
    const int32_t spread = plane.spread, step = known ? known : plane.step, box = plane.box;
    const int32_t box_bytes = plane.box_bytes, odd = plane.shift % 2, even_shift = plane.shift - odd;
    const int32_t pairs = (spread + odd + 1) / 2;
    const int32_t apart = turns > 1 ? step / 2 : pairs; /* pairs of a pixel */
    const int32_t all = args.unit_pixels / SPREAD_PIECE, pieces = 2 * unit.steps < all ? 2 * unit.steps : all;
    spread_share share;
    share.lines = (unit.rows - 1) * args.stride + args.filter_rows;
    share.to = to;
    for (int32_t i = warp * 32 + (int32_t)threadIdx.x % 32; i < pieces * SPREAD_LINES * apart; i += 32 * warps) {
        const int32_t of_line = i / apart, phase = i - of_line * apart;
        share.line = of_line % SPREAD_LINES;
        share.piece = of_line / SPREAD_LINES;
        share.inside = unit.pixels - SPREAD_PIECE * share.piece;
        share.x = (const uint16_t *)(from + share.piece / 2 * box_bytes) + even_shift + share.line * box +
                  share.piece % 2 * SPREAD_PIECE * step;
        for (int32_t pair = phase; pair < pairs; pair += turns * apart) {
            if (share.inside >= SPREAD_PIECE) {
                spread_taps<turns, true>(share, spread, box, step, apart, pair, pairs, odd);
            } else { /* the last piece of a line: rarely */
                spread_taps<turns, false>(share, spread, box, step, apart, pair, pairs, odd);
            }
        }
    }
}

/* Pieces of spread rows beyond the pixels of a unit, up to whole steps: zeros for good. */
static __device__ __forceinline__ void spread_clear(const conv2d_rows_args &args, const spread_memory &memory,
                                                    int32_t warp) {
    const int32_t piece = args.unit_pixels / SPREAD_PIECE, rows = ROWS_X_STAGES * args.spread_bytes / ROWS_ROW_BYTES;
    if (piece % 2 == 0) return;
    for (int32_t row = warp * 32 + (int32_t)threadIdx.x % 32; row < rows; row += 32 * memory.spreaders)
        shared_clear(spread_at(memory.spread, row, piece));
}

/* The warps that spread; `warp` of them counts from 0 on. */
static __device__ __forceinline__ void spread_all(const conv2d_rows_args &args, const spread_memory &memory,
                                                  const spread_work &work, int32_t warp) {
    const conv2d_rows_plane &plane = args.plane[work.plane];
    pipeline ring = pipeline_begin(memory.x_ring, ROWS_X_STAGES);
    pipeline made = pipeline_begin(memory.spread_ring, ROWS_X_STAGES);
    const unsigned char *x = (const unsigned char *)shared_memory() + (memory.x - memory.own);
    spread_unit unit;
    spread_clear(args, memory, warp);
    for (int32_t i = work.unit; spread_next_unit(args, plane, work, i, &unit); i++) {
        if (unit.blanked) continue;
        const uint32_t to = memory.spread + made.index * args.spread_bytes;
        const unsigned char *from = x + ring.index * args.x_bytes;
        barrier_wait(made.barriers + (uint32_t)(made.stages + made.index) * BARRIER_BYTES, made.parity ^ 1);
        pipeline_wait(ring);
        if (plane.step == 2) {
            spread_lines<2, 4>(to, from, args, plane, unit, warp, memory.spreaders);
        } else if (plane.step == 6) {
            spread_lines<6, 4>(to, from, args, plane, unit, warp, memory.spreaders);
        } else if (plane.step % 2 == 0) {
            spread_lines<0, 4>(to, from, args, plane, unit, warp, memory.spreaders);
        } else {
            spread_lines<0, 1>(to, from, args, plane, unit, warp, memory.spreaders);
        }
        fence_async();
        __syncwarp();
        if (threadIdx.x % 32 == 0) barrier_arrive(pipeline_full(made));
        pipeline_free(ring);
        pipeline_next(&ring);
        pipeline_next(&made);
    }
}

#endif
