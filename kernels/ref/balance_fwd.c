/*
 * balance forward: the norm of a stream's plane, or the variance of the logarithms of all of them, in double.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/balance.h"

static double norm(const braid_problem *p, const buffers *b, int i) {
    const real *x = b->plane[BALANCE_X][i];
    int64_t pixels = p->batch * p->size[0] * p->size[1];
    double squares = 0;
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        for (int64_t c = 0; c < p->in_channels[i]; c++) {
            double value = x[pixel * p->in_pitch[i] + c];
            squares += value * value;
        }
    }
    return sqrt(squares);
}

ref_value REF(balance_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    double logs[BRAID_MAX_PLANES], mean = 0, variance = 0, magnitude = 0;
    (void)i;
    if (slot == BALANCE_NORMS) {
        double value = norm(p, b, (int)index);
        return (ref_value){value, value};
    }
    for (int k = 0; k < p->streams; k++) {
        logs[k] = balance_log(norm(p, b, k));
        mean += (logs[k] - logs[0]) / p->streams; /* about the first, so that equal streams give exactly 0 */
        magnitude += logs[k] * logs[k] / (p->streams - 1);
    }
    for (int k = 0; k < p->streams; k++) {
        double away = logs[k] - logs[0] - mean;
        variance += away * away / (p->streams - 1);
    }
    return (ref_value){variance, magnitude};
}
