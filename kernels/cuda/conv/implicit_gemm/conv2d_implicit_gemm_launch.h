/*
 * What the launchers of the general tensor-core convolutions share. Both passes have two candidates, `lanes` and
 * `pixels`, named by what the two warpgroups of a block divide; how many pixels a tile has is chosen by the problem.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_IMPLICIT_GEMM_CONV2D_IMPLICIT_GEMM_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV_IMPLICIT_GEMM_CONV2D_IMPLICIT_GEMM_LAUNCH_H

#include "kernels/cuda/tile/bn_finalize.h"
#include "kernels/cuda/conv/implicit_gemm/conv2d_implicit_gemm.h"
#include "kernels/cuda/launch/launch.h"

/* A tile of the tables, and its function. */
typedef struct implicit_tile {
    int columns; /* 0 ends a list */
    int split;
    implicit_sums sums;
    const char *entry;
} implicit_tile;

/* The tiles of one candidate, which differ in their columns alone. IMPLICIT_TILE(op, ...) is a line of its list. */
typedef struct implicit_tiles {
    const char *stem;
    const implicit_tile *list;
} implicit_tiles;
#define IMPLICIT_TILE(op, name, columns, split, sums) {columns, split, sums, op "_" #name},

/* Why these kernels cannot do a convolution, in words; NULL: they can. */
const char *conv2d_implicit_gemm_refuses(const braid_problem *p, const device *d);

double conv2d_implicit_gemm_cost(const braid_problem *p, const machine *on, const implicit_tiles *tiles);

/* Chooses the tile. */
braid_status conv2d_implicit_gemm_create(const braid_problem *p, const implicit_tiles *tiles, void **state);
void conv2d_implicit_gemm_destroy(device *d, void *state);
braid_status conv2d_implicit_gemm_launch(const braid_problem *p, device *d, void *state, const buffers *b,
                                         const implicit_tiles *tiles);

/* What is done beside a convolution whose results are added up; one of the first two is NULL. */
typedef struct implicit_beside {
    const buffers *sums;                 /* the operands of conv2d_dgrad_bn_reduce' normalisation */
    const struct bn_finalize_args *norm; /* of conv2d_bn_stats */
    void *workspace;                     /* for parts */
} implicit_beside;

/* The same for tiles with sums, of all streams in one launch. */
const char *conv2d_implicit_gemm_refuses_sums(const braid_problem *p, const device *d, implicit_sums sums);
braid_status conv2d_implicit_gemm_create_sums(const braid_problem *p, const implicit_tiles *tiles, void **state,
                                              size_t *bytes);
braid_status conv2d_implicit_gemm_launch_sums(const braid_problem *p, device *d, void *state, const buffers *b,
                                              const implicit_beside *beside, const implicit_tiles *tiles);

/* The functions of the candidate `tiles`, an implicit_tiles; IMPLICIT_KERNEL(tiles) is its kernel_functions. */
#define IMPLICIT_FUNCTIONS(tiles)                                                                          \
    static double tiles##_cost(const braid_problem *p, const machine *on) {                                \
        return conv2d_implicit_gemm_cost(p, on, &tiles);                                                   \
    }                                                                                                      \
    static braid_status tiles##_create(const braid_problem *p, device *d, void **state, size_t *bytes) {   \
        (void)d;                                                                                           \
        *bytes = 0;                                                                                        \
        return conv2d_implicit_gemm_create(p, &tiles, state);                                              \
    }                                                                                                      \
    static braid_status tiles##_launch(const braid_problem *p, device *d, void *state, const buffers *b) { \
        return conv2d_implicit_gemm_launch(p, d, state, b, &tiles);                                        \
    }
#define IMPLICIT_KERNEL(tiles)                                                                    \
    {                                                                                             \
        .supports = conv2d_implicit_gemm_refuses, .cost = tiles##_cost, .create = tiles##_create, \
        .launch = tiles##_launch, .destroy = conv2d_implicit_gemm_destroy,                        \
    }

#endif
