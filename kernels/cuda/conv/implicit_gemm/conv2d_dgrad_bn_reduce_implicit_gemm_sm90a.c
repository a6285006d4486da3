/*
 * conv2d_dgrad_bn_reduce on the matrix units, by launches of conv2d_dgrad_bn_reduce_implicit_gemm_sm90a.cu: one, but
 * for streams whose tensor maps do not all fit in an argument. Launches follow each other and share the workspace.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "kernels/cuda/conv/implicit_gemm/conv2d_implicit_gemm_launch.h"
#include "kernels/cuda/launch/bn_reduce_launch.h"

static const char stem[] = "conv2d_dgrad_bn_reduce_implicit_gemm_sm90a";

#define TILE(name, columns, split, sums) IMPLICIT_TILE("conv2d_dgrad_bn_reduce", name, columns, split, sums)
#define TILE_X(name, columns, split, sums) IMPLICIT_TILE("conv2d_dgrad_bn_reduce_x", name, columns, split, sums)
static const implicit_tile by_r_list[] = {IMPLICIT_BN_REDUCE_TILES(TILE){0}};
static const implicit_tile by_x_list[] = {IMPLICIT_BN_REDUCE_X_TILES(TILE_X){0}};
static const implicit_tiles by_r = {stem, by_r_list}, by_x = {stem, by_x_list};

static int reads_x(const braid_problem *p) { return (p->add & CONV2D_DGRAD_BN_REDUCE_ADD_Z) != 0; }

static const implicit_tiles *tiles_of(const braid_problem *p) { return reads_x(p) ? &by_x : &by_r; }

/* The streams of one launch. */
static int most_streams(const braid_problem *p) {
    const int maps = IMPLICIT_READ + (reads_x(p) ? 2 : 1) + ((p->add & CONV2D_DGRAD_BN_REDUCE_ADD_A) != 0);
    return IMPLICIT_MOST_MAPS / maps < IMPLICIT_MOST_STREAMS ? IMPLICIT_MOST_MAPS / maps : IMPLICIT_MOST_STREAMS;
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = NULL;
    for (int j = 0; j < launch_parts(p, most_streams(p)) && !reason; j++) {
        bn_reduce_part part;
        bn_reduce_take_part(&part, p, NULL, most_streams(p), j);
        reason = conv2d_implicit_gemm_refuses_sums(&part.conv, d, tiles_of(p)->list->sums);
    }
    return reason;
}

/* Behind the last tile the sums of all blocks are added. The planes beside may be what takes longest. */
static double cost(const braid_problem *p, const machine *on) {
    const double bytes_per_s = 3e12, launch_s = 5e-6, join_s = 3e-6;
    double all = 0;
    for (int j = 0; j < launch_parts(p, most_streams(p)); j++) {
        bn_reduce_part part;
        bn_reduce_take_part(&part, p, NULL, most_streams(p), j);
        const double memory = launch_s + op_bytes(&part.problem) / bytes_per_s;
        const double tiles = conv2d_implicit_gemm_cost(&part.conv, on, tiles_of(p));
        all += (tiles > memory ? tiles : memory) + join_s;
    }
    return all;
}

/* Of every launch its own state. */
typedef struct bn_reduce_state {
    void *part[BRAID_MAX_PLANES];
} bn_reduce_state;

static void destroy(device *d, void *state) {
    bn_reduce_state *made = state;
    for (int j = 0; made && j < BRAID_MAX_PLANES; j++) conv2d_implicit_gemm_destroy(d, made->part[j]);
    memory_free(made);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    braid_status status = memory_calloc(1, sizeof(bn_reduce_state), "conv2d_dgrad_bn_reduce", state);
    bn_reduce_state *made = *state;
    *workspace_bytes = 0;
    for (int j = 0; j < launch_parts(p, most_streams(p)) && !status; j++) {
        bn_reduce_part part;
        size_t bytes = 0;
        bn_reduce_take_part(&part, p, NULL, most_streams(p), j);
        status = conv2d_implicit_gemm_create_sums(&part.conv, tiles_of(p), &made->part[j], &bytes);
        if (bytes > *workspace_bytes) *workspace_bytes = bytes;
    }
    if (!status) return BRAID_OK;
    destroy(d, made);
    *state = NULL;
    return status;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const bn_reduce_state *made = state;
    for (int j = 0; j < launch_parts(p, most_streams(p)); j++) {
        bn_reduce_part part;
        bn_reduce_take_part(&part, p, b, most_streams(p), j);
        const implicit_beside beside = {.sums = &part.of_norm, .workspace = b->workspace};
        TRY(conv2d_implicit_gemm_launch_sums(&part.conv, d, made->part[j], &part.of_conv, &beside, tiles_of(p)));
    }
    return BRAID_OK;
}

const kernel_functions conv2d_dgrad_bn_reduce__cuda_implicit_gemm_lanes = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = destroy};
