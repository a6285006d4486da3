/*
 * The launch of weight_sum, for the launchers of weight gradients.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_REDUCE_WEIGHT_SUM_LAUNCH_H
#define BRAID_KERNELS_CUDA_REDUCE_WEIGHT_SUM_LAUNCH_H

#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/reduce/weight_sum.h"

/* The adder of the kernels whose `sums` fill an array of weight_sum_plane. */
extern const kernel_adder weight_sum_adder;

/* One launch for a table of planes, each of which says how many blocks it has. */
braid_status weight_sum_launch(const struct weight_sum_plane *planes, int count, device *d);

/* Divides the work of one call, whose planes lie as rows and have all but slices, width and blocks: by the call alone,
 * so that the bits are the same beside any others. */
void weight_sum_cut_rows(struct weight_sum_plane *planes, int count);

/* The planes of a convolution: a part holds them one behind the other, each [filters][r, s, c, then the bias]. Returns
 * how many there are. */
int weight_sum_conv2d_planes(const braid_problem *p, int32_t parts, const buffers *b, struct weight_sum_plane *planes);

/* Adds the parts of a convolution. */
braid_status weight_sum_conv2d(const braid_problem *p, int32_t parts, device *d, const buffers *b);

/* Bytes of the workspace for so many parts of a convolution. */
braid_status weight_sum_bytes(const braid_problem *p, int64_t parts, size_t *bytes);

/* Why weight_sum_conv2d cannot do a convolution, in words; NULL: it can. */
const char *weight_sum_refuses(const braid_problem *p);

#endif
