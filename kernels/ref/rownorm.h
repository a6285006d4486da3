/*
 * The norm of one row, for the references of rownorm: in double in both compilations, so that squares of floats
 * neither overflow nor vanish.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_ROWNORM_H
#define BRAID_KERNELS_REF_ROWNORM_H

#include <math.h>

#include "kernels/ref/ref.h"

static inline double rownorm_norm(const real *x, int64_t channels) {
    double squares = 0;
    for (int64_t c = 0; c < channels; c++) squares += (double)x[c] * (double)x[c];
    return sqrt(squares);
}

#endif
