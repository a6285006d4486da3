/*
 * One algorithm, several instruction sets: the same functions, readied with another tile. A tile is what a
 * family of kernels is built on, gemm.h or channels.h, and comes in one version per instruction set.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_TILE_KERNELS_H
#define BRAID_KERNELS_CPU_ISA_TILE_KERNELS_H

#include "kernels/cpu/isa/cost.h"
#include "kernels/kernel.h"

/* `const kernel_functions name` for one tile, from cost(problem, machine, tile) and create(problem, tile, state,
 * bytes). */
#define TILE_KERNEL(name, tile, supports, cost, create, launch, destroy)                              \
    TILE_FUNCTIONS(name, tile, cost, create)                                                          \
    const kernel_functions name = {supports, NULL, name##_cost, name##_create, launch, NULL, destroy, \
                                   0,        NULL, NULL,        NULL,          NULL,   NULL};

/* The same for a kernel that packs weights: those of the slots `reads`. */
#define PACKED_KERNEL(name, tile, supports, cost, create, reads, pack, run, destroy)                \
    TILE_FUNCTIONS(name, tile, cost, create)                                                        \
    const kernel_functions name = {supports, NULL, name##_cost, name##_create, NULL, NULL, destroy, \
                                   reads,    pack, run,         NULL,          NULL, NULL};

#define TILE_FUNCTIONS(name, tile, cost, create)                                                          \
    static double name##_cost(const braid_problem *p, const machine *on) { return cost(p, on, &(tile)); } \
    static braid_status name##_create(const braid_problem *p, device *d, void **state, size_t *bytes) {   \
        (void)d;                                                                                          \
        return create(p, &(tile), state, bytes);                                                          \
    }

/* All kernels of a row of kernels.def: for its instruction set `top` and those below it, each with its own tile.
 * TILE_KERNELS(AVX512, mse_fwd, cpu_direct, flat, ...) defines mse_fwd__cpu_direct_avx512 with flat_avx512, and so on.
 */
#define TILE_KERNELS(top, op, algorithm, tile, ...) FROM_##top(TILE_KERNEL_FOR, algorithm, op, tile, __VA_ARGS__)
#define TILE_KERNEL_FOR(set, ending, op, tile, ...) TILE_KERNEL(op##ending, tile##_##set, __VA_ARGS__)

#define PACKED_KERNELS(top, op, algorithm, tile, ...) FROM_##top(PACKED_KERNEL_FOR, algorithm, op, tile, __VA_ARGS__)
#define PACKED_KERNEL_FOR(set, ending, op, tile, ...) PACKED_KERNEL(op##ending, tile##_##set, __VA_ARGS__)

/* KIND(set, ending of the name, ...) for each of them. */
#define FROM_AVX512(KIND, algorithm, ...)             \
    KIND(avx512, __##algorithm##_avx512, __VA_ARGS__) \
    KIND(avx2, __##algorithm##_avx2, __VA_ARGS__)     \
    KIND(portable, __##algorithm##_portable, __VA_ARGS__)
#define FROM_AVX512_BF16(KIND, algorithm, ...)                       \
    KIND(avx512_bf16, _bf16__##algorithm##_avx512_bf16, __VA_ARGS__) \
    FROM_AVX512(KIND, algorithm, __VA_ARGS__)
#define FROM_AMX_BF16(KIND, algorithm, ...)                    \
    KIND(amx_bf16, _bf16__##algorithm##_amx_bf16, __VA_ARGS__) \
    FROM_AVX512_BF16(KIND, algorithm, __VA_ARGS__)

/* For kernels that can do every problem of their op, pass and dtype. */
static inline const char *supports_all(const braid_problem *p, const device *d) {
    (void)p;
    (void)d;
    return NULL;
}

#endif
