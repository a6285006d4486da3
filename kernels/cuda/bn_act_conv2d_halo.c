/*
 * bn_act_conv2d on the matrix units of sm_90a, 3x3 at stride 1 and up to 64 input channels: the kernels of conv2d that
 * keep rows of input in shared memory, with warps that normalise and activate each row there before it is multiplied
 * (tile/halo_norm.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_halo_launch.h"

#define STEM "conv2d_fwd_halo_sm90a"

/* The convolution's, which hides most of what is done to a row and all of what is stored of it. */
static double cost(const braid_problem *p, const halo_shape *shape) {
    const double share = 1.08;
    return share * conv2d_halo_cost(p, shape);
}

#define NORM_FUNCTIONS(tile)                                                                              \
    static const char *tile##_supports(const braid_problem *p, const device *d) {                         \
        return conv2d_halo_refuses(p, d, &tile.shape);                                                    \
    }                                                                                                     \
    static double tile##_cost(const braid_problem *p) { return cost(p, &tile.shape); }                    \
    static braid_status tile##_launch(const braid_problem *p, device *d, void *state, const buffers *b) { \
        (void)state;                                                                                      \
        return conv2d_halo_launch(p, d, &tile, b);                                                        \
    }

static const halo_kernel of_rows112 = {
    {64, 112, 0, 0}, STEM, {NULL, "bn_act_conv2d_halo_rows112_f16", "bn_act_conv2d_halo_rows112_bf16"}};
NORM_FUNCTIONS(of_rows112)
const kernel_functions bn_act_conv2d__cuda_halo_rows112 = HALO_KERNEL(of_rows112);

static const halo_kernel of_rows136 = {
    {64, 136, 0, 0}, STEM, {NULL, "bn_act_conv2d_halo_rows136_f16", "bn_act_conv2d_halo_rows136_bf16"}};
NORM_FUNCTIONS(of_rows136)
const kernel_functions bn_act_conv2d__cuda_halo_rows136 = HALO_KERNEL(of_rows136);
