/*
 * What the launchers of the general tensor-core convolutions share. Both passes have two candidates, `lanes` and
 * `pixels`, named by what the two warpgroups of a block divide; how many pixels a tile has is chosen by the problem.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_IM2COL_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV2D_IM2COL_LAUNCH_H

#include "kernels/cuda/conv2d_im2col.h"
#include "kernels/cuda/launch.h"

/* A size of tiles, and its functions. */
typedef struct im2col_tile {
    int columns; /* 0 ends a list */
    const char *f16, *bf16;
} im2col_tile;

/* The tiles of one candidate. */
typedef struct im2col_tiles {
    const char *stem;
    int split; /* 1: the warpgroups divide the pixels */
    const im2col_tile *list;
} im2col_tiles;

/* Why these kernels cannot do a convolution, in words; NULL: they can. */
const char *conv2d_im2col_refuses(const braid_problem *p, const device *d);

double conv2d_im2col_cost(const braid_problem *p, const im2col_tiles *tiles);

/* Predicted seconds of the data gradient by its faster candidate. */
double conv2d_bwd_data_im2col_cost(const braid_problem *p);

/* Chooses the tile. */
braid_status conv2d_im2col_create(const braid_problem *p, const im2col_tiles *tiles, void **state);
void conv2d_im2col_destroy(device *d, void *state);
braid_status conv2d_im2col_launch(const braid_problem *p, device *d, void *state, const buffers *b,
                                  const im2col_tiles *tiles);

#endif
