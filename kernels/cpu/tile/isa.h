/*
 * One kernel, three instruction sets: the same functions, readied with another tile. A tile is what a
 * family of kernels is built on, gemm.h or lanes.h, and comes in one version per instruction set.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_ISA_H
#define BRAID_KERNELS_CPU_TILE_ISA_H

#include "kernels/cpu/cost.h"
#include "kernels/kernel.h"

/* `const kernel_functions name` for one tile, from cost(problem, tile) and create(problem, tile, state, bytes). */
#define TILE_KERNEL(name, tile, supports, cost, create, launch, destroy)                        \
    TILE_FUNCTIONS(name, tile, cost, create)                                                    \
    const kernel_functions name = {supports, name##_cost, name##_create, launch, NULL, destroy, \
                                   0,        NULL,        NULL,          NULL,   NULL, NULL};

/* The same for a kernel that packs weights: those of the slots `reads`. */
#define PACKED_KERNEL(name, tile, supports, cost, create, reads, pack, run, destroy)          \
    TILE_FUNCTIONS(name, tile, cost, create)                                                  \
    const kernel_functions name = {supports, name##_cost, name##_create, NULL, NULL, destroy, \
                                   reads,    pack,        run,           NULL, NULL, NULL};

#define TILE_FUNCTIONS(name, tile, cost, create)                                                        \
    static double name##_cost(const braid_problem *p) { return cost(p, &(tile)); }                      \
    static braid_status name##_create(const braid_problem *p, device *d, void **state, size_t *bytes) { \
        (void)d;                                                                                        \
        return create(p, &(tile), state, bytes);                                                        \
    }

/* For kernels that can do every problem of their op, pass and dtype. */
static inline const char *supports_all(const braid_problem *p, const device *d) {
    (void)p;
    (void)d;
    return NULL;
}

#endif
