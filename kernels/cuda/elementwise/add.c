/*
 * add on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/elementwise/add.h"
#include "kernels/cuda/launch/pixels_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"add", {"add_f32", "add_f16", "add_bf16"}};
    struct add_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[ADD_X][i];
        args.plane[i].z = b->plane[ADD_Z][i];
        args.plane[i].y = b->plane[ADD_Y][i];
    }
    return pixels_launch_flat(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions add__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
