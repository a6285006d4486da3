/*
 * The operands of bn_act, bn_add_act and bn_act_pool, which number their slots alike.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_NORM_BN_FUSED_H
#define BRAID_KERNELS_CUDA_NORM_BN_FUSED_H

#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/tile/sums.h"

/* The argument of a pass; what the pass does without is NULL. */
static inline void bn_fused_fill(struct pixel_args *args, const braid_problem *p, const buffers *b) {
    pixel_args_begin(args, p);
    for (int i = 0; i < p->streams; i++) {
        struct pixel_plane *plane = &args->plane[i];
        plane->x = b->plane[BN_FUSED_X][i];
        plane->scale = b->plane[BN_FUSED_SCALE][i];
        plane->shift = b->plane[BN_FUSED_SHIFT][i];
        plane->mask = b->plane[BN_FUSED_MASK][i];
        plane->y = b->plane[BN_FUSED_Y][i];
        plane->dy = b->plane[BN_FUSED_DY][i];
        plane->center = b->plane[BN_FUSED_CENTER][i];
        plane->rstd = b->plane[BN_FUSED_RSTD][i];
        plane->gamma = b->plane[BN_FUSED_GAMMA][i];
        plane->dgamma = b->plane[BN_FUSED_DGAMMA][i];
        plane->dbeta = b->plane[BN_FUSED_DBETA][i];
        plane->dx = b->plane[BN_FUSED_DX][i];
        plane->z = b->plane[BN_FUSED_Z][i];
        plane->zscale = b->plane[BN_FUSED_ZSCALE][i];
        plane->zshift = b->plane[BN_FUSED_ZSHIFT][i];
        plane->dz = b->plane[BN_FUSED_DZ][i];
    }
    if (p->op != BRAID_OP_BN_ACT_POOL) return;
    const int64_t out_size[2] = {maxpool_out_size(p, 0), maxpool_out_size(p, 1)};
    pixels_window(&args->window, p, out_size);
}

#endif
