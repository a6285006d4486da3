/*
 * integrate_bn_stats, one element of y, or one channel of what bn_stats_finalize makes of the streams and of y. The
 * latter reads y from its slot, as it is stored.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/ref.h"

ref_value REF(integrate_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);
ref_value REF(bn_stats_finalize)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

ref_value REF(integrate_bn_stats)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == INTEGRATE_Y) return REF(integrate_fwd)(p, b, slot, i, index);
    op_chain chain = {0};
    buffers of = {0};
    op_of(p)->chain(p, &chain);
    for (int k = 0; k <= p->streams; k++) {
        of.plane[BN_STATS_FINALIZE_X][k] = k < p->streams ? b->plane[INTEGRATE_R][k] : b->plane[INTEGRATE_Y][0];
        of.plane[BN_STATS_FINALIZE_MASK][k] = k < p->streams ? b->plane[INTEGRATE_MASK][k] : NULL;
        for (int s = BN_STATS_FINALIZE_GAMMA; s <= BN_STATS_FINALIZE_SHIFT; s++)
            of.plane[s][k] = b->plane[s - BN_STATS_FINALIZE_GAMMA + INTEGRATE_BN_STATS_GAMMA][k];
    }
    return REF(bn_stats_finalize)(&chain.steps[1].problem, &of,
                                  slot - INTEGRATE_BN_STATS_GAMMA + BN_STATS_FINALIZE_GAMMA, i, index);
}
