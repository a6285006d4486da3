/*
 * integrate forward on CUDA: one launch for all streams and the integrated pathway.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/integrate/integrate.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/tile/shape.h"

static int64_t count_blocks(const braid_problem *p) {
    int64_t pixels = p->batch * integrate_out_size(p, 0) * integrate_out_size(p, 1);
    return launch_tiles(pixels, TILE_M) * launch_tiles(p->integrated_out, TILE_N);
}

static const char *supports(const braid_problem *p, const device *d) {
    (void)d;
    if (p->integrated_in >= LAUNCH_MAX_LENGTH || p->integrated_out >= LAUNCH_MAX_LENGTH ||
        p->size[0] >= LAUNCH_MAX_LENGTH || p->size[1] >= LAUNCH_MAX_LENGTH || p->stride[0] >= LAUNCH_MAX_LENGTH ||
        p->stride[1] >= LAUNCH_MAX_LENGTH)
        return "an axis has 2^30 places or more";
    if (count_blocks(p) > CUDA_MAX_BLOCKS) return launch_too_large;
    return launch_refuses_channels(p);
}

/* The integrated pathway, where there is one, and the streams. */
static void fill_sources(struct integrate_args *args, const braid_problem *p, const buffers *b) {
    if (p->integrated_in > 0) {
        args->source[args->sources++] = (struct integrate_source){
            .x = b->plane[INTEGRATE_Z][0],
            .weights = b->plane[INTEGRATE_W][0],
            .pitch = p->integrated_in,
            .channels = (int32_t)p->integrated_in,
            .size = {(int32_t)p->size[0], (int32_t)p->size[1]},
            .stride = {(int32_t)p->stride[0], (int32_t)p->stride[1]},
        };
    }
    for (int i = 0; i < p->streams; i++) {
        args->source[args->sources++] = (struct integrate_source){
            .x = b->plane[INTEGRATE_R][i],
            .weights = b->plane[INTEGRATE_V][i],
            .mask = b->plane[INTEGRATE_MASK][i],
            .pitch = p->in_pitch[i],
            .channels = (int32_t)p->in_channels[i],
            .size = {(int32_t)integrate_out_size(p, 0), (int32_t)integrate_out_size(p, 1)},
            .stride = {1, 1},
        };
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"integrate_fwd_f32", "integrate_fwd_f16", "integrate_fwd_bf16"};
    struct integrate_args args;
    (void)state;
    memset(&args, 0, sizeof args);
    fill_sources(&args, p, b);
    args.bias = b->plane[INTEGRATE_BIAS][0];
    args.y = b->plane[INTEGRATE_Y][0];
    args.batch = p->batch;
    args.outputs = (int32_t)p->integrated_out;
    for (int axis = 0; axis < 2; axis++) args.out_size[axis] = (int32_t)integrate_out_size(p, axis);
    return cuda_launch(d, &(cuda_call){.stem = "integrate_fwd",
                                       .function = launch_name(&names, p->dtype),
                                       .blocks = count_blocks(p),
                                       .threads = BLOCK_THREADS,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

_Static_assert(BRAID_MAX_STREAMS + 1 <= BRAID_MAX_PLANES, "there is a source for every stream and the pathway");

const kernel_functions integrate_fwd__cuda_direct = {.supports = supports, .cost = launch_cost, .launch = launch};
