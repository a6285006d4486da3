/*
 * The last stage of li_conv2d's weight gradient for few input channels: adds the parts of G, H and dv in their order,
 * and dw = G + v^T H (li_conv2d_rows.h), in f32 with one rounding. A block has some taps of all filters,
 * or some elements of dv.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/few_channels/li_conv2d_rows.h"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/tile/schedule.cuh"

#define HALF_INTEGRATED (ROWS_FILTERS / 2)

/* The sum of all parts of an element. */
static __device__ __forceinline__ float add_parts(const li_conv2d_mix_args &args, int64_t element) {
    const float *from = args.workspace + element;
    float sum = 0;
#pragma unroll 16
    for (int32_t part = 0; part < args.parts; part++, from += args.part_elements) sum += *from;
    return sum;
}

/* In shared memory: G and H of the block's taps, and v^T H of half of the integrated channels. */
struct mix_room {
    float total[2 * ROWS_FILTERS][LI_MIX_TAPS + 1];
    float mixed[ROWS_FILTERS * LI_MIX_TAPS];
};

/* A thread adds the parts of one element of G or H; then half of the integrated channels of one weight. */
template <class number>
static __device__ __forceinline__ void mix_taps(const li_conv2d_mix_args &args, const li_conv2d_mix_plane &plane,
                                                int32_t first_tap, mix_room &room) {
    const int32_t thread = (int32_t)threadIdx.x, row = thread / LI_MIX_TAPS, column = thread % LI_MIX_TAPS;
    const bool is_mixed = row >= ROWS_FILTERS;
    const int32_t own = row % ROWS_FILTERS, rows = is_mixed ? args.integrated : plane.filters;
    const int32_t filter = thread % ROWS_FILTERS, tap = thread / ROWS_FILTERS % LI_MIX_TAPS;
    const int32_t half = thread / (ROWS_FILTERS * LI_MIX_TAPS), first = half * HALF_INTEGRATED;
    float v[HALF_INTEGRATED], sum = 0;
#pragma unroll
    for (int32_t j = 0; j < HALF_INTEGRATED; j++) {
        const bool inside = first + j < args.integrated && filter < plane.filters;
        v[j] = inside ? load((const number *)plane.v + (first + j) * plane.filters + filter) : 0;
    }
    if (own < rows && first_tap + column < plane.taps)
        sum = add_parts(args, (is_mixed ? plane.mixed : plane.gradient) + own * plane.taps + first_tap + column);
    room.total[row][column] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int32_t j = 0; j < HALF_INTEGRATED; j++) sum += v[j] * room.total[ROWS_FILTERS + first + j][tap];
    if (half == 1) room.mixed[thread - ROWS_FILTERS * LI_MIX_TAPS] = sum;
    __syncthreads();
    if (half == 1 || filter >= plane.filters || first_tap + tap >= plane.taps) return;
    store((number *)plane.dw + filter * plane.taps + first_tap + tap,
          room.total[filter][tap] + sum + room.mixed[thread]);
}

template <class number>
static __device__ __forceinline__ void li_conv2d_mix(const li_conv2d_mix_args &args, mix_room &room) {
    const int i = schedule_plane(args.first_block, args.planes);
    const li_conv2d_mix_plane &plane = args.plane[i];
    const int32_t block = (int32_t)blockIdx.x - args.first_block[i];
    const int32_t tap_blocks = (plane.taps + LI_MIX_TAPS - 1) / LI_MIX_TAPS;
    if (block < tap_blocks) {
        mix_taps<number>(args, plane, block * LI_MIX_TAPS, room);
        return;
    }
    const int32_t element = (block - tap_blocks) * LI_MIX_THREADS + (int32_t)threadIdx.x;
    if (element < args.integrated * plane.filters)
        store((number *)plane.dv + element, add_parts(args, plane.mix + element));
}

ENTRY_HALVES(li_conv2d_mix, (LI_MIX_THREADS), li_conv2d_mix_args, __shared__ mix_room room;
             li_conv2d_mix<number>(args, room))
