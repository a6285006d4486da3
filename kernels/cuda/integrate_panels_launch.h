/*
 * The launchers of the integrate kernels on panels: each file of a kernel says which functions it has and calls these.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_PANELS_LAUNCH_H
#define BRAID_KERNELS_CUDA_INTEGRATE_PANELS_LAUNCH_H

#include "kernels/cuda/integrate_panels.h"
#include "kernels/cuda/launch.h"

/* A function of each dtype, and how many stages of copies it has in shared memory. */
typedef struct integrate_function {
    launch_names names;
    int stages;
} integrate_function;

/* One way to multiply panels. */
typedef struct integrate_way {
    const char *stem;
    integrate_function narrow, wide;      /* for up to 64 and up to 128 columns at a time; in bwd_weight outputs */
    const integrate_function *if_staying; /* fwd: in place of `wide` where the weights stay in shared memory; or NULL */
    size_t shared_bytes;                  /* that a block may have */
    double flops, bytes_per_s;            /* for the cost */
} integrate_way;

/* Why a problem of any pass cannot be done on panels, in words; NULL: it can. */
const char *integrate_panels_refuses(const braid_problem *p, const device *d);

double integrate_panels_cost(const braid_problem *p, const integrate_way *way);

/* fwd and bwd_data. */
braid_status integrate_panels_launch(const braid_problem *p, device *d, const buffers *b, const integrate_way *way);

/* bwd_weight: two launches, the second by weight_sum. */
braid_status integrate_panels_workspace(const braid_problem *p, size_t *bytes);
braid_status integrate_panels_launch_weights(const braid_problem *p, device *d, const buffers *b,
                                             const integrate_way *way);

#endif
