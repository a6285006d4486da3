/*
 * The weight gradients of li_conv2d: dr first, then the convolutions' own (tile/wgrad.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/li_conv2d_gradient.h"
#include "kernels/cpu/tile/wgrad.h"
#include "kernels/cpu/tile/isa.h"

static const conv_product convolution = {wgrad_create, NULL, wgrad_launch, wgrad_destroy};

static double cost(const braid_problem *p, const fused_tile *tile) {
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D);
    return wgrad_cost(&conv, tile->gemm) + li_conv2d_gradient_cost(p, tile);
}

static braid_status create(const braid_problem *p, const fused_tile *tile, void **state, size_t *workspace_bytes) {
    return li_conv2d_gradient_create(p, &convolution, tile, state, workspace_bytes);
}

TILE_KERNEL(li_conv2d_bwd_weight_bf16__cpu_outer_amx_bf16, fused_amx_bf16, supports_all, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_weight_bf16__cpu_outer_avx512_bf16, fused_avx512_bf16, supports_all, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_weight__cpu_outer_avx512, fused_avx512, supports_all, cost, create, li_conv2d_gradient_launch,
            li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_weight__cpu_outer_avx2, fused_avx2, supports_all, cost, create, li_conv2d_gradient_launch,
            li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_weight__cpu_outer_portable, fused_portable, supports_all, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
