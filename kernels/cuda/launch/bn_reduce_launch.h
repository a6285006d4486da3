/*
 * What the launchers of conv2d_dgrad_bn_reduce share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LAUNCH_BN_REDUCE_LAUNCH_H
#define BRAID_KERNELS_CUDA_LAUNCH_BN_REDUCE_LAUNCH_H

#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/tile/bn_reduce.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/tile/sums.h"

/* The operands of step `index` of the chain of conv2d_dgrad_bn_reduce: 0 is the convolution, 1 the normalisation. */
static inline buffers conv2d_dgrad_bn_reduce_operands(const braid_problem *p, const buffers *b, int index) {
    op_chain chain = {0};
    buffers of = {.workspace = b->workspace};
    op_of(p)->chain(p, &chain);
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        const int place = chain.steps[index].place[slot];
        if (place >= 0) memcpy(of.plane[slot], b->plane[place], sizeof of.plane[slot]);
    }
    return of;
}

/* A part of the streams, launch_take_part's, with its convolution and the operands of both steps. */
typedef struct bn_reduce_part {
    braid_problem problem, conv;
    buffers of_conv, of_norm;
} bn_reduce_part;

static inline void bn_reduce_take_part(bn_reduce_part *part, const braid_problem *p, const buffers *b, int most,
                                       int index) {
    launch_part taken;
    launch_take_part(&taken, p, b, most, index);
    part->problem = taken.problem;
    part->conv = conv2d_dgrad_bn_reduce_conv(&taken.problem);
    part->of_conv = conv2d_dgrad_bn_reduce_operands(&taken.problem, &taken.memory, 0);
    part->of_norm = conv2d_dgrad_bn_reduce_operands(&taken.problem, &taken.memory, 1);
}

/* Plane i of the operands of a normalisation. */
static inline struct bn_reduce_plane bn_reduce_plane_of(const buffers *norm, int i) {
    return (struct bn_reduce_plane){.scale = norm->plane[BN_FUSED_SCALE][i],
                                    .shift = norm->plane[BN_FUSED_SHIFT][i],
                                    .center = norm->plane[BN_FUSED_CENTER][i],
                                    .rstd = norm->plane[BN_FUSED_RSTD][i],
                                    .dgamma = norm->plane[BN_FUSED_DGAMMA][i],
                                    .dbeta = norm->plane[BN_FUSED_DBETA][i]};
}

/* Bytes of so many parts of all streams. */
static inline braid_status bn_reduce_bytes(const braid_problem *p, int64_t parts, size_t *bytes) {
    size_t channels = 0, sums;
    for (int i = 0; i < p->streams; i++) channels += (size_t)p->in_channels[i];
    TRY(size_array(channels, (size_t)parts, "partial sums", &sums));
    return size_array(sums, sizeof(struct bn_gradients), "partial sums", bytes);
}

/* Where there are no samples, no block would write the sums. */
static inline const char *bn_reduce_refuse_empty(const braid_problem *p) {
    return p->batch == 0 ? "there are no samples" : NULL;
}

#endif
