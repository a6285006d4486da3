/*
 * conv2d data gradient, 3x3 at stride 1, on the matrix units of sm_90a: a convolution of dy with the filters turned
 * around, which are read as they lie in memory (resident3x3.cuh, resident_rows.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/resident3x3/resident3x3.cuh"
#include "kernels/cuda/conv/resident3x3/resident_rows.cuh"

#define TILES(tile, channels, pixels)                                                            \
    ENTRY_HALVES(conv2d_bwd_data_resident3x3_##tile, (RESIDENT_THREADS, 1), resident_tiles_args, \
                 conv2d_resident3x3<number, channels, pixels, true>(args))
RESIDENT_TILES(TILES)

ENTRY_HALVES(conv2d_bwd_data_resident3x3_rows136, (RESIDENT_THREADS, 1), resident_rows_args,
             conv2d_resident3x3_rows<number, RESIDENT_ROW_PIXELS, true>(args))
