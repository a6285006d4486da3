/*
 * conv2d weight gradient on CUDA, two launches for all streams: conv2d_bwd_weight.cu makes the sums of
 * parts of the pixels in the workspace, weight_sum.cu adds them in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/conv2d_launch.h"
#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/weight_sum_launch.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct conv2d_args args;
    size_t elements = 0;
    (void)d;
    *state = NULL;
    conv2d_fill(&args, p, NULL);
    TRY(size_array((size_t)args.part_elements, (size_t)args.parts, "partial weight gradients", &elements));
    return size_array(elements, sizeof(float), "partial weight gradients", workspace_bytes);
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = conv2d_refuses(p, d);
    for (int i = 0; i < p->streams && !reason; i++) {
        double elements =
            (double)p->out_channels[i] * (double)p->filter[0] * (double)p->filter[1] * (double)p->in_channels[i];
        if (elements / BLOCK_THREADS * p->streams >= CUDA_MAX_BLOCKS / 2.0) reason = launch_too_large;
    }
    return reason;
}

static braid_status sum_parts(const struct conv2d_args *first, device *d, braid_dtype dtype) {
    struct weight_sum_args args;
    memset(&args, 0, sizeof args);
    args.planes = first->planes;
    args.parts = first->parts;
    args.workspace = first->workspace;
    args.part_elements = first->part_elements;
    for (int i = 0; i < first->planes; i++) {
        const struct conv2d_plane *from = &first->plane[i];
        int64_t length = (int64_t)first->filter[0] * first->filter[1] * (from->in_channels / first->groups);
        int64_t end = i + 1 < first->planes ? first->plane[i + 1].partial : first->part_elements;
        args.plane[i] = (struct weight_sum_plane){.w = from->w,
                                                  .bias = from->bias,
                                                  .partial = from->partial,
                                                  .elements = end - from->partial,
                                                  .columns = length + first->bias};
    }
    return weight_sum_launch(&args, d, dtype);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"conv2d_bwd_weight_f32", "conv2d_bwd_weight_f16", "conv2d_bwd_weight_bf16"};
    struct conv2d_args args;
    (void)state;
    conv2d_fill(&args, p, b);
    TRY(conv2d_launch(&args, d, p->dtype, "conv2d_bwd_weight", &names));
    return sum_parts(&args, d, p->dtype);
}

const kernel_functions conv2d_bwd_weight__cuda_direct = {
    .supports = supports, .cost = launch_cost, .create = create, .launch = launch, .destroy = launch_destroy};
