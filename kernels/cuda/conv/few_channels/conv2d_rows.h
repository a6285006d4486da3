/*
 * The arguments of the convolutions of few input channels on Hopper's matrix units (conv2d_fwd_rows_sm90a.cu,
 * conv2d_bwd_weight_rows_sm90a.cu), and of those that do more: conv2d_bn_stats and conv2d_pool_bn_bwd_apply. A unit is
 * some rows of 64 output pixels, or of fewer. The lines of x behind it are spread in shared memory: for every tap (s,
 * c) of a line one row of 128 bytes, what the tap sees of the unit's 64 pixels. The rows of the lines under an output
 * row then lie side by side, in the order of the weights, and are one operand of all its taps; that of the output row
 * below begins `stride` lines further. Lines of x come in boxes, one for 16 pixels.
 * Slots are those of the op: in bwd_weight w is dw and y is dy.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_CONV2D_ROWS_H
#define BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_CONV2D_ROWS_H

#include <stdint.h>

#include "backend/cuda/tensor_map.h"
#include "braid.h"
#include "kernels/cuda/tile/bn_finalize.h"
#include "kernels/cuda/tile/pixels.h"

#define ROWS_PIXELS 64          /* of a row of a unit */
#define ROWS_FEWER_PIXELS 56    /* fwd: of rows that would leave as many units */
#define ROWS_STEP 16            /* of those one box of x; terms that one matrix instruction adds up */
#define ROWS_ROW_BYTES 128      /* of a spread row, and of 64 filters of a pixel of y */
#define ROWS_FILTERS 64         /* of a block */
#define ROWS_Y_BYTES 8192       /* of a row of a unit and these filters */
#define ROWS_DY_STAGES 8        /* rows of dy under way */
#define ROWS_X_STAGES 2         /* units of x, as it lies and spread */
#define ROWS_SPREADERS 7        /* warps that spread */
#define ROWS_TOGETHER 2         /* fwd: rows of a unit in one product */
#define ROWS_MOST_TAPS 200      /* (r, s, c) of a filter */
#define ROWS_FWD_THREADS 512    /* two warpgroups that multiply, those that spread, and one warp that loads x */
#define ROWS_WEIGHT_THREADS 416 /* one warpgroup that multiplies, those that spread, two warps that load x and dy */
#define ROWS_X_BARRIERS (4 * ROWS_X_STAGES)
#define ROWS_DY_BARRIERS (2 * ROWS_DY_STAGES)

struct conv2d_rows_plane {
    cuda_tensor_map x, y; /* x: [sample][line][column and channel] */
    const void *w;        /* fwd */
    const uint32_t *mask;
    int64_t partial; /* bwd_weight, conv2d_bn_stats: where this plane starts in one part of the workspace */
    int32_t filters;
    int32_t lanes;      /* filters that a plane of blocks makes: in fwd up to the pitch of y */
    int32_t before;     /* elements of a line that a box begins before its first pixel: padding and shift */
    int32_t step;       /* elements of a line of x from one output pixel to the next */
    int32_t spread;     /* rows that a line is spread to: (s, c) */
    int32_t taps;       /* (r, s, c) */
    int32_t shift;      /* elements of a box before the first that the unit needs */
    int32_t box;        /* elements of a line in a box of x */
    int32_t box_bytes;  /* of a box in shared memory, rounded up */
    int32_t part_units; /* of a part, at most */
};

struct conv2d_rows_args {
    struct conv2d_rows_plane plane[BRAID_MAX_PLANES];
    float *workspace; /* bwd_weight: [part][plane][filter][r, s, c]; conv2d_bn_stats: bn_moments [part][plane][filter],
                       * a part for each warpgroup */
    int64_t part_elements;
    int32_t first_block[BRAID_MAX_PLANES + 1]; /* of a plane: [part][64 filters] */
    int32_t planes;
    int32_t units;                 /* of a plane: [sample][rows][columns], or [sample][columns][rows] */
    int32_t unit_rows, unit_lines; /* of the output, and of x behind them */
    int32_t unit_pixels, is_down;  /* of a row, at most 64; 1: the next unit lies below */
    int32_t units_down, units_across;
    int32_t out_size[2], stride, filter_rows; /* stride: of the rows */
    int32_t padding;                          /* of the rows */
    int32_t spread_bytes, x_bytes;            /* in shared memory, for the plane that has most */
    int32_t own_bytes; /* that a kernel has beside x: rows of dy (and of dzy and r), or of outputs */
};

#define CONV2D_ROWS_ARGS_BYTES 3008

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_rows_args) == CONV2D_ROWS_ARGS_BYTES, "kernel and launcher agree on the argument");
#else
_Static_assert(sizeof(struct conv2d_rows_args) == CONV2D_ROWS_ARGS_BYTES, "kernel and launcher agree on the argument");
#endif

/* ---- conv2d_bn_stats ------------------------------------------------------------------------ */

struct conv2d_bn_stats_rows_args {
    struct conv2d_rows_args rows;
    struct bn_finalize_args norm;
    uint32_t *counters[BRAID_MAX_PLANES]; /* of a plane: ROW_PARTS_COUNTERS(parts) for every 64 filters */
    int32_t parts[BRAID_MAX_PLANES];      /* of a plane: two of a block */
    uint32_t *finished;                   /* the counter of those that do what bn_finalize does, ... */
    int64_t finishers;                    /* ... one warpgroup for every 64 filters */
};

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_bn_stats_rows_args) <= 4096, "the argument fits in a launch");
#else
_Static_assert(sizeof(struct conv2d_bn_stats_rows_args) <= 4096, "the argument fits in a launch");
#endif

/* ---- conv2d_pool_bn_bwd_apply: that of the weight gradient, and what the gradient of its output is made of ---- */

/* Units are 56 pixels wide and lie one below the other. Some warps go down their windows, each 14 columns of them by 16
 * filters, whose places are the unit's, and one to their right, which may have taken some of those. */
#define POOL_ROWS_PIXELS 56
#define POOL_ROWS_STAGES 6 /* rows of the gradient under way */
#define POOL_ROWS_MAKERS 8 /* warps that make it */
#define POOL_ROWS_SPREADERS 3
#define POOL_ROWS_THREADS 512 /* one warpgroup that multiplies, makers, those that spread, and one warp that loads x */

/* The normalisation behind a convolution. */
struct conv2d_pool_plane {
    const void *x, *dy; /* r, and the gradient of the pooled values */
    const float *scale, *shift, *center, *rstd, *gamma, *dgamma, *dbeta;
    int64_t pitch, channels;
};

struct conv2d_pool_rows_args {
    struct conv2d_rows_args rows;
    struct conv2d_pool_plane norm[BRAID_MAX_PLANES];
    struct pixel_window window;
    int32_t batch;
};

#define CONV2D_POOL_ROWS_ARGS_BYTES 3904

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_pool_rows_args) == CONV2D_POOL_ROWS_ARGS_BYTES, "kernel and launcher agree");
#else
_Static_assert(sizeof(struct conv2d_pool_rows_args) == CONV2D_POOL_ROWS_ARGS_BYTES, "kernel and launcher agree");
#endif

#endif
