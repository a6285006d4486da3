/*
 * The equations of batch normalisation that several references share: the moving averages, the two sums of the
 * backward pass, and the gradient of the input. The gradient of the normalised value comes through a
 * function, so that fused ops can put their own before them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_BN_H
#define BRAID_KERNELS_REF_BN_H

#include <math.h>

#include "kernels/ref/ref.h"

/* The gradient of the normalised value of one pixel (over [B][H][W]) and channel of stream i. */
typedef ref_value (*bn_gradient)(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c);

/* What the backward equations read of stream i. */
typedef struct bn_view {
    const real *x, *center, *rstd;
    const uint32_t *mask; /* may be NULL */
} bn_view;

/* The batches that stream i finds counted, and what their counter is afterwards. */
static inline int64_t bn_batches(const braid_problem *p, const int64_t *counter, int i) {
    return *counter + (p->each ? i : 0);
}

static inline ref_value bn_counted(const braid_problem *p, const int64_t *counter) {
    int64_t more = p->each ? p->streams : 1;
    return (ref_value){(double)(*counter + (p->phase == BRAID_PHASE_TRAIN ? more : 0)), 0};
}

/* A running statistic: old + factor * (now - old), or as it was where nothing is learnt. */
static inline ref_value bn_running(const braid_problem *p, int64_t batches, real old, real now, int64_t count) {
    real factor = (real)p->momentum;
    if (p->phase == BRAID_PHASE_EVAL || count == 0) return (ref_value){old, 0};
    if (p->average == BRAID_AVERAGE_CUMULATIVE) factor = 1 / (real)(batches + 1);
    return (ref_value){old * (1 - factor) + now * factor, fabs(old) + fabs(now)};
}

/* dbeta (is_beta) or dgamma of channel c over the active pixels. */
static inline ref_value bn_sum(const braid_problem *p, const buffers *b, const bn_view *v, int i, int64_t c,
                               int is_beta, bn_gradient gradient) {
    int64_t pixels = p->size[0] * p->size[1];
    ref_value sum = {0, 0};
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (mask_blanks(v->mask, sample)) continue;
        for (int64_t pixel = sample * pixels; pixel < (sample + 1) * pixels; pixel++) {
            ref_value g = gradient(p, b, i, pixel, c);
            real value = v->x[pixel * p->in_pitch[i] + c];
            real weight = is_beta ? 1 : (value - v->center[c]) * v->rstd[c];
            double spread = is_beta ? 1 : (fabs(value) + fabs(v->center[c])) * v->rstd[c];
            sum.value = (real)(sum.value + (real)g.value * weight);
            sum.magnitude += g.magnitude * spread;
        }
    }
    return sum;
}

/* dx of one pixel and channel from the gradient of its normalised value and the two sums. */
static inline ref_value bn_input_gradient(const braid_problem *p, const bn_view *v, int i, int64_t pixel, int64_t c,
                                          real gamma, ref_value g, ref_value dgamma, ref_value dbeta) {
    int64_t pixels = p->size[0] * p->size[1];
    if (mask_blanks(v->mask, pixel / pixels)) return (ref_value){0, 0};
    real scale = gamma * v->rstd[c], gradient = (real)g.value;
    if (p->phase == BRAID_PHASE_EVAL) return (ref_value){scale * gradient, fabs(scale) * g.magnitude};
    real count = (real)(mask_active(v->mask, p->batch) * pixels);
    real value = v->x[pixel * p->in_pitch[i] + c];
    real mean_term = (real)dbeta.value / count;
    real spread_term = (value - v->center[c]) * v->rstd[c] * (real)dgamma.value / count;
    double spread = (fabs(value) + fabs(v->center[c])) * fabs(v->rstd[c]) * dgamma.magnitude / count;
    return (ref_value){scale * (gradient - mean_term - spread_term),
                       fabs(scale) * (g.magnitude + dbeta.magnitude / count + spread)};
}

#endif
