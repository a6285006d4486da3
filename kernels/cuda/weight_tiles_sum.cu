/*
 * The second stage of the weight gradients by tiles: adds the partial tiles of every tile in the order of the CTAs
 * that left them, and writes dw. One thread adds four neighbouring accumulators; where many CTAs share a tile, four
 * threads take a quarter of them each, and the quarters are added in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/number.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/weight_tiles.h"

struct four {
    alignas(16) float at[4];
};

/* The CTA whose run holds a unit. */
static __device__ __forceinline__ int32_t cta_of(const weight_tiles_args &args, int64_t unit) {
    return (int32_t)(((unit + 1) * args.ctas - 1) / args.units);
}

static __device__ __forceinline__ void add(four *sum, const four &other) {
#pragma unroll
    for (int i = 0; i < 4; i++) sum->at[i] += other.at[i];
}

/* Two neighbouring channels of one filter, as far as they exist. */
template <class number>
static __device__ __forceinline__ void put_pair(const weight_tiles_plane &plane, int64_t at, int32_t channel,
                                                const float *values) {
    number *to = (number *)plane.dw + at;
    alignas(4) number both[2];
    store(&both[0], values[0]);
    store(&both[1], values[1]);
    if (channel + 1 < plane.channels && plane.channels % 2 == 0) {
        write_bytes<4>(to, both);
        return;
    }
    if (channel < plane.channels) to[0] = both[0];
    if (channel + 1 < plane.channels) to[1] = both[1];
}

/* Writes accumulators 4 j to 4 j + 3 of one thread of the first stage: two filters, two channels each. */
template <class number>
static __device__ __forceinline__ void put(const weight_tiles_args &args, const weight_tiles_plane &plane, int32_t tile,
                                           int32_t element, const four &sum) {
    const int32_t octets = args.warpgroup_blocks * (WEIGHT_BLOCK / 8), thread = element % 128;
    const int32_t octet = element / 128 % octets, warpgroup = element / 128 / octets;
    const int32_t column = octet * 8 + thread % 4 * 2, taps = args.filter[0] * args.filter[1];
    const int32_t tile_row = (tile - plane.first_tile) / plane.column_tiles;
    int32_t block = (tile - plane.first_tile) % plane.column_tiles * args.tile_blocks + column / WEIGHT_BLOCK;
    int32_t filter = tile_row * args.tile_rows + thread / 32 * 16 + thread % 32 / 4;
    if (args.stacked)
        filter += warpgroup * 64;
    else
        block += warpgroup * args.warpgroup_blocks;
    const int32_t tap = block % taps, channel = block / taps * WEIGHT_BLOCK + column % WEIGHT_BLOCK;
    for (int i = 0; i < 2; i++, filter += 8) {
        if (filter < plane.filters && channel < plane.channels)
            put_pair<number>(plane, ((int64_t)filter * taps + tap) * plane.channels + channel, channel, &sum.at[2 * i]);
    }
}

template <class number>
static __device__ __forceinline__ void weight_tiles_sum(const weight_tiles_args &args, four *shared) {
    const int32_t elements = args.tile_rows * args.tile_blocks * (WEIGHT_BLOCK / 4);
    const int32_t lanes = BLOCK_THREADS / args.slices, blocks = elements / lanes;
    const int32_t tile = (int32_t)blockIdx.x / blocks, lane = (int32_t)threadIdx.x % lanes;
    const int32_t slice = (int32_t)threadIdx.x / lanes, element = (int32_t)blockIdx.x % blocks * lanes + lane;
    const int64_t tile_units = args.units / args.tiles;
    const int32_t first = cta_of(args, tile * tile_units), last = cta_of(args, (tile + 1) * tile_units - 1);
    const int32_t parts = last + 1 - first;
    const four *from = (const four *)args.workspace + (int64_t)(first + tile) * elements + element;

    four sum = {{0, 0, 0, 0}};
#pragma unroll 4
    for (int32_t part = slice * parts / args.slices; part < (slice + 1) * parts / args.slices; part++) {
        four read;
        read_bytes<16>(&read, from + (int64_t)part * elements);
        add(&sum, read);
    }
    if (args.slices > 1) {
        shared[threadIdx.x] = sum;
        __syncthreads();
        for (int32_t other = 1; slice == 0 && other < args.slices; other++) add(&sum, shared[other * lanes + lane]);
    }
    if (slice) return;
    int plane = 0;
    while (plane + 1 < args.planes && tile >= args.plane[plane + 1].first_tile) plane++;
    put<number>(args, args.plane[plane], tile, element, sum);
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
