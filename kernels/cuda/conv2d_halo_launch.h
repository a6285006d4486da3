/*
 * What the launchers of the 3x3 halo kernels share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_HALO_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV2D_HALO_LAUNCH_H

#include "kernels/cuda/conv2d_halo.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/sums.h"

/* One kernel: output channels and pixels of its tile, and rings of weights (tile/halo.cuh; 0: tile/halo_rows.cuh).
 * `halves`: 1 at stride 2, where pixels are those of dy. */
typedef struct halo_shape {
    int channels, pixels, rings, halves;
} halo_shape;

/* `stem` and `names`: of the pass. */
typedef struct halo_kernel {
    halo_shape shape;
    const char *stem;
    launch_names names;
} halo_kernel;

/* Problems of conv2d, of conv2d_scale_bias_act, and for kernels that normalise what they read of bn_act_conv2d. */
const char *conv2d_halo_refuses(const braid_problem *p, const device *d, const halo_shape *shape);
double conv2d_halo_cost(const braid_problem *p, const halo_shape *shape);
braid_status conv2d_halo_launch(const braid_problem *p, device *d, const halo_kernel *k, const buffers *b);

/* The same for those that take statistics of their outputs and do what bn_finalize does: [part][channel of all streams]
 * in the workspace, as many parts for each stream. */
const char *conv2d_halo_refuses_moments(const braid_problem *p, const device *d, const halo_shape *shape);
int32_t conv2d_halo_parts(const braid_problem *p, const halo_shape *shape);
braid_status conv2d_halo_launch_moments(const braid_problem *p, device *d, const halo_kernel *k, const buffers *b,
                                        const struct bn_finalize_args *norm);

/* The same for those that leave the sums of conv2d_dsums: parts in the workspace of `norm`, the operands of the
 * normalisation, which tell where the sums go, too. `by_x`: the ReLU is read off x. */
const char *conv2d_halo_refuses_sums(const braid_problem *p, const device *d, const halo_shape *shape, int by_x);
braid_status conv2d_halo_launch_sums(const braid_problem *p, device *d, const halo_kernel *k, const buffers *b,
                                     const buffers *norm);

/* The map of stream i's weights: boxes of 64 x 64 of one tap. */
braid_status conv2d_halo_map_weights(cuda_tensor_map *to, device *d, const braid_problem *p, const buffers *b, int i);

/* The functions of the kernel `tile`, a halo_kernel; HALO_KERNEL(tile) is its kernel_functions. */
#define HALO_FUNCTIONS(tile)                                                                              \
    static const char *tile##_supports(const braid_problem *p, const device *d) {                         \
        return conv2d_halo_refuses(p, d, &tile.shape);                                                    \
    }                                                                                                     \
    static double tile##_cost(const braid_problem *p) { return conv2d_halo_cost(p, &tile.shape); }        \
    static braid_status tile##_launch(const braid_problem *p, device *d, void *state, const buffers *b) { \
        (void)state;                                                                                      \
        return conv2d_halo_launch(p, d, &tile, b);                                                        \
    }
#define HALO_KERNEL(tile) \
    { .supports = tile##_supports, .cost = tile##_cost, .launch = tile##_launch }

#endif
