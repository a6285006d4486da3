/*
 * What the launchers of the general tensor-core convolutions share. Both passes have two candidates, `lanes` and
 * `pixels`, named by what the two warpgroups of a block divide; how many pixels a tile has is chosen by the problem.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_IM2COL_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV2D_IM2COL_LAUNCH_H

#include "kernels/cuda/bn_finalize.h"
#include "kernels/cuda/conv2d_im2col.h"
#include "kernels/cuda/launch.h"

/* A size of tiles, and its functions. */
typedef struct im2col_tile {
    int columns; /* 0 ends a list */
    const char *f16, *bf16;
} im2col_tile;

/* What is added up of the results: nothing, for conv2d_dsums by what the ReLU is read off, or the statistics of
 * conv2d_prepare. */
typedef enum im2col_sums { IM2COL_NO_SUMS, IM2COL_SUMS_BY_R, IM2COL_SUMS_BY_X, IM2COL_MOMENTS } im2col_sums;

/* The tiles of one candidate. */
typedef struct im2col_tiles {
    const char *stem;
    int split; /* 1: the warpgroups divide the pixels */
    im2col_sums sums;
    const im2col_tile *list;
} im2col_tiles;

/* Why these kernels cannot do a convolution, in words; NULL: they can. */
const char *conv2d_im2col_refuses(const braid_problem *p, const device *d);

double conv2d_im2col_cost(const braid_problem *p, const im2col_tiles *tiles);

/* Chooses the tile. */
braid_status conv2d_im2col_create(const braid_problem *p, const im2col_tiles *tiles, void **state);
void conv2d_im2col_destroy(device *d, void *state);
braid_status conv2d_im2col_launch(const braid_problem *p, device *d, void *state, const buffers *b,
                                  const im2col_tiles *tiles);

/* What is done beside a convolution whose results are added up; one of the first two is NULL. */
typedef struct im2col_beside {
    const buffers *sums;                 /* the operands of conv2d_dsums' normalisation */
    const struct bn_finalize_args *norm; /* of conv2d_prepare */
    void *workspace;                     /* for parts */
} im2col_beside;

/* The same for tiles with sums, of all streams in one launch. */
const char *conv2d_im2col_refuses_sums(const braid_problem *p, const device *d, im2col_sums sums);
braid_status conv2d_im2col_create_sums(const braid_problem *p, const im2col_tiles *tiles, void **state, size_t *bytes);
braid_status conv2d_im2col_launch_sums(const braid_problem *p, device *d, void *state, const buffers *b,
                                       const im2col_beside *beside, const im2col_tiles *tiles);

/* The functions of the candidate `tiles`, an im2col_tiles; IM2COL_KERNEL(tiles) is its kernel_functions. */
#define IM2COL_FUNCTIONS(tiles)                                                                            \
    static double tiles##_cost(const braid_problem *p) { return conv2d_im2col_cost(p, &tiles); }           \
    static braid_status tiles##_create(const braid_problem *p, device *d, void **state, size_t *bytes) {   \
        (void)d;                                                                                           \
        *bytes = 0;                                                                                        \
        return conv2d_im2col_create(p, &tiles, state);                                                     \
    }                                                                                                      \
    static braid_status tiles##_launch(const braid_problem *p, device *d, void *state, const buffers *b) { \
        return conv2d_im2col_launch(p, d, state, b, &tiles);                                               \
    }
#define IM2COL_KERNEL(tiles)                                                                                         \
    {                                                                                                                \
        .supports = conv2d_im2col_refuses, .cost = tiles##_cost, .create = tiles##_create, .launch = tiles##_launch, \
        .destroy = conv2d_im2col_destroy,                                                                            \
    }

#endif
