/*
 * One kernel, three instruction sets: the same functions, readied with another tile. A kernel file
 * defines supports(problem, device), create(problem, tile, state, bytes) and cost(problem, tile), and
 * names its variants with TILE_KERNEL as kernels.def lists them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_ISA_H
#define BRAID_KERNELS_CPU_TILE_ISA_H

#include "kernels/cpu/cost.h"
#include "kernels/kernel.h"

/* `const kernel_functions name` for one tile. */
#define TILE_KERNEL(name, tile, launch, destroy)                                                        \
    static double name##_cost(const braid_problem *p) { return cost(p, &(tile)); }                      \
    static braid_status name##_create(const braid_problem *p, device *d, void **state, size_t *bytes) { \
        (void)d;                                                                                        \
        return create(p, &(tile), state, bytes);                                                        \
    }                                                                                                   \
    const kernel_functions name = {supports, name##_cost, name##_create, launch, destroy};

#endif
