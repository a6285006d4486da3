/*
 * Where an element of the second matrix of matmul lies.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_MATMUL_H
#define BRAID_KERNELS_REF_MATMUL_H

#include "kernels/ref/ref.h"

/* w[c][k], or w[k][c] with trans1. */
static inline int64_t matmul_at(const braid_problem *p, int i, int64_t c, int64_t k) {
    return p->transpose ? k * p->in_channels[i] + c : c * p->out_channels[i] + k;
}

#endif
