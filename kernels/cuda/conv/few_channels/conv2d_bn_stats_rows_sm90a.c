/*
 * conv2d_bn_stats for few input channels on Hopper's matrix units: one launch of conv2d_fwd_rows_sm90a.cu.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/few_channels/conv2d_rows.h"

#include "kernels/cuda/conv/conv2d_bn_stats_launch.h"
#include "kernels/cuda/conv/few_channels/conv2d_rows_launch.h"
#include "kernels/cuda/tile/row_parts.h"

static const char *supports(const braid_problem *p, const device *d) {
    const braid_problem conv = conv2d_bn_stats_conv(p);
    return conv2d_rows_refuses(&conv, d);
}

/* What is added up hides behind what is stored. Behind the last row the parts of all blocks are added. */
static double cost(const braid_problem *p, const machine *on) {
    const braid_problem conv = conv2d_bn_stats_conv(p);
    const double join_s = 3e-6;
    return conv2d_rows_cost(&conv, on) + join_s;
}

/* Parts of the statistics of plane i: one for each of the two warpgroups of a block. */
static int32_t parts_of(const struct conv2d_rows_args *args, int i) {
    return 2 * (int32_t)launch_tiles(args->units, args->plane[i].part_units);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    const braid_problem conv = conv2d_bn_stats_conv(p);
    struct conv2d_rows_args args;
    int32_t most = 0;
    (void)d;
    *state = NULL;
    (void)conv2d_rows_fill(&args, &conv);
    for (int i = 0; i < args.planes; i++) {
        if (parts_of(&args, i) > most) most = parts_of(&args, i);
    }
    return conv2d_bn_stats_bytes(p, most, workspace_bytes);
}

/* Divides the counters among the planes. */
static braid_status fill_counters(struct conv2d_bn_stats_rows_args *args, device *d) {
    int64_t first[BRAID_MAX_PLANES], all = 0;
    for (int i = 0; i < args->rows.planes; i++) {
        const int64_t groups = launch_tiles(args->rows.plane[i].filters, ROW_PARTS_CHANNELS);
        args->parts[i] = parts_of(&args->rows, i);
        first[i] = all;
        all += groups * ROW_PARTS_COUNTERS(args->parts[i]);
        args->finishers += groups;
    }
    uint32_t *counters = cuda_counters(d, all + 1);
    if (!counters) return fail(BRAID_ERROR_ARGUMENT, "conv2d_bn_stats: %s", launch_too_large);
    for (int i = 0; i < args->rows.planes; i++) args->counters[i] = counters + first[i];
    args->finished = counters + all;
    return BRAID_OK;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {NULL, "conv2d_bn_stats_rows_f16", "conv2d_bn_stats_rows_bf16"};
    const braid_problem conv = conv2d_bn_stats_conv(p);
    struct conv2d_bn_stats_rows_args args = {.norm = conv2d_bn_stats_norm(p, b)};
    (void)state;
    (void)conv2d_rows_fill(&args.rows, &conv);
    TRY(conv2d_rows_bind(&args.rows, &conv, d, b, CONV2D_Y));
    TRY(fill_counters(&args, d));
    return cuda_launch(d, &(cuda_call){.stem = "conv2d_fwd_rows_sm90a",
                                       .function = launch_name(&names, p->dtype),
                                       .blocks = args.rows.first_block[BRAID_MAX_PLANES],
                                       .threads = ROWS_FWD_THREADS,
                                       .shared_bytes = (size_t)conv2d_rows_shared(&args.rows, &conv),
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

const kernel_functions conv2d_bn_stats__cuda_rows_wgmma = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = launch_destroy};
