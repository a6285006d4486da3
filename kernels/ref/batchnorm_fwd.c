/*
 * batchnorm forward, one element of y, of the running statistics, or of what the backward pass needs. The equations are
 * those of bn_stats, bn_finalize and bn_apply.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn.h"

ref_value REF(bn_stats)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

typedef struct moments {
    ref_value center, var;
} moments;

/* Of the batch when training (x and mask have the slots of bn_stats), else the running ones. */
static moments find_moments(const braid_problem *p, const buffers *b, int i, int64_t c) {
    const real *mean = b->plane[BATCHNORM_RUNNING_MEAN][i], *var = b->plane[BATCHNORM_RUNNING_VAR][i];
    if (p->phase == BRAID_PHASE_TRAIN)
        return (moments){REF(bn_stats)(p, b, BN_STATS_MEAN, i, c), REF(bn_stats)(p, b, BN_STATS_VAR, i, c)};
    return (moments){{mean[c], 0}, {var[c], var[c]}};
}

static ref_value running(const braid_problem *p, const buffers *b, int slot, int i, int64_t c) {
    const real *old = b->plane[slot][i];
    int64_t batches = bn_batches(p, b->plane[BATCHNORM_BATCHES][0], i);
    int64_t count = mask_active(b->plane[BATCHNORM_MASK][i], p->batch) * p->size[0] * p->size[1];
    if (p->phase == BRAID_PHASE_EVAL || count == 0) return (ref_value){old[c], 0};
    moments m = find_moments(p, b, i, c);
    ref_value now = slot == BATCHNORM_RUNNING_MEAN ? m.center : m.var;
    if (slot == BATCHNORM_RUNNING_VAR) now.value = count > 1 ? (real)now.value * (real)count / (real)(count - 1) : 0;
    ref_value moved = bn_running(p, batches, old[c], (real)now.value, count);
    return (ref_value){moved.value, moved.magnitude + 2 * now.magnitude};
}

/* How many times its own size an error of the variance is in rstd. */
static double sensitivity(const braid_problem *p, moments m) { return 1 + m.var.magnitude / (m.var.value + p->eps); }

ref_value REF(batchnorm_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == BATCHNORM_BATCHES) return bn_counted(p, b->plane[slot][0]);
    if (slot == BATCHNORM_RUNNING_MEAN || slot == BATCHNORM_RUNNING_VAR) return running(p, b, slot, i, index);
    int64_t c = slot == BATCHNORM_Y ? index % p->in_channels[i] : index, pixel = index / p->in_channels[i];
    const real *x = b->plane[BATCHNORM_X][i], *gamma = b->plane[BATCHNORM_GAMMA][i],
               *beta = b->plane[BATCHNORM_BETA][i];
    if (slot == BATCHNORM_Y && mask_blanks(b->plane[BATCHNORM_MASK][i], pixel / (p->size[0] * p->size[1])))
        return (ref_value){0, 0};
    moments m = find_moments(p, b, i, c);
    real rstd = 1 / (real)sqrt((real)m.var.value + (real)p->eps);
    if (slot == BATCHNORM_CENTER) return m.center;
    if (slot == BATCHNORM_RSTD) return (ref_value){rstd, rstd * sensitivity(p, m)};
    real scale = gamma[c] * rstd, value = x[pixel * p->in_pitch[i] + c];
    double reach = fabs(value) + fabs(m.center.value) + m.center.magnitude;
    return (ref_value){(value - (real)m.center.value) * scale + beta[c],
                       fabs(beta[c]) + fabs(scale) * reach * sensitivity(p, m)};
}
