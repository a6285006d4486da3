/*
 * bn_finalize, one channel of one output. The equations are in src/ops/bn_finalize.c. Updated operands
 * are read before they are written: each element depends on its own old value, and batches comes last.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn.h"

ref_value REF(bn_finalize)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == BN_FINALIZE_BATCHES) return bn_counted(p, b->plane[slot][0]);
    const real *mean = b->plane[BN_FINALIZE_MEAN][i], *var = b->plane[BN_FINALIZE_VAR][i];
    const real *gamma = b->plane[BN_FINALIZE_GAMMA][i], *beta = b->plane[BN_FINALIZE_BETA][i];
    const real *running_mean = b->plane[BN_FINALIZE_RUNNING_MEAN][i],
               *running_var = b->plane[BN_FINALIZE_RUNNING_VAR][i];
    int64_t batches_before = bn_batches(p, b->plane[BN_FINALIZE_BATCHES][0], i);
    int64_t count = mask_active(b->plane[BN_FINALIZE_MASK][i], p->batch) * p->size[0] * p->size[1];
    if (slot == BN_FINALIZE_RUNNING_MEAN) return bn_running(p, batches_before, running_mean[index], mean[index], count);
    if (slot == BN_FINALIZE_RUNNING_VAR) {
        real unbiased = count > 1 ? var[index] * (real)count / (real)(count - 1) : 0;
        return bn_running(p, batches_before, running_var[index], unbiased, count);
    }
    int train = p->phase == BRAID_PHASE_TRAIN;
    real center = train ? mean[index] : running_mean[index];
    real rstd = 1 / (real)sqrt((train ? var[index] : running_var[index]) + (real)p->eps);
    real scale = gamma[index] * rstd, shift = beta[index] - center * scale;
    switch (slot) {
        case BN_FINALIZE_CENTER: return (ref_value){center, 0};
        case BN_FINALIZE_RSTD: return (ref_value){rstd, rstd};
        case BN_FINALIZE_SCALE: return (ref_value){scale, fabs(scale)};
        default: return (ref_value){shift, fabs(beta[index]) + fabs(center * scale)};
    }
}
