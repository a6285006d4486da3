/*
 * What the launchers of the convolutions on sm_80's tensor cores share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_MMA_CONV2D_MMA_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV_MMA_CONV2D_MMA_LAUNCH_H

#include "kernels/cuda/conv/conv2d_launch.h"

/* The functions of a pass by dtype; that of TF32 in place of f32 where the problem allows it. */
typedef struct mma_names {
    const char *stem;
    launch_names by_dtype;
    const char *tf32;
} mma_names;

/* Why these kernels cannot do a convolution, in words; NULL: they can. */
const char *conv2d_mma_refuses(const braid_problem *p, const device *d);
extern const char conv2d_mma_leaves_tf32[];

/* The argument of a problem that is not refused, with the blocks of these kernels. False where they are too many. */
int conv2d_mma_fill(struct conv2d_args *args, const braid_problem *p, const buffers *b);

/* Fills the argument and launches the function of the problem's dtype. */
braid_status conv2d_mma_launch(struct conv2d_args *args, const braid_problem *p, device *d, const mma_names *names,
                               const buffers *b);

double conv2d_mma_cost(const braid_problem *p, const machine *on);

/* `const kernel_functions name`. The lines of f16 and bf16, of TF32 and of f32 (by three products of TF32) have the
 * same functions, but that those of f32 leave problems of TF32 to others. */
#define MMA_KERNEL(name, refuses, create_it, launch_it, destroy_it) \
    const kernel_functions name = {.supports = refuses,             \
                                   .cost = conv2d_mma_cost,         \
                                   .create = create_it,             \
                                   .launch = launch_it,             \
                                   .destroy = destroy_it};
#define MMA_KERNEL_F32(name, refuses, create_it, launch_it, destroy_it)          \
    static const char *name##_refuses(const braid_problem *p, const device *d) { \
        return p->tf32 ? conv2d_mma_leaves_tf32 : refuses(p, d);                 \
    }                                                                            \
    MMA_KERNEL(name, name##_refuses, create_it, launch_it, destroy_it)

#endif
