/*
 * The weight gradient of linear in f32, and of its bias: a sum of outer products over the output pixels (tile/wgrad.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/wgrad.h"

static const char *supports(const braid_problem *p, const device *d) {
    (void)p;
    (void)d;
    return NULL;
}

static double cost(const braid_problem *p, const gemm_tile *tile) {
    return cost_seconds(p, tile->flops, 2, 2e-6);
}

static braid_status create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *bytes) {
    return wgrad_create(p, tile, state, bytes);
}

TILE_KERNEL(linear_bwd_weight_f32__cpu_outer_avx512, gemm_avx512, wgrad_launch, wgrad_destroy)
TILE_KERNEL(linear_bwd_weight_f32__cpu_outer_avx2, gemm_avx2, wgrad_launch, wgrad_destroy)
TILE_KERNEL(linear_bwd_weight_f32__cpu_outer_portable, gemm_portable, wgrad_launch, wgrad_destroy)
