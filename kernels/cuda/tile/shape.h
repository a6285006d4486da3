/*
 * The sizes of the tiles, for kernels and their launchers alike.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SHAPE_H
#define BRAID_KERNELS_CUDA_TILE_SHAPE_H

#define BLOCK_THREADS 256 /* of every kernel here */

/* Matrix products: a block makes TILE_M x TILE_N outputs from slices of TILE_K. */
#define TILE_M 64
#define TILE_N 64
#define TILE_K 16

#endif
