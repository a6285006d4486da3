/*
 * The data gradients of li_conv2d: dr first, then the convolutions' own (tile/igemm.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/li_conv2d_gradient.h"
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"

static const conv_product convolution = {igemm_create_backward, igemm_pack, igemm_run, igemm_destroy};

static double cost(const braid_problem *p, const fused_tile *tile) {
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D);
    return igemm_cost(&conv, tile->gemm) + li_conv2d_gradient_cost(p, tile);
}

static braid_status create(const braid_problem *p, const fused_tile *tile, void **state, size_t *workspace_bytes) {
    return li_conv2d_gradient_create(p, &convolution, tile, state, workspace_bytes);
}

TILE_KERNEL(li_conv2d_bwd_data_bf16__cpu_igemm_amx_bf16, fused_amx_bf16, igemm_backward_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_data_bf16__cpu_igemm_avx512_bf16, fused_avx512_bf16, igemm_backward_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_data__cpu_igemm_avx512, fused_avx512, igemm_backward_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_data__cpu_igemm_avx2, fused_avx2, igemm_backward_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_data__cpu_igemm_portable, fused_portable, igemm_backward_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
