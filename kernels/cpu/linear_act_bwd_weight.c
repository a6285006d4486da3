/*
 * The weight gradient of linear_act: that of the activation, then that of the linear map (tile/wgrad.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/linear_act_gradient.h"
#include "kernels/cpu/tile/wgrad.h"
#include "kernels/cpu/tile/isa.h"

static const conv_product product = {wgrad_create, NULL, wgrad_launch, wgrad_destroy};

static double cost(const braid_problem *p, const fused_tile *tile) {
    braid_problem linear = fused_problem(p, BRAID_OP_LINEAR);
    return wgrad_cost(&linear, tile->gemm) + linear_act_gradient_cost(p, tile);
}

static braid_status create(const braid_problem *p, const fused_tile *tile, void **state, size_t *workspace_bytes) {
    return linear_act_gradient_create(p, &product, tile, state, workspace_bytes);
}

TILE_KERNEL(linear_act_bwd_weight_bf16__cpu_outer_amx_bf16, fused_amx_bf16, supports_all, cost, create,
            linear_act_gradient_run, linear_act_gradient_destroy)
TILE_KERNEL(linear_act_bwd_weight_bf16__cpu_outer_avx512_bf16, fused_avx512_bf16, supports_all, cost, create,
            linear_act_gradient_run, linear_act_gradient_destroy)
TILE_KERNEL(linear_act_bwd_weight__cpu_outer_avx512, fused_avx512, supports_all, cost, create, linear_act_gradient_run,
            linear_act_gradient_destroy)
TILE_KERNEL(linear_act_bwd_weight__cpu_outer_avx2, fused_avx2, supports_all, cost, create, linear_act_gradient_run,
            linear_act_gradient_destroy)
TILE_KERNEL(linear_act_bwd_weight__cpu_outer_portable, fused_portable, supports_all, cost, create,
            linear_act_gradient_run, linear_act_gradient_destroy)
