/*
 * conv2d forward, 3x3 at stride 1, on the matrix units of sm_90a. resident3x3.cuh and resident_rows.cuh say how; names
 * tell the output channels x pixels of a tile (conv2d_resident3x3.h), or the pixels of a row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/resident3x3/resident3x3.cuh"
#include "kernels/cuda/conv/resident3x3/resident_rows.cuh"

#define TILES(tile, channels, pixels)                                                       \
    ENTRY_HALVES(conv2d_fwd_resident3x3_##tile, (RESIDENT_THREADS, 1), resident_tiles_args, \
                 conv2d_resident3x3<number, channels, pixels, false>(args))
RESIDENT_TILES(TILES)

ENTRY_HALVES(conv2d_fwd_resident3x3_rows136, (RESIDENT_THREADS, 1), resident_rows_args,
             conv2d_resident3x3_rows<number, RESIDENT_ROW_PIXELS, false>(args))
ENTRY_HALVES(conv2d_bn_stats_resident3x3_rows136, (RESIDENT_THREADS, 1), resident_bn_stats_args,
             conv2d_resident3x3_rows<number, RESIDENT_ROW_PIXELS, false, row_moments<number>>(args))
ENTRY_HALVES(
    bn_act_conv2d_resident3x3_rows136, (RESIDENT_THREADS, 1), resident_norm_args,
    conv2d_resident3x3_rows<number, RESIDENT_ROW_PIXELS, false, no_row_moments, resident_norm_relu<number>>(args))
