/*
 * The sum of parts that lie as accumulators do (weight_tiles.h), of tiles that many CTAs share: adds the
 * parts of every tile in the order of the CTAs that left them, and writes dw. A thread block takes one block of a tile
 * (64 filters, 64 channels of one tap), and each thread four sums of four accumulators. Where still more CTAs share a
 * tile, a thread block has a sixteenth of that, and four threads add a quarter of the parts each; the quarters are
 * added in order. Sums are short, so what the fours of a thread block have in common is found once: divisions for each
 * would take longer than reading them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_REDUCE_SUM_TILES_CUH
#define BRAID_KERNELS_CUDA_REDUCE_SUM_TILES_CUH

#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/reduce/weight_units.cuh"
#include "kernels/cuda/reduce/weight_sum.h"

struct sum_four {
    alignas(16) float at[4];
};

/* Where the fours of a thread block go. */
struct sum_place {
    int32_t filter, channel; /* the first of the block */
    int64_t tap;             /* elements from a filter to this tap of its first channel */
    int64_t filter_elements; /* from one filter to the next */
};

static __device__ __forceinline__ void add_four(sum_four *sum, const sum_four &other) {
#pragma unroll
    for (int i = 0; i < 4; i++) sum->at[i] += other.at[i];
}

static __device__ __forceinline__ sum_place find_sum_place(const weight_sum_tiles &of, int32_t tile, int32_t block) {
    const int32_t tile_row = tile / of.column_tiles, tile_column = tile - tile_row * of.column_tiles;
    const int32_t warpgroup = of.stacked ? block / of.warpgroup_blocks : 0;
    const int32_t column = tile_column * of.tile_blocks + block - warpgroup * of.warpgroup_blocks;
    const int32_t channels = column / of.taps;
    sum_place at;
    at.filter = tile_row * of.tile_rows + warpgroup * 64;
    at.channel = channels * WEIGHT_BLOCK;
    at.tap = (int64_t)(column - channels * of.taps) * of.channels;
    at.filter_elements = (int64_t)of.taps * of.channels;
    return at;
}

/* Two neighbouring channels of one filter, as far as they exist. */
template <class number>
static __device__ __forceinline__ void put_pair(const weight_sum_plane &plane, const sum_place &at, int32_t filter,
                                                int32_t channel, const float *values) {
    const int32_t channels = plane.as.tiles.channels;
    if (filter >= plane.as.tiles.filters || channel >= channels) return;
    number *to = (number *)plane.w + filter * at.filter_elements + at.tap + channel;
    alignas(4) number both[2];
    store(&both[0], values[0]);
    store(&both[1], values[1]);
    if (channels % 2 == 0) {
        write_bytes<4>(to, both);
        return;
    }
    to[0] = both[0];
    if (channel + 1 < channels) to[1] = both[1];
}

/* One four of a block, [eight columns][thread of the first stage]: two filters, two channels each. */
static __device__ __forceinline__ void put_four(const weight_sum_plane &plane, const sum_place &at, int32_t element,
                                                const sum_four &sum) {
    const int32_t thread = element % 128, channel = at.channel + element / 128 * 8 + thread % 4 * 2;
    const int32_t filter = at.filter + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int second = 0; second < 2; second++) {
        if (plane.dtype == BRAID_DTYPE_F16) {
            put_pair<f16>(plane, at, filter + 8 * second, channel, &sum.at[2 * second]);
        } else {
            put_pair<bf16>(plane, at, filter + 8 * second, channel, &sum.at[2 * second]);
        }
    }
}

/* Adds some parts of a thread's fours, which lie BLOCK_THREADS apart from each other; `step` fours behind each lies
 * that of the next part. */
template <int count>
static __device__ __forceinline__ void add_parts(sum_four (&sums)[count], const sum_four *from, int32_t parts,
                                                 int32_t step) {
#pragma unroll
    for (int i = 0; i < count; i++) sums[i] = {{0, 0, 0, 0}};
#pragma unroll(count == 1 ? 8 : 2)
    for (int32_t part = 0; part < parts; part++, from += step) {
        sum_four read[count];
#pragma unroll
        for (int i = 0; i < count; i++) read_bytes<16>(&read[i], from + i * BLOCK_THREADS);
#pragma unroll
        for (int i = 0; i < count; i++) add_four(&sums[i], read[i]);
    }
}

/* For all threads of a plane's block; `shared` is shared memory. */
static __device__ __forceinline__ void sum_tiles(const weight_sum_plane &plane, int32_t block,
                                                 sum_four (&shared)[BLOCK_THREADS]) {
    const weight_sum_tiles &of = plane.as.tiles;
    const int32_t tile_fours = of.tile_rows * of.tile_blocks * (WEIGHT_BLOCK / 4), fours = of.fours;
    const int32_t chunks = tile_fours / fours, tile = block / chunks, first_four = (block - tile * chunks) * fours;
    const int64_t of_all = of.first_tile + tile;
    const weight_sharers by = weight_find_sharers(of_all, of.tile_units, of.units, of.ctas);
    const sum_four *from = (const sum_four *)plane.from + (by.first + of_all) * tile_fours + first_four;
    const sum_place at = find_sum_place(of, tile, first_four / WEIGHT_BLOCK_FOURS);

    if (plane.slices == 1) {
        sum_four sums[WEIGHT_BLOCK_FOURS / BLOCK_THREADS];
        add_parts(sums, from + threadIdx.x, by.parts, tile_fours);
#pragma unroll
        for (int i = 0; i < WEIGHT_BLOCK_FOURS / BLOCK_THREADS; i++)
            put_four(plane, at, i * BLOCK_THREADS + (int32_t)threadIdx.x, sums[i]);
        return;
    }
    const int32_t lane = (int32_t)threadIdx.x % fours, slice = (int32_t)threadIdx.x / fours;
    const int32_t begin = slice * by.parts / plane.slices, end = (slice + 1) * by.parts / plane.slices;
    sum_four sum[1];
    add_parts(sum, from + lane + (int64_t)begin * tile_fours, end - begin, tile_fours);
    shared[threadIdx.x] = sum[0];
    __syncthreads();
    if (slice) return;
    for (int32_t other = 1; other < plane.slices; other++) add_four(&sum[0], shared[other * fours + lane]);
    put_four(plane, at, first_four % WEIGHT_BLOCK_FOURS + lane, sum[0]);
}

#endif
