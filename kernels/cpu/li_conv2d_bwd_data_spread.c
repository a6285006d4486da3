/*
 * The data gradients of li_conv2d into images with few channels: dr first, then tile/spread.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/li_conv2d_gradient.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/spread.h"

static const conv_product convolution = {spread_create, spread_pack, spread_run, spread_destroy};

static double cost(const braid_problem *p, const fused_tile *tile) {
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D);
    return spread_cost(&conv, tile->gemm) + li_conv2d_gradient_cost(p, tile);
}

static braid_status create(const braid_problem *p, const fused_tile *tile, void **state, size_t *workspace_bytes) {
    return li_conv2d_gradient_create(p, &convolution, tile, state, workspace_bytes);
}

TILE_KERNEL(li_conv2d_bwd_data_bf16__cpu_spread_amx_bf16, fused_amx_bf16, spread_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_data_bf16__cpu_spread_avx512_bf16, fused_avx512_bf16, spread_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_data__cpu_spread_avx512, fused_avx512, spread_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_data__cpu_spread_avx2, fused_avx2, spread_supports, cost, create, li_conv2d_gradient_launch,
            li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_data__cpu_spread_portable, fused_portable, spread_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
