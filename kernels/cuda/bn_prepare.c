/*
 * bn_prepare on CUDA, one launch for all streams: the sums of bn_stats, and what bn_finalize makes of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/bn_join_launch.h"
#include "kernels/cuda/bn_prepare.h"
#include "kernels/cuda/pixels_launch.h"
#include "kernels/cuda/tile/shape.h"

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = pixels_refuse_columns(p, d);
    int64_t channels = 0;
    for (int i = 0; i < p->streams; i++) channels += p->in_channels[i];
    if (!reason && channels < 1) reason = "there are no channels";
    if (!reason && channels >= CUDA_MOST_COUNTERS) reason = "there are not enough counters for so many channels";
    return reason;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return pixels_create_columns(p, sizeof(struct bn_moments), state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"bn_prepare_f32", "bn_prepare_f16", "bn_prepare_bf16"};
    struct bn_prepare_args args;
    int64_t blocks;
    (void)state;
    memset(&args, 0, sizeof args);
    pixels_begin(&args.sums, p);
    for (int i = 0; i < p->streams; i++) {
        args.sums.plane[i].x = b->plane[BN_PREPARE_X][i];
        args.sums.plane[i].mask = b->plane[BN_PREPARE_MASK][i];
    }
    bn_prepare_norm(&args.norm, p, b);
    TRY(pixels_divide_columns(&args.sums, p, b, d, 1, &blocks));
    return cuda_launch(d, &(cuda_call){.stem = "bn_prepare",
                                       .function = launch_name(&names, p->dtype),
                                       .blocks = blocks,
                                       .threads = BLOCK_THREADS,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

const kernel_functions bn_prepare__cuda_direct = {
    .supports = supports, .cost = launch_cost, .create = create, .launch = launch, .destroy = launch_destroy};
