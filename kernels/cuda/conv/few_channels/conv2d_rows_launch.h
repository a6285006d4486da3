/*
 * What the launchers of the convolutions of few input channels on Hopper's matrix units share: the units and the
 * argument of a problem.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_CONV2D_ROWS_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_CONV2D_ROWS_LAUNCH_H

#include "kernels/cuda/conv/few_channels/conv2d_rows.h"
#include "kernels/cuda/launch/launch.h"

/* Why these kernels cannot do a convolution, in words; NULL: they can. */
const char *conv2d_rows_refuses(const braid_problem *p, const device *d);

/* The argument of a problem, without pointers and tensor maps. False where it has too many units or blocks. */
int conv2d_rows_fill(struct conv2d_rows_args *args, const braid_problem *p);

/* The same with rows of `pixels`, a multiple of 8 up to 64, and units one below the other. */
int conv2d_rows_fill_down(struct conv2d_rows_args *args, const braid_problem *p, int32_t pixels);

/* Parts of the pixels, of a weight gradient: as many for each stream. */
int32_t conv2d_rows_parts(const struct conv2d_rows_args *args);

/* Bytes of shared memory of a block. */
int64_t conv2d_rows_shared(const struct conv2d_rows_args *args, const braid_problem *p);

/* The map of a plane like y, a row of 64 pixels and 64 channels at a time. */
braid_status conv2d_rows_map(cuda_tensor_map *to, const braid_problem *p, device *d, const void *memory,
                             int64_t channels, int64_t pitch);

/* Pointers and tensor maps; y is that of a slot. */
braid_status conv2d_rows_bind(struct conv2d_rows_args *args, const braid_problem *p, device *d, const buffers *b,
                              int slot);

/* Fills the argument and launches the function of the problem's dtype. */
braid_status conv2d_rows_launch(struct conv2d_rows_args *args, const braid_problem *p, device *d, const char *stem,
                                const launch_names *names, const buffers *b);

/* Predicted seconds. */
double conv2d_rows_cost(const braid_problem *p, const machine *on);

/* The same of units as they were filled, where so many bytes are moved and a row takes `least` cycles or more. */
double conv2d_rows_seconds(const struct conv2d_rows_args *args, const braid_problem *p, double bytes, double least);

#endif
