/*
 * conv2d_pool_bn_bwd_apply for few input channels on Hopper's matrix units, two launches for all streams:
 * conv2d_pool_bn_bwd_apply_rows_sm90a.cu makes the sums of parts of the pixels in the workspace, weight_sum.cu adds
 * them in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/conv/few_channels/conv2d_rows.h"
#include "kernels/cuda/conv/few_channels/conv2d_rows_launch.h"
#include "kernels/cuda/reduce/weight_sum_launch.h"

static const char *supports(const braid_problem *p, const device *d) {
    struct conv2d_rows_args args;
    const braid_problem conv = conv2d_pool_bn_bwd_apply_conv(p);
    const char *reason = conv2d_rows_refuses(&conv, d);
    if (!reason) reason = weight_sum_refuses(&conv);
    return reason || conv2d_rows_fill_down(&args, &conv, POOL_ROWS_PIXELS) ? reason : launch_too_large;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    const braid_problem conv = conv2d_pool_bn_bwd_apply_conv(p);
    struct conv2d_rows_args args;
    (void)d;
    *state = NULL;
    (void)conv2d_rows_fill_down(&args, &conv, POOL_ROWS_PIXELS);
    return weight_sum_bytes(&conv, conv2d_rows_parts(&args), workspace_bytes);
}

/* Those of conv2d; y, which is made on the way, has the shape of r. */
static buffers conv_buffers(const braid_problem *p, const buffers *b) {
    buffers of_conv = {.workspace = b->workspace};
    for (int i = 0; i < p->streams; i++) {
        of_conv.plane[CONV2D_X][i] = b->plane[CONV2D_POOL_BN_BWD_APPLY_X][i];
        of_conv.plane[CONV2D_W][i] = b->plane[CONV2D_POOL_BN_BWD_APPLY_DW][i];
        of_conv.plane[CONV2D_MASK][i] = b->plane[CONV2D_POOL_BN_BWD_APPLY_MASK][i];
        of_conv.plane[CONV2D_Y][i] = b->plane[CONV2D_POOL_BN_BWD_APPLY_R][i];
    }
    return of_conv;
}

static void fill_norm(struct conv2d_pool_rows_args *args, const braid_problem *norm, const buffers *b) {
    for (int i = 0; i < norm->streams; i++) {
        args->norm[i] = (struct conv2d_pool_plane){.x = b->plane[CONV2D_POOL_BN_BWD_APPLY_R][i],
                                                   .dy = b->plane[CONV2D_POOL_BN_BWD_APPLY_DY][i],
                                                   .scale = b->plane[CONV2D_POOL_BN_BWD_APPLY_SCALE][i],
                                                   .shift = b->plane[CONV2D_POOL_BN_BWD_APPLY_SHIFT][i],
                                                   .center = b->plane[CONV2D_POOL_BN_BWD_APPLY_CENTER][i],
                                                   .rstd = b->plane[CONV2D_POOL_BN_BWD_APPLY_RSTD][i],
                                                   .gamma = b->plane[CONV2D_POOL_BN_BWD_APPLY_GAMMA][i],
                                                   .dgamma = b->plane[CONV2D_POOL_BN_BWD_APPLY_DGAMMA][i],
                                                   .dbeta = b->plane[CONV2D_POOL_BN_BWD_APPLY_DBETA][i],
                                                   .pitch = norm->in_pitch[i],
                                                   .channels = norm->in_channels[i]};
    }
    for (int axis = 0; axis < 2; axis++) {
        args->window.size[axis] = (int32_t)norm->size[axis];
        args->window.out_size[axis] = (int32_t)maxpool_out_size(norm, axis);
    }
    args->batch = (int32_t)norm->batch;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {NULL, "conv2d_pool_bn_bwd_apply_rows_f16", "conv2d_pool_bn_bwd_apply_rows_bf16"};
    const braid_problem conv = conv2d_pool_bn_bwd_apply_conv(p), norm = conv2d_pool_bn_bwd_apply_norm(p);
    struct conv2d_pool_rows_args args;
    const buffers of_conv = conv_buffers(p, b);
    (void)state;
    memset(&args, 0, sizeof args);
    (void)conv2d_rows_fill_down(&args.rows, &conv, POOL_ROWS_PIXELS);
    TRY(conv2d_rows_bind(&args.rows, &conv, d, &of_conv, CONV2D_Y));
    fill_norm(&args, &norm, b);
    TRY(cuda_launch(d, &(cuda_call){.stem = "conv2d_pool_bn_bwd_apply_rows_sm90a",
                                    .function = launch_name(&names, p->dtype),
                                    .blocks = args.rows.first_block[BRAID_MAX_PLANES],
                                    .threads = POOL_ROWS_THREADS,
                                    .shared_bytes = (size_t)conv2d_rows_shared(&args.rows, &conv),
                                    .args = &args,
                                    .args_bytes = sizeof args}));
    return weight_sum_conv2d(&conv, conv2d_rows_parts(&args.rows), d, &of_conv);
}

/* Three warps that spread the lines of x are the longest at three channels, those that make the gradient at one. */
static double cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double makers = 1100, spreaders = 60; /* cycles of a row, and for each (s, c) of a line */
    const braid_problem conv = conv2d_pool_bn_bwd_apply_conv(p);
    struct conv2d_rows_args args;
    double row = makers;
    (void)conv2d_rows_fill_down(&args, &conv, POOL_ROWS_PIXELS); /* `supports` has asked */
    for (int i = 0; i < p->streams; i++) {
        const double spread = spreaders * (double)args.plane[i].spread;
        if (spread > row) row = spread;
    }
    return conv2d_rows_seconds(&args, &conv, op_bytes(p), row);
}

const kernel_functions conv2d_pool_bn_bwd_apply__cuda_rows_wgmma = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = launch_destroy};
