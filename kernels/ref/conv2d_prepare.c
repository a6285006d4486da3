/*
 * conv2d_prepare, one element of y, or one channel of what bn_prepare makes of it. The latter reads y from its slot, as
 * it is stored.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/ref.h"

ref_value REF(conv2d_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);
ref_value REF(bn_prepare)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

ref_value REF(conv2d_prepare)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == CONV2D_Y) return REF(conv2d_fwd)(p, b, slot, i, index);
    op_chain chain = {0};
    buffers of = {0};
    op_of(p)->chain(p, &chain);
    for (int k = 0; k < p->streams; k++) {
        of.plane[BN_PREPARE_X][k] = b->plane[CONV2D_Y][k];
        of.plane[BN_PREPARE_MASK][k] = b->plane[CONV2D_MASK][k];
        for (int s = BN_PREPARE_GAMMA; s <= BN_PREPARE_SHIFT; s++)
            of.plane[s][k] = b->plane[s - BN_PREPARE_GAMMA + CONV2D_PREPARE_GAMMA][k];
    }
    return REF(bn_prepare)(&chain.steps[1].problem, &of, slot - CONV2D_PREPARE_GAMMA + BN_PREPARE_GAMMA, i, index);
}
