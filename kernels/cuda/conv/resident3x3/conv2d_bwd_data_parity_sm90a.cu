/*
 * conv2d data gradient, 3x3 at stride 2, on the matrix units of sm_90a: dy is loaded once for the four classes of
 * pixels. A row of a strip at a time where all weights stay in shared memory (resident_parity.cuh), else tiles of
 * 64 channels x 128 or 160 pixels of dy (resident3x3.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/resident3x3/resident_parity.cuh"

ENTRY_HALVES(conv2d_bwd_data_parity_rows72, (RESIDENT_THREADS, 1), resident_parity_args,
             conv2d_resident3x3_parity<number, RESIDENT_PARITY_ROW_PIXELS>(args))

#define TILES(tile, channels, pixels)                                                       \
    ENTRY_HALVES(conv2d_bwd_data_parity_##tile, (RESIDENT_THREADS, 1), resident_tiles_args, \
                 conv2d_resident3x3<number, channels, pixels, true, 4>(args))
RESIDENT_PARITY_TILES(TILES)
