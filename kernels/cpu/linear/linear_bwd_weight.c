/*
 * The weight gradient of linear, and of its bias: a sum of outer products over the output pixels
 * (tile/outer_product.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/outer_product.h"

TILE_KERNELS(AMX_BF16, linear_bwd_weight, cpu_outer_product, gemm, supports_all, outer_product_cost,
             outer_product_create, outer_product_launch, outer_product_destroy)
