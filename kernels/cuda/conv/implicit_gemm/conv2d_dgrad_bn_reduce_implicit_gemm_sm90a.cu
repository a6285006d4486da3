/*
 * conv2d_dgrad_bn_reduce on the matrix units, for any filter at stride 1: conv2d's data gradient (implicit_gemm.cuh
 * over dy), whose epilogue adds up what it stores. The two warpgroups of a block divide the lanes; the name of a
 * function says how many pixels each multiplies, and `_x` that it reads the ReLU off x.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/implicit_gemm/implicit_gemm.cuh"

#define TILES(tile, columns, split, sums)                                                         \
    ENTRY_HALVES(conv2d_dgrad_bn_reduce_##tile, (IMPLICIT_THREADS, 1), conv2d_implicit_gemm_args, \
                 implicit_run<implicit_shape<number, columns, split, sums, 1>>(args))
IMPLICIT_BN_REDUCE_TILES(TILES)

#define TILES_X(tile, columns, split, sums)                                                         \
    ENTRY_HALVES(conv2d_dgrad_bn_reduce_x_##tile, (IMPLICIT_THREADS, 1), conv2d_implicit_gemm_args, \
                 implicit_run<implicit_shape<number, columns, split, sums, 1>>(args))
IMPLICIT_BN_REDUCE_X_TILES(TILES_X)
