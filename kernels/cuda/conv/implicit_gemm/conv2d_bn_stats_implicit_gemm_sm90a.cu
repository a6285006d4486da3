/*
 * conv2d_bn_stats on the matrix units, for any filter, stride and dilation: conv2d's forward pass (implicit_gemm.cuh
 * over x), whose epilogue takes the statistics of what it stores. The two warpgroups of a block divide the lanes; the
 * name of a function says how many pixels each multiplies.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/implicit_gemm/implicit_gemm.cuh"

#define TILES(tile, columns, split, sums)                                                  \
    ENTRY_HALVES(conv2d_bn_stats_##tile, (IMPLICIT_THREADS, 1), conv2d_implicit_gemm_args, \
                 implicit_run<implicit_shape<number, columns, split, sums, 0>>(args))
IMPLICIT_BN_STATS_TILES(TILES)
