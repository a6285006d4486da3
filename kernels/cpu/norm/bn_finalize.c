/*
 * bn_finalize: a few operations per channel, in double with one rounding each, on one thread. No operand
 * is stored in halves.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cpu/isa/cost.h"
#include "kernels/kernel.h"

static const char *supports(const braid_problem *p, const device *d) {
    (void)p;
    (void)d;
    return NULL;
}

static double cost(const braid_problem *p, const machine *on) { return cost_seconds(p, on, 1e9, 1, 1e-7); }

static int64_t active_values(const braid_problem *p, const buffers *b, int i) {
    return mask_active(b->plane[BN_FINALIZE_MASK][i], p->batch) * p->size[0] * p->size[1];
}

/* Moves the running statistics of one stream towards those of the batch by the share `factor`. */
static void update_running(const braid_problem *p, const buffers *b, int i, double values, double factor) {
    const float *mean = b->plane[BN_FINALIZE_MEAN][i], *var = b->plane[BN_FINALIZE_VAR][i];
    float *running_mean = b->plane[BN_FINALIZE_RUNNING_MEAN][i], *running_var = b->plane[BN_FINALIZE_RUNNING_VAR][i];
    for (int64_t c = 0; c < p->in_channels[i]; c++) {
        double unbiased = (double)var[c] * (values / (values - 1));
        running_mean[c] = (float)((1 - factor) * (double)running_mean[c] + factor * (double)mean[c]);
        running_var[c] = (float)((1 - factor) * (double)running_var[c] + factor * unbiased);
    }
}

static void finalize_stream(const braid_problem *p, const buffers *b, int i) {
    int train = p->phase == BRAID_PHASE_TRAIN;
    const float *mean = b->plane[train ? BN_FINALIZE_MEAN : BN_FINALIZE_RUNNING_MEAN][i];
    const float *var = b->plane[train ? BN_FINALIZE_VAR : BN_FINALIZE_RUNNING_VAR][i];
    const float *gamma = b->plane[BN_FINALIZE_GAMMA][i], *beta = b->plane[BN_FINALIZE_BETA][i];
    float *scale = b->plane[BN_FINALIZE_SCALE][i], *shift = b->plane[BN_FINALIZE_SHIFT][i];
    float *center = b->plane[BN_FINALIZE_CENTER][i], *rstd = b->plane[BN_FINALIZE_RSTD][i];
    for (int64_t c = 0; c < p->in_channels[i]; c++) {
        double inverse = 1 / sqrt((double)var[c] + p->eps), factor = (double)gamma[c] * inverse;
        center[c] = mean[c];
        rstd[c] = (float)inverse;
        scale[c] = (float)factor;
        shift[c] = (float)((double)beta[c] - (double)mean[c] * factor);
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    int train = p->phase == BRAID_PHASE_TRAIN;
    int64_t *batches = b->plane[BN_FINALIZE_BATCHES][0];
    (void)d;
    (void)state;
    for (int i = 0; i < p->streams && train; i++) {
        if (active_values(p, b, i) == 1)
            return fail_with(BRAID_ERROR_ARGUMENT, BRAID_DETAIL_SMALL_BATCH,
                             "bn_finalize: expected more than 1 value per channel when training, got 1 (stream %d); "
                             "use a larger batch, blank fewer samples, or phase=eval",
                             i);
    }
    for (int i = 0; i < p->streams; i++) {
        double values = (double)active_values(p, b, i), before = (double)*batches + (p->each ? i : 0);
        double factor = p->average == BRAID_AVERAGE_CUMULATIVE ? 1 / (before + 1) : p->momentum;
        finalize_stream(p, b, i);
        if (train && values > 0) update_running(p, b, i, values, factor);
    }
    if (train) *batches += p->each ? p->streams : 1;
    return BRAID_OK;
}

const kernel_functions bn_finalize__cpu_direct = {.supports = supports, .cost = cost, .launch = launch};
