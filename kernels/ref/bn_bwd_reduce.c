/*
 * bn_bwd_reduce, one channel: dbeta = sum dy, dgamma = sum dy * (x - center) * rstd over the active pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn.h"

static ref_value given(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    const real *dy = b->plane[BN_BWD_REDUCE_DY][i];
    return (ref_value){dy[pixel * p->in_pitch[i] + c], fabs(dy[pixel * p->in_pitch[i] + c])};
}

ref_value REF(bn_bwd_reduce)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const bn_view v = {b->plane[BN_BWD_REDUCE_X][i], b->plane[BN_BWD_REDUCE_CENTER][i], b->plane[BN_BWD_REDUCE_RSTD][i],
                       b->plane[BN_BWD_REDUCE_MASK][i]};
    return bn_sum(p, b, &v, i, index, slot == BN_BWD_REDUCE_DBETA, given);
}
