/*
 * normalize on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "kernels/cuda/elementwise/normalize.h"
#include "kernels/cuda/launch/pixels_launch.h"

/* How many pixels are taken for one: those of a pack of one channel, where all planes are dense. */
static int64_t choose_fold(const braid_problem *p) {
    int64_t fold = 16 / (int64_t)dtype_bytes(p->dtype);
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] != p->in_pitch[i] || p->in_channels[i] >= LAUNCH_MAX_LENGTH / fold) return 1;
    }
    return p->size[0] * p->size[1] % fold ? 1 : fold;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"normalize", {"normalize_f32", "normalize_f16", "normalize_bf16"}};
    const int64_t fold = choose_fold(p);
    struct normalize_args args;
    braid_problem folded = *p;
    (void)state;
    folded.size[0] = p->size[0] * p->size[1] / fold;
    folded.size[1] = 1;
    for (int i = 0; i < p->streams; i++) {
        folded.in_channels[i] *= fold;
        folded.in_pitch[i] *= fold;
    }
    pixels_begin(PIXELS(&args), &folded);
    for (int i = 0; i < p->streams; i++) {
        args.folded[i] = fold > 1 ? p->in_channels[i] : 0;
        args.plane[i].x = b->plane[NORMALIZE_X][i];
        args.plane[i].mean = b->plane[NORMALIZE_MEAN][i];
        args.plane[i].deviation = b->plane[NORMALIZE_STD][i];
        args.plane[i].y = b->plane[NORMALIZE_Y][i];
    }
    return pixels_launch(PIXELS(&args), &folded, folded.size, d, &functions);
}

const kernel_functions normalize__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
