/*
 * The second stage of the weight gradients by tiles that many CTAs share: adds the parts of every tile in the order of
 * the CTAs that left them, and writes dw. A thread block takes one block of a tile (64 filters, 64 channels of one
 * tap), and each thread four sums of four accumulators. Where still more CTAs share a tile, a thread block has a
 * sixteenth of that, and four threads add a quarter of the parts each; the quarters are added in order. Sums are short,
 * so what the fours of a thread block have in common is found once: divisions for each would take longer than reading
 * them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/number.cuh"
#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/tile/weight_units.cuh"
#include "kernels/cuda/weight_tiles.h"

struct four {
    alignas(16) float at[4];
};

/* Where the fours of a thread block go. */
struct place {
    int32_t filter, channel; /* the first of the block */
    int64_t tap;             /* elements from a filter to this tap of its first channel */
    int64_t filter_elements; /* from one filter to the next */
};

static __device__ __forceinline__ void add(four *sum, const four &other) {
#pragma unroll
    for (int i = 0; i < 4; i++) sum->at[i] += other.at[i];
}

static __device__ __forceinline__ place find_place(const weight_tiles_args &args, const weight_tiles_plane &plane,
                                                   int32_t tile, int32_t block) {
    const int32_t taps = args.filter[0] * args.filter[1], in_plane = tile - plane.first_tile;
    const int32_t tile_row = in_plane / plane.column_tiles, tile_column = in_plane - tile_row * plane.column_tiles;
    const int32_t warpgroup = args.stacked ? block / args.warpgroup_blocks : 0;
    const int32_t column = tile_column * args.tile_blocks + block - warpgroup * args.warpgroup_blocks;
    const int32_t channels = column / taps;
    place at;
    at.filter = tile_row * args.tile_rows + warpgroup * 64;
    at.channel = channels * WEIGHT_BLOCK;
    at.tap = (int64_t)(column - channels * taps) * plane.channels;
    at.filter_elements = (int64_t)taps * plane.channels;
    return at;
}

/* Two neighbouring channels of one filter, as far as they exist. */
template <class number>
static __device__ __forceinline__ void put_pair(const weight_tiles_plane &plane, const place &at, int32_t filter,
                                                int32_t channel, const float *values) {
    if (filter >= plane.filters || channel >= plane.channels) return;
    number *to = (number *)plane.dw + filter * at.filter_elements + at.tap + channel;
    alignas(4) number both[2];
    store(&both[0], values[0]);
    store(&both[1], values[1]);
    if (plane.channels % 2 == 0) {
        write_bytes<4>(to, both);
        return;
    }
    to[0] = both[0];
    if (channel + 1 < plane.channels) to[1] = both[1];
}

/* One four of a block, [eight columns][thread of the first stage]: two filters, two channels each. */
template <class number>
static __device__ __forceinline__ void put(const weight_tiles_plane &plane, const place &at, int32_t element,
                                           const four &sum) {
    const int32_t thread = element % 128, channel = at.channel + element / 128 * 8 + thread % 4 * 2;
    const int32_t filter = at.filter + thread / 32 * 16 + thread % 32 / 4;
    put_pair<number>(plane, at, filter, channel, &sum.at[0]);
    put_pair<number>(plane, at, filter + 8, channel, &sum.at[2]);
}

/* Adds some parts of a thread's fours, which lie BLOCK_THREADS apart from each other; `step` fours behind each lies
 * that of the next part. */
template <int count>
static __device__ __forceinline__ void add_parts(four (&sums)[count], const four *from, int32_t parts, int32_t step) {
#pragma unroll
    for (int i = 0; i < count; i++) sums[i] = {{0, 0, 0, 0}};
#pragma unroll 2
    for (int32_t part = 0; part < parts; part++, from += step) {
        four read[count];
#pragma unroll
        for (int i = 0; i < count; i++) read_bytes<16>(&read[i], from + i * BLOCK_THREADS);
#pragma unroll
        for (int i = 0; i < count; i++) add(&sums[i], read[i]);
    }
}

template <class number>
static __device__ __forceinline__ void weight_tiles_sum(const weight_tiles_args &args, four *shared) {
    const int32_t tile_fours = args.tile_rows * args.tile_blocks * (WEIGHT_BLOCK / 4);
    const int32_t fours = args.sum_fours, chunks = tile_fours / fours;
    const int32_t tile = (int32_t)blockIdx.x / chunks, first_four = ((int32_t)blockIdx.x - tile * chunks) * fours;
    const weight_sharers of = weight_find_sharers(args, tile);
    const four *from = (const four *)args.workspace + (int64_t)(of.first + tile) * tile_fours + first_four;
    int plane = 0;
    while (plane + 1 < args.planes && tile >= args.plane[plane + 1].first_tile) plane++;
    const place at = find_place(args, args.plane[plane], tile, first_four / WEIGHT_BLOCK_FOURS);

    if (args.slices == 1) {
        four sums[WEIGHT_BLOCK_FOURS / BLOCK_THREADS];
        add_parts(sums, from + threadIdx.x, of.parts, tile_fours);
#pragma unroll
        for (int i = 0; i < WEIGHT_BLOCK_FOURS / BLOCK_THREADS; i++)
            put<number>(args.plane[plane], at, i * BLOCK_THREADS + (int32_t)threadIdx.x, sums[i]);
        return;
    }
    const int32_t lane = (int32_t)threadIdx.x % fours, slice = (int32_t)threadIdx.x / fours;
    const int32_t begin = slice * of.parts / args.slices, end = (slice + 1) * of.parts / args.slices;
    four sum[1];
    add_parts(sum, from + lane + (int64_t)begin * tile_fours, end - begin, tile_fours);
    shared[threadIdx.x] = sum[0];
    __syncthreads();
    if (slice) return;
    for (int32_t other = 1; other < args.slices; other++) add(&sum[0], shared[other * fours + lane]);
    put<number>(args.plane[plane], at, first_four % WEIGHT_BLOCK_FOURS + lane, sum[0]);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_tiles_sum_f16(const __grid_constant__ weight_tiles_args args) {
    __shared__ four shared[BLOCK_THREADS];
    weight_tiles_sum<f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    weight_tiles_sum_bf16(const __grid_constant__ weight_tiles_args args) {
    __shared__ four shared[BLOCK_THREADS];
    weight_tiles_sum<bf16>(args, shared);
}
