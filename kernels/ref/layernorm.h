/*
 * The statistics of one row, for the references of layernorm: in double in both compilations, in two passes, so that
 * a mean far from zero costs no digits.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_LAYERNORM_H
#define BRAID_KERNELS_REF_LAYERNORM_H

#include <math.h>

#include "kernels/ref/ref.h"

typedef struct layernorm_row {
    const real *x; /* [channels] */
    double mean, rstd;
} layernorm_row;

static inline layernorm_row layernorm_row_of(const braid_problem *p, const buffers *b, int i, int64_t pixel) {
    int64_t channels = p->in_channels[i];
    layernorm_row row = {.x = (const real *)b->plane[LAYERNORM_X][i] + pixel * p->in_pitch[i]};
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < channels; c++) sum += (double)row.x[c];
    row.mean = sum / (double)channels;
    for (int64_t c = 0; c < channels; c++) squares += ((double)row.x[c] - row.mean) * ((double)row.x[c] - row.mean);
    row.rstd = 1 / sqrt(squares / (double)channels + p->eps);
    return row;
}

static inline double layernorm_xhat(const layernorm_row *row, int64_t c) {
    return ((double)row->x[c] - row->mean) * row->rstd;
}

#endif
