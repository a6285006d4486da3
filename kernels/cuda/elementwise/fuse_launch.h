/*
 * What the launchers of fuse share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_ELEMENTWISE_FUSE_LAUNCH_H
#define BRAID_KERNELS_CUDA_ELEMENTWISE_FUSE_LAUNCH_H

#include "kernels/cuda/elementwise/fuse.h"
#include "kernels/cuda/launch/pixels_launch.h"

/* The argument: a sample is an image of one pixel, and every stream knows its columns of y. */
static inline void fuse_fill(struct fuse_args *args, const braid_problem *p, const buffers *b) {
    pixels_begin(PIXELS(args), p);
    args->logits = b->plane[FUSE_LOGITS][0];
    args->fusion = (int32_t)p->fusion;
    args->map.batch = p->batch;
    for (int i = 0; i < p->streams; i++) {
        args->column[i] = args->width;
        args->width += p->in_channels[i];
        args->plane[i].x = b->plane[FUSE_X][i];
    }
}

#endif
