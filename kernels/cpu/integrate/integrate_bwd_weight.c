/*
 * The weight gradients of integrate, and of its bias: sums of outer products of dy with r_i and z over
 * the output pixels (tile/outer_product.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/integrate/integrate_convs.h"
#include "kernels/cpu/tile/outer_product.h"
#include "kernels/cpu/isa/tile_kernels.h"

static const conv_product product = {outer_product_create, NULL, outer_product_launch, outer_product_destroy};

static braid_status create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes) {
    return integrate_convs_create(p, &product, tile, state, workspace_bytes);
}

TILE_KERNELS(AMX_BF16, integrate_bwd_weight, cpu_outer_product, gemm, supports_all, integrate_cost, create,
             integrate_convs_run, integrate_convs_destroy)
