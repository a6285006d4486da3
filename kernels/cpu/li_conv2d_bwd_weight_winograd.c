/*
 * The weight gradients of li_conv2d in f32 for 3x3 filters at stride 1: dr first, then tile/winograd_weight.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/li_conv2d_gradient.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/winograd_weight.h"

#define FEWEST_PIXELS 64 /* for the reason of fused_winograd_refuses */

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = winograd_weight_supports(p, d);
    if (reason) return reason;
    const double pixels = (double)p->batch * (double)conv2d_out_size(p, 0) * (double)conv2d_out_size(p, 1);
    return pixels < FEWEST_PIXELS ? "mixes the errors of neighbours: sums over 64 pixels and more" : NULL;
}

/* What the kernel of one instruction set is made of. */
typedef struct gradient_tile {
    const fused_winograd *tile;
    conv_product convolution;
} gradient_tile;

static double cost(const braid_problem *p, const gradient_tile *g) {
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D);
    return winograd_weight_cost(&conv, g->tile->product) + li_conv2d_gradient_cost(p, g->tile->fused);
}

/* A product of tile/ for each instruction set: the matrix tile that it is handed is part of its own. */
static braid_status create_avx512(const braid_problem *conv, const gemm_tile *tile, void **state, size_t *bytes) {
    (void)tile;
    return winograd_weight_create(conv, &winograd_avx512, state, bytes);
}

static braid_status create_avx2(const braid_problem *conv, const gemm_tile *tile, void **state, size_t *bytes) {
    (void)tile;
    return winograd_weight_create(conv, &winograd_avx2, state, bytes);
}

static braid_status create_portable(const braid_problem *conv, const gemm_tile *tile, void **state, size_t *bytes) {
    (void)tile;
    return winograd_weight_create(conv, &winograd_portable, state, bytes);
}

static const gradient_tile gradient_avx512 = {&fused_winograd_avx512,
                                              {create_avx512, winograd_weight_launch, winograd_weight_destroy}};
static const gradient_tile gradient_avx2 = {&fused_winograd_avx2,
                                            {create_avx2, winograd_weight_launch, winograd_weight_destroy}};
static const gradient_tile gradient_portable = {&fused_winograd_portable,
                                                {create_portable, winograd_weight_launch, winograd_weight_destroy}};

static braid_status create(const braid_problem *p, const gradient_tile *g, void **state, size_t *workspace_bytes) {
    return li_conv2d_gradient_create(p, &g->convolution, g->tile->fused, state, workspace_bytes);
}

TILE_KERNEL(li_conv2d_bwd_weight_f32__cpu_winograd_avx512, gradient_avx512, supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_weight_f32__cpu_winograd_avx2, gradient_avx2, supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_weight_f32__cpu_winograd_portable, gradient_portable, supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
