/*
 * The data gradient of linear in f32: the product of tile/igemm.h with the weights turned round.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"

static const char *supports(const braid_problem *p, const device *d) {
    (void)p;
    (void)d;
    return NULL;
}

static double cost(const braid_problem *p, const gemm_tile *tile) {
    return igemm_cost(p, tile);
}

static braid_status create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *bytes) {
    return igemm_create(p, IGEMM_BACKWARD, tile, state, bytes);
}

TILE_KERNEL(linear_bwd_data_f32__cpu_igemm_avx512, gemm_avx512, igemm_launch, igemm_destroy)
TILE_KERNEL(linear_bwd_data_f32__cpu_igemm_avx2, gemm_avx2, igemm_launch, igemm_destroy)
TILE_KERNEL(linear_bwd_data_f32__cpu_igemm_portable, gemm_portable, igemm_launch, igemm_destroy)
