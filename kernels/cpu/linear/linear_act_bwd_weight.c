/*
 * The weight gradient of linear_act: that of the activation, then that of the linear map (tile/outer_product.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/linear/linear_act_gradient.h"
#include "kernels/cpu/tile/outer_product.h"
#include "kernels/cpu/isa/tile_kernels.h"

static const conv_product product = {outer_product_create, NULL, outer_product_launch, outer_product_destroy};

static double cost(const braid_problem *p, const machine *on, const fused_tile *tile) {
    braid_problem linear = fused_problem(p, BRAID_OP_LINEAR);
    return outer_product_cost(&linear, on, tile->gemm) + linear_act_gradient_cost(p, on, tile);
}

static braid_status create(const braid_problem *p, const fused_tile *tile, void **state, size_t *workspace_bytes) {
    return linear_act_gradient_create(p, &product, tile, state, workspace_bytes);
}

TILE_KERNELS(AMX_BF16, linear_act_bwd_weight, cpu_outer_product, fused, supports_all, cost, create,
             linear_act_gradient_run, linear_act_gradient_destroy)
