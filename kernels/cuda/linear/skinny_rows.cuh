/*
 * Skinny products whose rows are samples: the forward pass and the data gradient of a linear layer. A blanked sample is
 * a row of zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LINEAR_SKINNY_ROWS_CUH
#define BRAID_KERNELS_CUDA_LINEAR_SKINNY_ROWS_CUH

#include "kernels/cuda/linear/skinny.cuh"

/* Adds the bias, keeps u, activates, and writes the tile: zeros in the lanes behind the last column. */
template <class number, int tile, int width>
static __device__ __forceinline__ void skinny_write_rows(const skinny_args &args, const skinny_work &work,
                                                         int32_t activation, const float *sums) {
    const skinny_plane &plane = args.plane[work.plane];
    for (int32_t i = (int32_t)threadIdx.x * width; i < tile * tile; i += SKINNY_THREADS * width) {
        const int32_t row = work.row + i / tile, column = work.column + i % tile;
        if (row >= plane.rows || column >= plane.lanes) continue;
        const bool blanked = mask_blanks(plane.mask, row);
        float u[width], y[width];
        skinny_total<number, tile>(u, sums, i);
#pragma unroll
        for (int j = 0; j < width; j++) {
            const bool live = !blanked && column + j < plane.columns;
            if (live && plane.bias) u[j] += load((const number *)plane.bias + column + j);
            if (!live) u[j] = 0;
            y[j] = live ? act_value(activation, u[j]) : 0;
        }
        const int64_t at = row * plane.out_pitch + column;
        pack_write((number *)plane.out + at, y, width);
        if (plane.kept) pack_write((number *)plane.kept + at, u, width);
    }
}

/* The right operand lies along the terms (fwd) or across them (bwd_data). */
template <class number, int tile, bool right_along>
static __device__ __forceinline__ void skinny_rows(const skinny_args &args) {
    number *shared = (number *)shared_memory();
    const skinny_work work = skinny_begin(args, tile);
    const skinny_plane &plane = args.plane[work.plane];
    const int64_t left_at = work.row * plane.left_pitch, right_at = work.column * (right_along ? plane.right_pitch : 1);
    skinny_source left = {}, right = {};
    left.data = (const number *)plane.left + left_at;
    left.pitch = plane.left_pitch;
    left.rows = plane.rows - work.row;
    left.end = right.end = plane.terms;
    left.aligned = plane.left_aligned;
    right.data = (const number *)plane.right + right_at;
    right.pitch = plane.right_pitch;
    right.rows = plane.columns - work.column;
    right.aligned = plane.right_aligned;
    skinny_run<number, tile, true, right_along, false>(
        shared, left, right, plane.slope ? (const number *)plane.slope + left_at : NULL, args.activation);
    const int32_t after = right_along ? args.activation : BRAID_ACTIVATION_NONE;
    if (plane.out_aligned) {
        skinny_write_rows<number, tile, widest<number>::width>(args, work, after, (const float *)shared);
    } else {
        skinny_write_rows<number, tile, 1>(args, work, after, (const float *)shared);
    }
}

#endif
