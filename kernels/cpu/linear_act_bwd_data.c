/*
 * The data gradient of linear_act: that of the activation, then that of the linear map (tile/igemm.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/linear_act_gradient.h"
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"

static const conv_product product = {igemm_create_backward, igemm_pack, igemm_run, igemm_destroy};

static double cost(const braid_problem *p, const fused_tile *tile) {
    braid_problem linear = fused_problem(p, BRAID_OP_LINEAR);
    return igemm_cost(&linear, tile->gemm) + linear_act_gradient_cost(p, tile);
}

static braid_status create(const braid_problem *p, const fused_tile *tile, void **state, size_t *workspace_bytes) {
    return linear_act_gradient_create(p, &product, tile, state, workspace_bytes);
}

PACKED_KERNEL(linear_act_bwd_data_bf16__cpu_igemm_amx_bf16, fused_amx_bf16, supports_all, cost, create,
              KERNEL_SLOT(LINEAR_W), linear_act_gradient_pack, linear_act_gradient_run, linear_act_gradient_destroy)
PACKED_KERNEL(linear_act_bwd_data_bf16__cpu_igemm_avx512_bf16, fused_avx512_bf16, supports_all, cost, create,
              KERNEL_SLOT(LINEAR_W), linear_act_gradient_pack, linear_act_gradient_run, linear_act_gradient_destroy)
PACKED_KERNEL(linear_act_bwd_data__cpu_igemm_avx512, fused_avx512, supports_all, cost, create, KERNEL_SLOT(LINEAR_W),
              linear_act_gradient_pack, linear_act_gradient_run, linear_act_gradient_destroy)
PACKED_KERNEL(linear_act_bwd_data__cpu_igemm_avx2, fused_avx2, supports_all, cost, create, KERNEL_SLOT(LINEAR_W),
              linear_act_gradient_pack, linear_act_gradient_run, linear_act_gradient_destroy)
PACKED_KERNEL(linear_act_bwd_data__cpu_igemm_portable, fused_portable, supports_all, cost, create,
              KERNEL_SLOT(LINEAR_W), linear_act_gradient_pack, linear_act_gradient_run, linear_act_gradient_destroy)
