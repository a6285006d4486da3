/*
 * layernorm weight gradients on CUDA, two launches for all streams. Of wide rows one finds the statistics and another
 * makes the sums of parts of the pixels and of those; of narrow ones one makes sums of parts, and another adds them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/sizes.h"
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/norm/rows.h"
#include "kernels/cuda/tile/sums.h"

static int is_narrow(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] > LAYERNORM_WARP_CHANNELS) return 0;
    }
    return 1;
}

/* The workspace of wide rows: the sums of the parts, and behind them mean and 1 / deviation of every row. */
static braid_status lay(const braid_problem *p, size_t *sums_bytes, size_t *workspace_bytes) {
    void *state = NULL;
    size_t rows = (size_t)(p->batch * p->size[0] * p->size[1]), bytes = 0;
    TRY(pixels_create_columns(p, sizeof(struct bn_gradients), &state, sums_bytes));
    TRY(size_array(rows, 2 * (size_t)p->streams, "statistics of rows", &bytes));
    TRY(size_array(bytes, sizeof(float), "statistics of rows", &bytes));
    if (!size_add(*sums_bytes, bytes, workspace_bytes))
        return fail(BRAID_ERROR_MEMORY, "layernorm: expected a workspace that fits, got %zu bytes and more",
                    *sums_bytes);
    return BRAID_OK;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    size_t sums_bytes = 0;
    (void)d;
    *state = NULL;
    if (is_narrow(p)) return pixels_create_row_parts(p, sizeof(struct bn_gradients), state, workspace_bytes);
    return lay(p, &sums_bytes, workspace_bytes);
}

static void bind(struct pixel_args *args, const braid_problem *p, const buffers *b) {
    pixel_args_begin(args, p);
    for (int i = 0; i < p->streams; i++) {
        args->plane[i].x = b->plane[LAYERNORM_X][i];
        args->plane[i].dy = b->plane[LAYERNORM_Y][i];
        args->plane[i].dgamma = b->plane[LAYERNORM_GAMMA][i];
        args->plane[i].dbeta = b->plane[LAYERNORM_BETA][i];
    }
}

/* The launch that finds mean and 1 / deviation of every row. */
static braid_status launch_rows(const braid_problem *p, device *d, const struct pixel_args *sums) {
    static const pixels_kernel functions = {"rows",
                                            {"layernorm_rows_f32", "layernorm_rows_f16", "layernorm_rows_bf16"}};
    struct layernorm_rows_args args;
    pixels_begin(PIXELS(&args), p);
    args.eps = p->eps;
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = sums->plane[i].x;
        args.plane[i].mean = sums->plane[i].mean;
        args.plane[i].rstd = sums->plane[i].var;
    }
    return pixels_launch_rows(PIXELS(&args), p, p->size, d, &functions);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel sums = {
        "layernorm_bwd_weight", {"layernorm_bwd_weight_f32", "layernorm_bwd_weight_f16", "layernorm_bwd_weight_bf16"}};
    static const pixels_kernel rows = {
        "layernorm_bwd_weight",
        {"layernorm_bwd_weight_rows_f32", "layernorm_bwd_weight_rows_f16", "layernorm_bwd_weight_rows_bf16"}};
    struct pixel_args args;
    size_t sums_bytes = 0, bytes = 0;
    int64_t count = p->batch * p->size[0] * p->size[1];
    (void)state;
    bind(&args, p, b);
    if (is_narrow(p)) return pixels_launch_row_parts(&args, p, p->size, b, d, &rows, "layernorm_bwd_weight_parts");
    TRY(lay(p, &sums_bytes, &bytes));
    float *statistics = (float *)((char *)b->workspace + sums_bytes);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].mean = statistics + 2 * i * count;
        args.plane[i].var = statistics + (2 * i + 1) * count;
    }
    TRY(launch_rows(p, d, &args));
    return pixels_launch_columns(&args, p, p->size, b, d, &sums, "layernorm_bwd_weight_parts");
}

const kernel_functions layernorm_bwd_weight__cuda_direct = {.supports = pixels_refuse_columns,
                                                            .cost = launch_cost,
                                                            .create = create,
                                                            .launch = launch,
                                                            .destroy = launch_destroy};
