/*
 * The argument of li_conv2d's weight gradient for few input channels on Hopper's matrix units
 * (li_conv2d_bwd_weight_rows_sm90a.cu), and of the stage that follows it (li_conv2d_bwd_weight_mix.cu).
 *
 * The gradient that the convolutions get, dy + v^T dzy, is not made. With G the weight gradient of dy and H that of
 * dzy, dw = G + v^T H: a small product in place of one for every pixel.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_LI_CONV2D_ROWS_H
#define BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_LI_CONV2D_ROWS_H

#include "kernels/cuda/conv/few_channels/conv2d_rows.h"

#define LI_ROWS_STREAMS 4
#define LI_ROWS_STAGES 3    /* rows of a unit under way: dy, dzy and r of its pixels */
#define LI_ROWS_TENSORS 3   /* of a stage */
#define LI_ROWS_THREADS 512 /* two warpgroups that multiply, those that spread, and one warp that loads */

struct li_conv2d_rows_args {
    struct conv2d_rows_args rows; /* y: dy; partial: where G starts in a part */
    cuda_tensor_map zy, r[LI_ROWS_STREAMS];
    int64_t mixed[LI_ROWS_STREAMS]; /* where H starts: [zo][r, s, c] */
    int64_t mix[LI_ROWS_STREAMS];   /* where dv starts: [zo][k] */
    int32_t integrated;             /* zo */
};

#define LI_MIX_TAPS 4                                   /* of a block of the last stage */
#define LI_MIX_THREADS (2 * ROWS_FILTERS * LI_MIX_TAPS) /* one for each element of G and H */

struct li_conv2d_mix_plane {
    const void *v;
    void *dw, *dv;
    int64_t gradient, mixed, mix; /* where G, H and dv start in a part */
    int32_t filters, taps;
};

struct li_conv2d_mix_args {
    struct li_conv2d_mix_plane plane[LI_ROWS_STREAMS];
    const float *workspace; /* [part][part_elements] */
    int64_t part_elements;
    int32_t first_block[BRAID_MAX_PLANES + 1]; /* of a plane: those of its taps, then those of dv */
    int32_t planes, integrated, parts;
};

#define LI_CONV2D_ROWS_ARGS_BYTES 3776
#define LI_CONV2D_MIX_ARGS_BYTES 296

#ifdef __cplusplus
static_assert(sizeof(struct li_conv2d_rows_args) == LI_CONV2D_ROWS_ARGS_BYTES, "kernel and launcher agree");
static_assert(sizeof(struct li_conv2d_mix_args) == LI_CONV2D_MIX_ARGS_BYTES, "kernel and launcher agree");
#else
_Static_assert(sizeof(struct li_conv2d_rows_args) == LI_CONV2D_ROWS_ARGS_BYTES, "kernel and launcher agree");
_Static_assert(sizeof(struct li_conv2d_mix_args) == LI_CONV2D_MIX_ARGS_BYTES, "kernel and launcher agree");
#endif

#endif
