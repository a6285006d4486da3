/*
 * The weight gradients of integrate, and of its bias: sums of outer products of dy with r_i and z over
 * the output pixels (tile/wgrad.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/integrate_convs.h"
#include "kernels/cpu/tile/wgrad.h"
#include "kernels/cpu/tile/isa.h"

static const conv_product product = {wgrad_create, NULL, wgrad_launch, wgrad_destroy};

static braid_status create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes) {
    return integrate_convs_create(p, &product, tile, state, workspace_bytes);
}

TILE_KERNEL(integrate_bwd_weight_bf16__cpu_outer_amx_bf16, gemm_amx_bf16, supports_all, integrate_cost, create,
            integrate_convs_run, integrate_convs_destroy)
TILE_KERNEL(integrate_bwd_weight_bf16__cpu_outer_avx512_bf16, gemm_avx512_bf16, supports_all, integrate_cost, create,
            integrate_convs_run, integrate_convs_destroy)
TILE_KERNEL(integrate_bwd_weight__cpu_outer_avx512, gemm_avx512, supports_all, integrate_cost, create,
            integrate_convs_run, integrate_convs_destroy)
TILE_KERNEL(integrate_bwd_weight__cpu_outer_avx2, gemm_avx2, supports_all, integrate_cost, create, integrate_convs_run,
            integrate_convs_destroy)
TILE_KERNEL(integrate_bwd_weight__cpu_outer_portable, gemm_portable, supports_all, integrate_cost, create,
            integrate_convs_run, integrate_convs_destroy)
