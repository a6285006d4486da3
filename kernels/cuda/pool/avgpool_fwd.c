/*
 * avgpool forward on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/pool/avgpool.h"

static braid_status too_large(void) { return fail(BRAID_ERROR_ARGUMENT, "avgpool_fwd: %s", launch_too_large); }

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"avgpool_fwd", {"avgpool_fwd_f32", "avgpool_fwd_f16", "avgpool_fwd_bf16"}};
    struct avgpool_fwd_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    pixels_window(&args.window, p, p->out_size);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[AVGPOOL_X][i];
        args.plane[i].y = b->plane[AVGPOOL_Y][i];
    }
    args.sums = b->workspace;
    if (!pixels_divide_windows(PIXELS(&args), p, &args.parts)) return too_large();
    if (args.parts > 1) {
        args.counters = cuda_counters(d, args.map.first_block[BRAID_MAX_PLANES]);
        if (!args.counters) return too_large();
    }
    return pixels_launch_divided(PIXELS(&args), p, d, &functions);
}

const kernel_functions avgpool_fwd__cuda_direct = {.supports = pixels_refuse_windows,
                                                   .cost = launch_cost,
                                                   .create = pixels_create_windows,
                                                   .launch = launch,
                                                   .destroy = launch_destroy};
