/*
 * bn_stats_finalize, one channel of one output. The equations are those of bn_stats and bn_finalize.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn.h"

/* x and mask have the slots of bn_stats. */
ref_value REF(bn_stats)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

static ref_value running(const braid_problem *p, const buffers *b, int slot, int i, int64_t c) {
    const real *old = b->plane[slot][i];
    int64_t batches = bn_batches(p, b->plane[BN_STATS_FINALIZE_BATCHES][0], i);
    int64_t count = mask_active(b->plane[BN_STATS_FINALIZE_MASK][i], p->batch) * p->size[0] * p->size[1];
    ref_value now = REF(bn_stats)(p, b, slot == BN_STATS_FINALIZE_RUNNING_MEAN ? BN_STATS_MEAN : BN_STATS_VAR, i, c);
    if (slot == BN_STATS_FINALIZE_RUNNING_VAR)
        now.value = count > 1 ? (real)now.value * (real)count / (real)(count - 1) : 0;
    ref_value moved = bn_running(p, batches, old[c], (real)now.value, count);
    return (ref_value){moved.value, moved.magnitude + 2 * now.magnitude};
}

ref_value REF(bn_stats_finalize)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == BN_STATS_FINALIZE_BATCHES) return bn_counted(p, b->plane[slot][0]);
    if (slot == BN_STATS_FINALIZE_RUNNING_MEAN || slot == BN_STATS_FINALIZE_RUNNING_VAR)
        return running(p, b, slot, i, index);
    const real *gamma = b->plane[BN_STATS_FINALIZE_GAMMA][i], *beta = b->plane[BN_STATS_FINALIZE_BETA][i];
    ref_value center = REF(bn_stats)(p, b, BN_STATS_MEAN, i, index);
    if (slot == BN_STATS_FINALIZE_CENTER) return center;
    ref_value var = REF(bn_stats)(p, b, BN_STATS_VAR, i, index);
    real rstd = 1 / (real)sqrt((real)var.value + (real)p->eps), scale = gamma[index] * rstd;
    /* How many times its own size an error of the variance is in rstd. */
    double sensitivity = 1 + var.magnitude / (var.value + p->eps), reach = fabs(gamma[index]) * rstd * sensitivity;
    if (slot == BN_STATS_FINALIZE_RSTD) return (ref_value){rstd, rstd * sensitivity};
    if (slot == BN_STATS_FINALIZE_SCALE) return (ref_value){scale, reach};
    return (ref_value){beta[index] - (real)center.value * scale,
                       fabs(beta[index]) + (fabs(center.value) + center.magnitude) * reach};
}
