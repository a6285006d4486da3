/*
 * conv2d forward on the matrix units, for any filter, stride and dilation: implicit_gemm.cuh over x. The name of a
 * function says what the two warpgroups of a block divide, and how many pixels each multiplies.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/implicit_gemm/implicit_gemm.cuh"

#define TILES(tile, columns, split, sums)                                             \
    ENTRY_HALVES(conv2d_fwd_##tile, (IMPLICIT_THREADS, 1), conv2d_implicit_gemm_args, \
                 implicit_run<implicit_shape<number, columns, split, sums, 0>>(args))
IMPLICIT_LANES_TILES(TILES)
IMPLICIT_PIXELS_TILES(TILES)
