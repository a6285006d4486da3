/*
 * The gradient of max pooling, of x or of x normalised and activated, whatever slots the operands have.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_POOL_GRADIENT_H
#define BRAID_KERNELS_CPU_TILE_POOL_GRADIENT_H

#include "kernels/cpu/tile/pool.h"

/* One launch. */
typedef struct pool_gradient {
    pool_work work; /* set by pool_gradient_run */
    int x, dy, dx;  /* slots */
    /* 1: the windows took f(x scale + shift), with the activation of the problem, and dx is the gradient of x scale +
     * shift; samples that the mask blanks are left as they are. */
    int normalised;
    int scale, shift, mask; /* slots */
} pool_gradient;

void pool_gradient_run(pool_gradient *g, const braid_problem *p, const channel_loops *l, const buffers *b);

#endif
