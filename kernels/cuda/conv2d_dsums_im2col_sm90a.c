/*
 * conv2d_dsums on the matrix units, by launches of conv2d_dsums_im2col_sm90a.cu: one, but for streams whose tensor maps
 * do not all fit in an argument. Launches follow each other and share the workspace.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "kernels/cuda/conv2d_im2col_launch.h"
#include "kernels/cuda/dsums_launch.h"

static const char stem[] = "conv2d_dsums_im2col_sm90a";

static const im2col_tile by_r_list[] = {
    {112, "conv2d_dsums_f16_lanes112", "conv2d_dsums_bf16_lanes112"},
    {144, "conv2d_dsums_f16_lanes144", "conv2d_dsums_bf16_lanes144"},
    {176, "conv2d_dsums_f16_lanes176", "conv2d_dsums_bf16_lanes176"},
    {192, "conv2d_dsums_f16_lanes192", "conv2d_dsums_bf16_lanes192"},
    {224, "conv2d_dsums_f16_lanes224", "conv2d_dsums_bf16_lanes224"},
    {256, "conv2d_dsums_f16_lanes256", "conv2d_dsums_bf16_lanes256"},
    {0},
};
static const im2col_tiles by_r = {stem, 0, IM2COL_SUMS_BY_R, by_r_list};

static const im2col_tile by_x_list[] = {
    {112, "conv2d_dsums_x_f16_lanes112", "conv2d_dsums_x_bf16_lanes112"},
    {144, "conv2d_dsums_x_f16_lanes144", "conv2d_dsums_x_bf16_lanes144"},
    {176, "conv2d_dsums_x_f16_lanes176", "conv2d_dsums_x_bf16_lanes176"},
    {224, "conv2d_dsums_x_f16_lanes224", "conv2d_dsums_x_bf16_lanes224"},
    {0},
};
static const im2col_tiles by_x = {stem, 0, IM2COL_SUMS_BY_X, by_x_list};

static int reads_x(const braid_problem *p) { return (p->add & CONV2D_DSUMS_ADD_Z) != 0; }

static const im2col_tiles *tiles_of(const braid_problem *p) { return reads_x(p) ? &by_x : &by_r; }

/* The streams of one launch. */
static int most_streams(const braid_problem *p) {
    const int maps = IM2COL_READ + (reads_x(p) ? 2 : 1) + ((p->add & CONV2D_DSUMS_ADD_A) != 0);
    return IM2COL_MOST_MAPS / maps < IM2COL_MOST_STREAMS ? IM2COL_MOST_MAPS / maps : IM2COL_MOST_STREAMS;
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = NULL;
    for (int j = 0; j < launch_parts(p, most_streams(p)) && !reason; j++) {
        dsums_part part;
        dsums_take_part(&part, p, NULL, most_streams(p), j);
        reason = conv2d_im2col_refuses_sums(&part.conv, d, tiles_of(p)->sums);
    }
    return reason;
}

/* Behind the last tile the sums of all blocks are added. The planes beside may be what takes longest. */
static double cost(const braid_problem *p) {
    const double bytes_per_s = 3e12, launch_s = 5e-6, join_s = 3e-6;
    double all = 0;
    for (int j = 0; j < launch_parts(p, most_streams(p)); j++) {
        dsums_part part;
        dsums_take_part(&part, p, NULL, most_streams(p), j);
        const double memory = launch_s + op_bytes(&part.problem) / bytes_per_s;
        const double tiles = conv2d_im2col_cost(&part.conv, tiles_of(p));
        all += (tiles > memory ? tiles : memory) + join_s;
    }
    return all;
}

/* Of every launch its own state. */
typedef struct dsums_state {
    void *part[BRAID_MAX_PLANES];
} dsums_state;

static void destroy(device *d, void *state) {
    dsums_state *made = state;
    for (int j = 0; made && j < BRAID_MAX_PLANES; j++) conv2d_im2col_destroy(d, made->part[j]);
    memory_free(made);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    braid_status status = memory_calloc(1, sizeof(dsums_state), "conv2d_dsums", state);
    dsums_state *made = *state;
    *workspace_bytes = 0;
    for (int j = 0; j < launch_parts(p, most_streams(p)) && !status; j++) {
        dsums_part part;
        size_t bytes = 0;
        dsums_take_part(&part, p, NULL, most_streams(p), j);
        status = conv2d_im2col_create_sums(&part.conv, tiles_of(p), &made->part[j], &bytes);
        if (bytes > *workspace_bytes) *workspace_bytes = bytes;
    }
    if (!status) return BRAID_OK;
    destroy(d, made);
    *state = NULL;
    return status;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const dsums_state *made = state;
    for (int j = 0; j < launch_parts(p, most_streams(p)); j++) {
        dsums_part part;
        dsums_take_part(&part, p, b, most_streams(p), j);
        const im2col_beside beside = {.sums = &part.of_norm, .workspace = b->workspace};
        TRY(conv2d_im2col_launch_sums(&part.conv, d, made->part[j], &part.of_conv, &beside, tiles_of(p)));
    }
    return BRAID_OK;
}

const kernel_functions conv2d_dsums__cuda_im2col_lanes = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = destroy};
