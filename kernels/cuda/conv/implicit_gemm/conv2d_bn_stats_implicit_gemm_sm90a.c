/*
 * conv2d_bn_stats on the matrix units, all streams in one launch of conv2d_bn_stats_implicit_gemm_sm90a.cu, which also
 * does what bn_finalize does.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/implicit_gemm/conv2d_implicit_gemm_launch.h"
#include "kernels/cuda/conv/conv2d_bn_stats_launch.h"

#define TILE(name, columns, split, sums) IMPLICIT_TILE("conv2d_bn_stats", name, columns, split, sums)
static const implicit_tile list[] = {IMPLICIT_BN_STATS_TILES(TILE){0}};
static const implicit_tiles tiles = {"conv2d_bn_stats_implicit_gemm_sm90a", list};

static const char *supports(const braid_problem *p, const device *d) {
    const braid_problem conv = conv2d_bn_stats_conv(p);
    return conv2d_implicit_gemm_refuses_sums(&conv, d, IMPLICIT_MOMENTS);
}

/* Behind the last tile the parts of all blocks are added. */
static double cost(const braid_problem *p, const machine *on) {
    const braid_problem conv = conv2d_bn_stats_conv(p);
    const double join_s = 3e-6;
    return conv2d_implicit_gemm_cost(&conv, on, &tiles) + join_s;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    const braid_problem conv = conv2d_bn_stats_conv(p);
    (void)d;
    return conv2d_implicit_gemm_create_sums(&conv, &tiles, state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const braid_problem conv = conv2d_bn_stats_conv(p);
    const struct bn_finalize_args norm = conv2d_bn_stats_norm(p, b);
    const implicit_beside beside = {.norm = &norm, .workspace = b->workspace};
    return conv2d_implicit_gemm_launch_sums(&conv, d, state, b, &beside, &tiles);
}

const kernel_functions conv2d_bn_stats__cuda_implicit_gemm_lanes = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = conv2d_implicit_gemm_destroy};
