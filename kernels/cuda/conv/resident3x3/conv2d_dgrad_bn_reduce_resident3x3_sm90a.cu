/*
 * conv2d_dgrad_bn_reduce, 3x3 at stride 1, on the matrix units of sm_90a: the data gradient with its sums
 * (resident_bn_reduce.cuh). `_x`: what x gets from elsewhere is added, and the ReLU is read off x.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/resident3x3/resident_bn_reduce.cuh"

ENTRY_HALVES(conv2d_dgrad_bn_reduce_resident3x3_rows136, (RESIDENT_THREADS, 1), resident_bn_reduce_args,
             conv2d_resident_bn_reduce<number, RESIDENT_ROW_PIXELS, false>(args))
ENTRY_HALVES(conv2d_dgrad_bn_reduce_x_resident3x3_rows136, (RESIDENT_THREADS, 1), resident_bn_reduce_x_args,
             conv2d_resident_bn_reduce<number, RESIDENT_ROW_PIXELS, true>(args))
