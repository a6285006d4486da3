/*
 * What conv2d_bn_stats is made of: a convolution, and bn_stats_finalize of its results.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/launch/bn_stats_finalize_launch.h"
#include "kernels/cuda/conv/conv2d_bn_stats_launch.h"
#include "kernels/cuda/tile/sums.h"

static braid_problem step_of(const braid_problem *p, int index) {
    op_chain chain = {0};
    op_of(p)->chain(p, &chain);
    return chain.steps[index].problem;
}

braid_problem conv2d_bn_stats_conv(const braid_problem *p) { return step_of(p, 0); }

struct bn_finalize_args conv2d_bn_stats_norm(const braid_problem *p, const buffers *b) {
    const braid_problem norm = step_of(p, 1);
    struct bn_finalize_args args;
    buffers of = {0};
    for (int slot = BN_STATS_FINALIZE_GAMMA; slot <= BN_STATS_FINALIZE_SHIFT; slot++)
        memcpy(of.plane[slot], b->plane[slot - BN_STATS_FINALIZE_GAMMA + CONV2D_BN_STATS_GAMMA], sizeof of.plane[slot]);
    for (int i = 0; i < p->streams; i++) of.plane[BN_STATS_FINALIZE_MASK][i] = b->plane[CONV2D_MASK][i];
    memset(&args, 0, sizeof args);
    bn_stats_finalize_norm(&args, &norm, &of);
    return args;
}

braid_status conv2d_bn_stats_bytes(const braid_problem *p, int64_t parts, size_t *bytes) {
    size_t channels = 0, moments;
    for (int i = 0; i < p->streams; i++) channels += (size_t)p->out_channels[i];
    TRY(size_array(channels, (size_t)parts, "partial statistics", &moments));
    return size_array(moments, sizeof(struct bn_moments), "partial statistics", bytes);
}
