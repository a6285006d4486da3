/*
 * batchnorm gradients, one element of dgamma, dbeta or dx. The equations are those of bn_sums and bn_dapply.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn.h"

static ref_value given(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    const real *dy = b->plane[BATCHNORM_DY][i];
    return (ref_value){dy[pixel * p->in_pitch[i] + c], fabs(dy[pixel * p->in_pitch[i] + c])};
}

ref_value REF(batchnorm_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const bn_view v = {b->plane[BATCHNORM_X][i], b->plane[BATCHNORM_CENTER][i], b->plane[BATCHNORM_RSTD][i],
                       b->plane[BATCHNORM_MASK][i]};
    const real *gamma = b->plane[BATCHNORM_GAMMA][i];
    if (slot != BATCHNORM_DX) return bn_sum(p, b, &v, i, index, slot == BATCHNORM_DBETA, given);
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    return bn_input_gradient(p, &v, i, pixel, c, gamma[c], given(p, b, i, pixel, c), bn_sum(p, b, &v, i, c, 0, given),
                             bn_sum(p, b, &v, i, c, 1, given));
}
