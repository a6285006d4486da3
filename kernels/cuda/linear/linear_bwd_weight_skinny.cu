/*
 * linear and linear_act weight gradient on small and skinny matrices: dw = g^T x and dbias = the column sums of g, with
 * g = dy f'(u), all streams in one launch. Many samples are cut into parts, whose sums weight_sum.cu adds in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/linear/skinny.cuh"

/* The tile of the only part, as dw has it. */
template <class number, int tile, int width>
static __device__ __forceinline__ void write_weights(const skinny_plane &plane, const skinny_work &work,
                                                     const float *sums) {
    for (int32_t i = (int32_t)threadIdx.x * width; i < tile * tile; i += SKINNY_THREADS * width) {
        const int32_t row = work.row + i / tile, column = work.column + i % tile;
        if (row >= plane.rows || column >= plane.columns) continue;
        float total[width];
        skinny_total<number, tile>(total, sums, i);
        pack_write((number *)plane.out + row * plane.out_pitch + column, total, width);
    }
}

/* The tile of one part of several. */
template <class number, int tile>
static __device__ __forceinline__ void write_part(const skinny_args &args, const skinny_work &work, const float *sums) {
    const skinny_plane &plane = args.plane[work.plane];
    float *to = args.workspace + work.part * args.part_elements + plane.partial;
    const int64_t pitch = plane.columns + (plane.bias ? 1 : 0);
    for (int32_t i = (int32_t)threadIdx.x; i < tile * tile; i += SKINNY_THREADS) {
        const int32_t row = work.row + i / tile, column = work.column + i % tile;
        if (row >= plane.rows || column >= plane.columns) continue;
        float total[1];
        skinny_total<number, tile>(total, sums, i);
        to[row * pitch + column] = total[0];
    }
}

/* The gradient of the bias, by the first threads of the blocks of the first columns. */
template <class number, int tile>
static __device__ __forceinline__ void write_bias(const skinny_args &args, const skinny_work &work, const float *sums) {
    const int groups = SKINNY_GROUPS(tile, (int)sizeof(number));
    const skinny_plane &plane = args.plane[work.plane];
    const int32_t row = work.row + (int32_t)threadIdx.x;
    if (work.column != 0 || (int32_t)threadIdx.x >= tile || row >= plane.rows) return;
    const float *from = sums + groups * tile * SKINNY_SUM_PITCH(tile) + threadIdx.x;
    float total = from[0];
    for (int g = 1; g < groups; g++) total += from[g * tile];
    if (args.parts == 1) {
        store((number *)plane.bias + row, total);
    } else {
        args.workspace[work.part * args.part_elements + plane.partial + (int64_t)row * (plane.columns + 1) +
                       plane.columns] = total;
    }
}

template <class number, int tile> static __device__ __forceinline__ void linear_bwd_weight(const skinny_args &args) {
    number *shared = (number *)shared_memory();
    const skinny_work work = skinny_begin(args, tile);
    const skinny_plane &plane = args.plane[work.plane];
    const int32_t begin = work.part * args.part_terms, end = begin + args.part_terms;
    skinny_source left = {}, right = {};
    left.begin = right.begin = begin < plane.terms ? begin : plane.terms;
    left.end = right.end = end < plane.terms ? end : plane.terms;
    left.mask = right.mask = plane.mask;
    left.data = (const number *)plane.left + work.row;
    left.pitch = plane.left_pitch;
    left.rows = plane.rows - work.row;
    left.aligned = plane.left_aligned;
    right.data = (const number *)plane.right + work.column;
    right.pitch = plane.right_pitch;
    right.rows = plane.columns - work.column;
    right.aligned = plane.right_aligned;
    const number *slope = plane.slope ? (const number *)plane.slope + work.row : NULL;
    if (plane.bias && work.column == 0) {
        skinny_run<number, tile, false, false, true>(shared, left, right, slope, args.activation);
        write_bias<number, tile>(args, work, (const float *)shared);
    } else {
        skinny_run<number, tile, false, false, false>(shared, left, right, slope, args.activation);
    }
    if (args.parts > 1) {
        write_part<number, tile>(args, work, (const float *)shared);
    } else if (plane.out_aligned) {
        write_weights<number, tile, widest<number>::width>(plane, work, (const float *)shared);
    } else {
        write_weights<number, tile, 1>(plane, work, (const float *)shared);
    }
}

ENTRY_FORMATS(linear_bwd_weight_skinny16, (SKINNY_THREADS), skinny_args, linear_bwd_weight<number, 16>(args))
ENTRY_FORMATS(linear_bwd_weight_skinny32, (SKINNY_THREADS), skinny_args, linear_bwd_weight<number, 32>(args))
ENTRY_FORMATS(linear_bwd_weight_skinny64, (SKINNY_THREADS), skinny_args, linear_bwd_weight<number, 64>(args))
