/*
 * The sizes of the tiles of the convolutions on sm_80's tensor cores, for kernels and their launcher alike.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_MMA_MMA_TILE_H
#define BRAID_KERNELS_CUDA_CONV_MMA_MMA_TILE_H

#define MMA_THREADS 256
#define MMA_ROWS 128 /* of a block, as its ... */
#define MMA_COLUMNS 128
#define MMA_DEPTH 32 /* terms of the sums in one stage; half of that in f32 */
#define MMA_STAGES 4 /* loads under way, and the one that is multiplied */
#define MMA_PIECE 8  /* numbers of one copy: 16 bytes; half of that in f32 */
#define MMA_MOST_STRIDE 8
#define MMA_WORD_GAP 8 /* numbers between the terms of an operand of f32 that lies across */

/* Bytes of dynamic shared memory of a block, and of one that multiplies f32. */
#define MMA_SHARED (MMA_STAGES * (MMA_ROWS + MMA_COLUMNS) * MMA_DEPTH * 2)
#define MMA_SHARED_F32 (MMA_STAGES * (MMA_ROWS + MMA_COLUMNS + 2 * MMA_WORD_GAP) * MMA_DEPTH * 2)

#endif
