/*
 * Matrix products of all streams by OpenBLAS, one sgemm for each stream. A linear layer is one; so is
 * a 1x1 convolution of stride 1, whose pixels are the rows. Both ops number their operands alike.
 *
 *   fwd         y[rows][K]  = x[rows][C] * w[K][C]^T + bias
 *   bwd_data    dx[rows][C] = dy[rows][K] * w[K][C]
 *   bwd_weight  dw[K][C]    = dy[rows][K]^T * x[rows][C],  dbias = the column sums of dy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_VENDOR_OPENBLAS_LAYER_H
#define BRAID_KERNELS_CPU_VENDOR_OPENBLAS_LAYER_H

#include "kernels/kernel.h"

const char *openblas_supports(const braid_problem *p, const device *d);
double openblas_cost(const braid_problem *p, const machine *on);

braid_status openblas_launch_fwd(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status openblas_launch_bwd_data(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status openblas_launch_bwd_weight(const braid_problem *p, device *d, void *state, const buffers *b);

#endif
