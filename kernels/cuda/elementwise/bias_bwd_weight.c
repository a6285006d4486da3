/*
 * The gradient of bias on CUDA, one launch for all streams: sums of parts of the pixels, and by the last blocks the
 * sums of those.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/tile/sums.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return pixels_create_columns(p, sizeof(struct bias_sum), state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"bias",
                                            {"bias_bwd_weight_f32", "bias_bwd_weight_f16", "bias_bwd_weight_bf16"}};
    static const launch_names parts = {"bias_bwd_weight_parts_f32", "bias_bwd_weight_parts_f16",
                                       "bias_bwd_weight_parts_bf16"};
    struct pixel_args args;
    (void)state;
    pixel_args_begin(&args, p);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].dy = b->plane[BIAS_Y][i];
        args.plane[i].mask = b->plane[BIAS_MASK][i];
        args.plane[i].dz = b->plane[BIAS_BIAS][i];
    }
    return pixels_launch_columns(&args, p, p->size, b, d, &functions, launch_name(&parts, p->dtype));
}

const kernel_functions bias_bwd_weight__cuda_direct = {.supports = pixels_refuse_columns,
                                                       .cost = launch_cost,
                                                       .create = create,
                                                       .launch = launch,
                                                       .destroy = launch_destroy};
