/*
 * What the launchers of the convolutions on sm_80's tensor cores share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_IGEMM_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV2D_IGEMM_LAUNCH_H

#include "kernels/cuda/conv2d_launch.h"

/* The functions of a pass by dtype; that of TF32 in place of f32 where the problem allows it. */
typedef struct igemm_names {
    const char *stem;
    launch_names by_dtype;
    const char *tf32;
} igemm_names;

/* Why these kernels cannot do a convolution, in words; NULL: they can. */
const char *conv2d_igemm_refuses(const braid_problem *p, const device *d);
extern const char conv2d_igemm_leaves_tf32[];

/* The argument of a problem that is not refused, with the blocks of these kernels. False where they are too many. */
int conv2d_igemm_fill(struct conv2d_args *args, const braid_problem *p, const buffers *b);

/* Fills the argument and launches the function of the problem's dtype. */
braid_status conv2d_igemm_launch(struct conv2d_args *args, const braid_problem *p, device *d, const igemm_names *names,
                                 const buffers *b);

double conv2d_igemm_cost(const braid_problem *p);

/* `const kernel_functions name`. The lines of f16 and bf16, of TF32 and of f32 (by three products of TF32) have the
 * same functions, but that those of f32 leave problems of TF32 to others. */
#define IGEMM_KERNEL(name, refuses, create_it, launch_it, destroy_it) \
    const kernel_functions name = {.supports = refuses,               \
                                   .cost = conv2d_igemm_cost,         \
                                   .create = create_it,               \
                                   .launch = launch_it,               \
                                   .destroy = destroy_it};
#define IGEMM_KERNEL_F32(name, refuses, create_it, launch_it, destroy_it)        \
    static const char *name##_refuses(const braid_problem *p, const device *d) { \
        return p->tf32 ? conv2d_igemm_leaves_tf32 : refuses(p, d);               \
    }                                                                            \
    IGEMM_KERNEL(name, name##_refuses, create_it, launch_it, destroy_it)

#endif
