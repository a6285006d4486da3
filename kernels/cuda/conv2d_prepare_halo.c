/*
 * conv2d_prepare on the matrix units of sm_90a, 3x3 at stride 1 and up to 64 input channels: one launch that makes y,
 * takes its statistics on the way and does what bn_finalize does (conv2d_fwd_halo_sm90a.cu).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_halo_launch.h"
#include "kernels/cuda/conv2d_prepare_launch.h"

#define STEM "conv2d_fwd_halo_sm90a"

static const char *supports(const braid_problem *p, const device *d, const halo_shape *shape) {
    const braid_problem conv = conv2d_prepare_conv(p);
    return conv2d_halo_refuses_moments(&conv, d, shape);
}

/* What is added up hides behind the products of the other warpgroup. Behind the last row the parts of all blocks are
 * added. */
static double cost(const braid_problem *p, const halo_shape *shape) {
    const braid_problem conv = conv2d_prepare_conv(p);
    const double join_s = 3e-6;
    return conv2d_halo_cost(&conv, shape) + join_s;
}

static braid_status create(const braid_problem *p, const halo_shape *shape, void **state, size_t *workspace_bytes) {
    const braid_problem conv = conv2d_prepare_conv(p);
    *state = NULL;
    return conv2d_prepare_bytes(p, conv2d_halo_parts(&conv, shape), workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, const halo_kernel *k, const buffers *b) {
    const braid_problem conv = conv2d_prepare_conv(p);
    const struct bn_finalize_args norm = conv2d_prepare_norm(p, b);
    return conv2d_halo_launch_moments(&conv, d, k, b, &norm);
}

/* The functions of the kernel `tile`, a halo_kernel; PREPARE_KERNEL(tile) is its kernel_functions. */
#define PREPARE_FUNCTIONS(tile)                                                                                   \
    static const char *tile##_supports(const braid_problem *p, const device *d) {                                 \
        return supports(p, d, &tile.shape);                                                                       \
    }                                                                                                             \
    static double tile##_cost(const braid_problem *p) { return cost(p, &tile.shape); }                            \
    static braid_status tile##_create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) { \
        (void)d;                                                                                                  \
        return create(p, &tile.shape, state, workspace_bytes);                                                    \
    }                                                                                                             \
    static braid_status tile##_launch(const braid_problem *p, device *d, void *state, const buffers *b) {         \
        (void)state;                                                                                              \
        return launch(p, d, &tile, b);                                                                            \
    }
#define PREPARE_KERNEL(tile)                                                                                \
    {                                                                                                       \
        .supports = tile##_supports, .cost = tile##_cost, .create = tile##_create, .launch = tile##_launch, \
        .destroy = launch_destroy                                                                           \
    }

static const halo_kernel of_rows112 = {
    {64, 112, 0, 0}, STEM, {NULL, "conv2d_prepare_halo_rows112_f16", "conv2d_prepare_halo_rows112_bf16"}};
PREPARE_FUNCTIONS(of_rows112)
const kernel_functions conv2d_prepare__cuda_halo_rows112 = PREPARE_KERNEL(of_rows112);

static const halo_kernel of_rows136 = {
    {64, 136, 0, 0}, STEM, {NULL, "conv2d_prepare_halo_rows136_f16", "conv2d_prepare_halo_rows136_bf16"}};
PREPARE_FUNCTIONS(of_rows136)
const kernel_functions conv2d_prepare__cuda_halo_rows136 = PREPARE_KERNEL(of_rows136);
