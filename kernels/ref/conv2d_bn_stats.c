/*
 * conv2d_bn_stats, one element of y, or one channel of what bn_stats_finalize makes of it. The latter reads y from its
 * slot, as it is stored.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/ref.h"

ref_value REF(conv2d_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);
ref_value REF(bn_stats_finalize)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

ref_value REF(conv2d_bn_stats)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == CONV2D_Y) return REF(conv2d_fwd)(p, b, slot, i, index);
    op_chain chain = {0};
    buffers of = {0};
    op_of(p)->chain(p, &chain);
    for (int k = 0; k < p->streams; k++) {
        of.plane[BN_STATS_FINALIZE_X][k] = b->plane[CONV2D_Y][k];
        of.plane[BN_STATS_FINALIZE_MASK][k] = b->plane[CONV2D_MASK][k];
        for (int s = BN_STATS_FINALIZE_GAMMA; s <= BN_STATS_FINALIZE_SHIFT; s++)
            of.plane[s][k] = b->plane[s - BN_STATS_FINALIZE_GAMMA + CONV2D_BN_STATS_GAMMA][k];
    }
    return REF(bn_stats_finalize)(&chain.steps[1].problem, &of, slot - CONV2D_BN_STATS_GAMMA + BN_STATS_FINALIZE_GAMMA,
                                  i, index);
}
