/*
 * The weight gradients of li_conv2d for images with few channels: dr first, then the convolutions' own from copied
 * rows (tile/lines.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/li_conv2d_gradient.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/lines.h"

/* What the kernel of one instruction set is made of. */
typedef struct gradient_tile {
    const fused_tile *fused;
    const lines_tile *lines;
    conv_product convolution;
} gradient_tile;

static double cost(const braid_problem *p, const gradient_tile *g) {
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D);
    return lines_cost(&conv, g->lines) + li_conv2d_gradient_cost(p, g->fused);
}

/* A product of tile/ for each instruction set: the matrix tile that it is handed is part of its own. */
static braid_status create_avx512(const braid_problem *conv, const gemm_tile *tile, void **state, size_t *bytes) {
    (void)tile;
    return lines_create(conv, &lines_avx512, state, bytes);
}

static braid_status create_avx2(const braid_problem *conv, const gemm_tile *tile, void **state, size_t *bytes) {
    (void)tile;
    return lines_create(conv, &lines_avx2, state, bytes);
}

static braid_status create_portable(const braid_problem *conv, const gemm_tile *tile, void **state, size_t *bytes) {
    (void)tile;
    return lines_create(conv, &lines_portable, state, bytes);
}

static const gradient_tile gradient_avx512 = {
    &fused_avx512, &lines_avx512, {create_avx512, NULL, lines_launch_weight, lines_destroy}};
static const gradient_tile gradient_avx2 = {
    &fused_avx2, &lines_avx2, {create_avx2, NULL, lines_launch_weight, lines_destroy}};
static const gradient_tile gradient_portable = {
    &fused_portable, &lines_portable, {create_portable, NULL, lines_launch_weight, lines_destroy}};

static braid_status create(const braid_problem *p, const gradient_tile *g, void **state, size_t *workspace_bytes) {
    return li_conv2d_gradient_create(p, &g->convolution, g->fused, state, workspace_bytes);
}

TILE_KERNEL(li_conv2d_bwd_weight__cpu_lines_avx512, gradient_avx512, lines_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_weight__cpu_lines_avx2, gradient_avx2, lines_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
TILE_KERNEL(li_conv2d_bwd_weight__cpu_lines_portable, gradient_portable, lines_supports, cost, create,
            li_conv2d_gradient_launch, li_conv2d_gradient_destroy)
