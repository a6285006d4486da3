/*
 * The sizes of the tiles of small and skinny matrix products, for kernels and their launcher alike. A block of 256
 * threads makes a square tile of 16, 32 or 64 rows; the smaller the tile, the more groups of its threads share the
 * terms of the sums.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LINEAR_SKINNY_H
#define BRAID_KERNELS_CUDA_LINEAR_SKINNY_H

#define SKINNY_THREADS 256
#define SKINNY_STAGES(tile) ((tile) == 16 ? 8 : 4) /* of shared memory: loads under way, and the one in use */

/* Numbers of 16 bytes; terms of one stage; numbers from one row (or term) of an operand to the next in shared memory,
 * which spreads them over the banks. By the bytes of a number. */
#define SKINNY_PIECE(bytes) (16 / (bytes))
#define SKINNY_DEPTH(tile, bytes) ((bytes) == 2 ? 2048 / (tile) : (tile) == 16 ? 64 : 32)
#define SKINNY_PITCH(length, bytes) ((length) + SKINNY_PIECE(bytes))

/* Numbers of one operand in one stage, `along`: the terms of a row side by side, or all rows of a term. */
#define SKINNY_OPERAND(tile, bytes, along)                           \
    ((along) ? (tile)*SKINNY_PITCH(SKINNY_DEPTH(tile, bytes), bytes) \
             : SKINNY_DEPTH(tile, bytes) * SKINNY_PITCH(tile, bytes))

/* Groups of a block, and what they leave when they are done: a tile of floats each, its rows so far apart, and behind
 * the tiles their row sums. */
#define SKINNY_GROUPS(tile, bytes) ((bytes) == 4 ? 4096 / ((tile) * (tile)) : (tile) == 16 ? 8 : (tile) == 32 ? 2 : 1)
#define SKINNY_SUM_PITCH(tile) ((tile) + 8)
#define SKINNY_SUM_BYTES(tile, bytes) (SKINNY_GROUPS(tile, bytes) * (tile) * (SKINNY_SUM_PITCH(tile) + 1) * 4)

#endif
