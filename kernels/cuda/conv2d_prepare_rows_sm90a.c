/*
 * conv2d_prepare for few input channels on Hopper's matrix units: a launch that makes y and takes its statistics on the
 * way, and one that adds their parts and does what bn_finalize does.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_join_launch.h"
#include "kernels/cuda/conv2d_rows_launch.h"

static const char *supports(const braid_problem *p, const device *d) {
    const braid_problem conv = bn_join_step(p, 0);
    return conv2d_rows_refuses(&conv, d);
}

/* What is added up hides behind what is stored; the second launch does not. */
static double cost(const braid_problem *p) {
    const braid_problem conv = bn_join_step(p, 0);
    const double join_s = 6e-6;
    return conv2d_rows_cost(&conv) + join_s;
}

/* Parts of the statistics of every plane: one for each of the two warpgroups of a block. Returns the most of them. */
static int32_t count_parts(int32_t parts[BRAID_MAX_PLANES], const struct conv2d_rows_args *args) {
    int32_t most = 0;
    for (int i = 0; i < args->planes; i++) {
        parts[i] = 2 * (int32_t)launch_tiles(args->units, args->plane[i].part_units);
        if (parts[i] > most) most = parts[i];
    }
    return most;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    const braid_problem conv = bn_join_step(p, 0), norm = bn_join_step(p, 1);
    struct conv2d_rows_args args;
    int32_t parts[BRAID_MAX_PLANES];
    (void)d;
    *state = NULL;
    (void)conv2d_rows_fill(&args, &conv);
    return bn_join_bytes(&norm, count_parts(parts, &args), workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {NULL, "conv2d_prepare_rows_f16", "conv2d_prepare_rows_bf16"};
    const braid_problem conv = bn_join_step(p, 0), norm = bn_join_step(p, 1);
    const buffers of_norm = bn_join_operands(b, CONV2D_PREPARE_GAMMA, CONV2D_MASK, p->streams);
    struct conv2d_rows_args args;
    int32_t parts[BRAID_MAX_PLANES];
    (void)state;
    TRY(conv2d_rows_launch(&args, &conv, d, "conv2d_fwd_rows_sm90a", &names, b));
    (void)count_parts(parts, &args);
    return bn_join_launch(&norm, d, &of_norm, b->workspace, parts);
}

const kernel_functions conv2d_prepare__cuda_rows_wgmma = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = launch_destroy};
