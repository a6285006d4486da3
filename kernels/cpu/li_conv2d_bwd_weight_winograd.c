/*
 * The weight gradients of li_conv2d in f32 for 3x3 filters at stride 1: dr first, then tile/winograd_weight.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/li_conv2d_winograd.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/winograd_weight.h"

static double cost(const braid_problem *p, const winograd_gradient *g) {
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D);
    return winograd_weight_cost(&conv, g->tile->product) + li_conv2d_gradient_cost(p, g->tile->fused);
}

WINOGRAD_GRADIENT(avx512, winograd_weight_create, NULL, winograd_weight_launch, winograd_weight_destroy)
WINOGRAD_GRADIENT(avx2, winograd_weight_create, NULL, winograd_weight_launch, winograd_weight_destroy)
WINOGRAD_GRADIENT(portable, winograd_weight_create, NULL, winograd_weight_launch, winograd_weight_destroy)

TILE_KERNEL(li_conv2d_bwd_weight_f32__cpu_winograd_avx512, gradient_avx512, winograd_weight_supports, cost,
            winograd_gradient_create, li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_weight_f32__cpu_winograd_avx2, gradient_avx2, winograd_weight_supports, cost,
            winograd_gradient_create, li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_weight_f32__cpu_winograd_portable, gradient_portable, winograd_weight_supports, cost,
            winograd_gradient_create, li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
