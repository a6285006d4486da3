/*
 * fuse weight gradient on CUDA, two launches for all streams: products of every sample, and the gradient of the logits.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/sizes.h"
#include "kernels/cuda/elementwise/fuse_launch.h"
#include "kernels/cuda/tile/shape.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    size_t count = 0;
    (void)d;
    *state = NULL;
    TRY(size_array((size_t)p->batch, (size_t)p->streams, "products of samples", &count));
    return size_array(count, sizeof(double), "products of samples", workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"fuse_products_f32", "fuse_products_f16", "fuse_products_bf16"};
    struct fuse_args args;
    cuda_call call = {.stem = "fuse_bwd_weight", .threads = BLOCK_THREADS, .args = &args, .args_bytes = sizeof args};
    (void)state;
    fuse_fill(&args, p, b);
    args.products = b->workspace;
    args.dy = b->plane[FUSE_Y][0];
    args.dlogits = b->plane[FUSE_DLOGITS][0];
    call.function = launch_name(&names, p->dtype);
    call.blocks = p->batch;
    TRY(cuda_launch(d, &call));
    call.function = "fuse_dlogits";
    call.blocks = 1;
    return cuda_launch(d, &call);
}

static const char *supports(const braid_problem *p, const device *d) {
    return p->batch > CUDA_MAX_BLOCKS ? launch_too_large : pixels_refuse(p, d);
}

const kernel_functions fuse_bwd_weight__cuda_direct = {
    .supports = supports, .cost = launch_cost, .create = create, .launch = launch, .destroy = launch_destroy};
