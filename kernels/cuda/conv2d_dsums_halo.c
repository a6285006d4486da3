/*
 * conv2d_dsums on the matrix units of sm_90a, 3x3 at stride 1 and up to 64 channels of dy: one launch that makes dx and
 * adds it up on the way (conv2d_dsums_halo_sm90a.cu), or several, of the streams whose tensor maps fit in an argument.
 * Launches follow each other and share the workspace.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_halo_launch.h"
#include "kernels/cuda/dsums_launch.h"

#define STEM "conv2d_dsums_halo_sm90a"

/* The kernels of one tile, by what they read the ReLU off. */
typedef struct dsums_kernel {
    halo_kernel by_r, by_x;
} dsums_kernel;

static int reads_x(const braid_problem *p) { return (p->add & CONV2D_DSUMS_ADD_Z) != 0; }

/* The streams of one launch. */
static int most_streams(const braid_problem *p) { return reads_x(p) ? HALO_DSUMS_STREAMS : HALO_MOST_STREAMS; }

static const char *supports(const braid_problem *p, const device *d, const halo_shape *shape) {
    const char *reason = dsums_refuse_empty(p);
    for (int j = 0; j < launch_parts(p, most_streams(p)) && !reason; j++) {
        dsums_part part;
        dsums_take_part(&part, p, NULL, most_streams(p), j);
        reason = conv2d_halo_refuses_sums(&part.conv, d, shape, reads_x(p));
    }
    return reason;
}

/* What is added up hides behind the products of the other warpgroup; what is read for it hides less. */
static double cost(const braid_problem *p, const halo_shape *shape) {
    const double join_s = 4e-6, slower = reads_x(p) ? 1.4 : 1.1;
    double seconds = 0;
    for (int j = 0; j < launch_parts(p, most_streams(p)); j++) {
        dsums_part part;
        dsums_take_part(&part, p, NULL, most_streams(p), j);
        seconds += slower * conv2d_halo_cost(&part.conv, shape) + join_s;
    }
    return seconds;
}

static braid_status create(const braid_problem *p, const halo_shape *shape, void **state, size_t *workspace_bytes) {
    *state = NULL;
    *workspace_bytes = 0;
    for (int j = 0; j < launch_parts(p, most_streams(p)); j++) {
        dsums_part part;
        size_t bytes;
        dsums_take_part(&part, p, NULL, most_streams(p), j);
        TRY(dsums_bytes(&part.problem, conv2d_halo_parts(&part.conv, shape), &bytes));
        if (bytes > *workspace_bytes) *workspace_bytes = bytes;
    }
    return BRAID_OK;
}

static braid_status launch(const braid_problem *p, device *d, const dsums_kernel *k, const buffers *b) {
    for (int j = 0; j < launch_parts(p, most_streams(p)); j++) {
        dsums_part part;
        dsums_take_part(&part, p, b, most_streams(p), j);
        TRY(conv2d_halo_launch_sums(&part.conv, d, reads_x(p) ? &k->by_x : &k->by_r, &part.of_conv, &part.of_norm));
    }
    return BRAID_OK;
}

/* The functions of the kernel `tile`, a dsums_kernel; DSUMS_KERNEL(tile) is its kernel_functions. */
#define DSUMS_FUNCTIONS(tile)                                                                                     \
    static const char *tile##_supports(const braid_problem *p, const device *d) {                                 \
        return supports(p, d, &tile.by_r.shape);                                                                  \
    }                                                                                                             \
    static double tile##_cost(const braid_problem *p) { return cost(p, &tile.by_r.shape); }                       \
    static braid_status tile##_create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) { \
        (void)d;                                                                                                  \
        return create(p, &tile.by_r.shape, state, workspace_bytes);                                               \
    }                                                                                                             \
    static braid_status tile##_launch(const braid_problem *p, device *d, void *state, const buffers *b) {         \
        (void)state;                                                                                              \
        return launch(p, d, &tile, b);                                                                            \
    }
#define DSUMS_KERNEL(tile)                                                                                  \
    {                                                                                                       \
        .supports = tile##_supports, .cost = tile##_cost, .create = tile##_create, .launch = tile##_launch, \
        .destroy = launch_destroy                                                                           \
    }

static const dsums_kernel of_rows112 = {
    .by_r = {{64, 112, 0, 0}, STEM, {NULL, "conv2d_dsums_halo_rows112_f16", "conv2d_dsums_halo_rows112_bf16"}},
    .by_x = {{64, 112, 0, 0}, STEM, {NULL, "conv2d_dsums_x_halo_rows112_f16", "conv2d_dsums_x_halo_rows112_bf16"}}};
DSUMS_FUNCTIONS(of_rows112)
const kernel_functions conv2d_dsums__cuda_halo_rows112 = DSUMS_KERNEL(of_rows112);

static const dsums_kernel of_rows136 = {
    .by_r = {{64, 136, 0, 0}, STEM, {NULL, "conv2d_dsums_halo_rows136_f16", "conv2d_dsums_halo_rows136_bf16"}},
    .by_x = {{64, 136, 0, 0}, STEM, {NULL, "conv2d_dsums_x_halo_rows136_f16", "conv2d_dsums_x_halo_rows136_bf16"}}};
DSUMS_FUNCTIONS(of_rows136)
const kernel_functions conv2d_dsums__cuda_halo_rows136 = DSUMS_KERNEL(of_rows136);
