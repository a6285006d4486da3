/*
 * bn_bwd, one element of dgamma, dbeta, dx or dz. The equations are in src/ops/bn_bwd.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn_act.h"
#include "kernels/ref/bn_add_act.h"

static ref_value gradient(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    const real *dy = b->plane[BN_BWD_DY][i];
    const real plain = dy[pixel * p->in_pitch[i] + c];
    if (p->add) return bn_add_act_gradient(p, b, i, pixel, c);
    return p->activation == BRAID_ACTIVATION_NONE ? (ref_value){plain, fabs(plain)}
                                                  : bn_act_gradient(p, b, i, pixel, c);
}

/* A sum that is given, or is made here. */
static ref_value sum(const braid_problem *p, const buffers *b, int i, int64_t c, int is_beta) {
    if (i >= p->given) return bn_fused_sum(p, b, is_beta ? BN_FUSED_DBETA : BN_FUSED_DGAMMA, i, c, gradient);
    const real *all = b->plane[is_beta ? BN_BWD_GIVEN_DBETA : BN_BWD_GIVEN_DGAMMA][i];
    return (ref_value){all[c], fabs(all[c])};
}

ref_value REF(bn_bwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const int stream = bn_bwd_first(p, slot) + i;
    const int64_t c = index % p->in_channels[stream], pixel = index / p->in_channels[stream];
    if (slot == BN_BWD_DGAMMA || slot == BN_BWD_DBETA) return sum(p, b, stream, index, slot == BN_BWD_DBETA);
    if (bn_fused_blanks(b, stream, pixel, p->size[0] * p->size[1])) return (ref_value){0, 0};
    const ref_value g = gradient(p, b, stream, pixel, c);
    if (slot == BN_BWD_DZ) return (ref_value){g.value, 0}; /* a copy, to the bit */
    const bn_view v = {b->plane[BN_BWD_X][stream], b->plane[BN_BWD_CENTER][stream], b->plane[BN_BWD_RSTD][stream],
                       b->plane[BN_BWD_MASK][stream]};
    const real *gamma = b->plane[BN_BWD_GAMMA][i];
    return bn_input_gradient(p, &v, stream, pixel, c, gamma[c], g, sum(p, b, stream, c, 0), sum(p, b, stream, c, 1));
}
