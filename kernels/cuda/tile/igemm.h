/*
 * The sizes of the tiles of the convolutions on sm_80's tensor cores, for kernels and their launcher alike.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_IGEMM_H
#define BRAID_KERNELS_CUDA_TILE_IGEMM_H

#define IGEMM_THREADS 256
#define IGEMM_ROWS 128 /* of a block, as its ... */
#define IGEMM_COLUMNS 128
#define IGEMM_DEPTH 32 /* terms of the sums in one stage; half of that in f32 */
#define IGEMM_STAGES 4 /* loads under way, and the one that is multiplied */
#define IGEMM_PIECE 8  /* numbers of one copy: 16 bytes; half of that in f32 */
#define IGEMM_MOST_STRIDE 8
#define IGEMM_WORD_GAP 8 /* numbers between the terms of an operand of f32 that lies across */

/* Bytes of dynamic shared memory of a block, and of one that multiplies f32. */
#define IGEMM_SHARED (IGEMM_STAGES * (IGEMM_ROWS + IGEMM_COLUMNS) * IGEMM_DEPTH * 2)
#define IGEMM_SHARED_F32 (IGEMM_STAGES * (IGEMM_ROWS + IGEMM_COLUMNS + 2 * IGEMM_WORD_GAP) * IGEMM_DEPTH * 2)

#endif
