/*
 * The launchers of the integrate kernels on panels: what they share, and those of sm_90 (tma), which the files of its
 * kernels call.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_PANELS_LAUNCH_H
#define BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_PANELS_LAUNCH_H

#include "backend/cuda/tensor_map.h"
#include "kernels/cuda/integrate/integrate_panels.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/reduce/weight_sum_launch.h"

/* Why a problem of any pass cannot be done on panels, in words; NULL: it can. The second also asks for tensor maps. */
const char *integrate_panels_refuses(const braid_problem *p, const device *d);
const char *integrate_tma_refuses(const braid_problem *p, const device *d);

/* Predicted seconds, at so many operations and bytes a second. */
double integrate_panels_cost(const braid_problem *p, double flops_per_s, double bytes_per_s);
double integrate_tma_cost(const braid_problem *p, const machine *on);

/* The argument of a problem, less its division into tiles; the pointers where b is not NULL. */
void integrate_panels_fill(struct integrate_panels_args *args, const braid_problem *p, const buffers *b);

/* How many panels so many channels are. */
int32_t integrate_panels_of(int64_t channels);

/* bwd_weight: tiles of so many outputs by so many panels, and parts of the pixels for about so many blocks. `sums` are
 * those of the kernels, for weight_sum_adder. */
void integrate_panels_cut_weights(struct integrate_panels_args *args, int rows, int panels, int blocks);
braid_status integrate_panels_workspace(const struct integrate_panels_args *args, size_t *bytes);
int integrate_panels_sums(const struct integrate_panels_args *args, braid_dtype dtype, void *to);

/* The kernels of sm_90. */
braid_status integrate_tma_launch_forward(const braid_problem *p, device *d, const buffers *b);
/* The same with statistics of the streams and of y, in so many parts of moments_pitch channels: those of the streams,
 * one after the other, then those of y. -1 part: there is not enough shared memory. `args` has the norm, the moments
 * and their pitch. */
struct integrate_bn_stats_args;
int integrate_tma_parts(const braid_problem *p);
braid_status integrate_tma_launch_adding(const braid_problem *p, device *d, const buffers *b,
                                         struct integrate_bn_stats_args *args);
braid_status integrate_tma_workspace(const braid_problem *p, size_t *bytes);
braid_status integrate_tma_launch_weights(const braid_problem *p, device *d, const buffers *b);
int integrate_tma_sums(const braid_problem *p, const void *state, const buffers *b, void *to);

/* Tensor maps: 64 columns of `rows` rows of a matrix, and 64 channels of `rows` of the pixels of z that the stride
 * meets. */
braid_status integrate_tma_map_matrix(cuda_tensor_map *to, device *d, const braid_problem *p, const void *memory,
                                      int64_t columns, int64_t count, int64_t pitch, int rows);
braid_status integrate_tma_map_strided(cuda_tensor_map *to, device *d, const braid_problem *p, const void *memory,
                                       int rows);

#endif
