/*
 * The data gradient of linear_act: that of the activation, then that of the linear map (tile/indirect_gemm.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/linear/linear_act_gradient.h"
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/isa/tile_kernels.h"

static const conv_product product = {indirect_gemm_create_backward, indirect_gemm_pack, indirect_gemm_run,
                                     indirect_gemm_destroy};

static double cost(const braid_problem *p, const machine *on, const fused_tile *tile) {
    braid_problem linear = fused_problem(p, BRAID_OP_LINEAR);
    return indirect_gemm_cost(&linear, on, tile->gemm) + linear_act_gradient_cost(p, on, tile);
}

static braid_status create(const braid_problem *p, const fused_tile *tile, void **state, size_t *workspace_bytes) {
    return linear_act_gradient_create(p, &product, tile, state, workspace_bytes);
}

PACKED_KERNELS(AMX_BF16, linear_act_bwd_data, cpu_indirect_gemm, fused, supports_all, cost, create,
               KERNEL_SLOT(LINEAR_W), linear_act_gradient_pack, linear_act_gradient_run, linear_act_gradient_destroy)
