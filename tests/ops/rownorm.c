/*
 * The case tests of rownorm: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "tests/support/cases.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

/* ---- Known answers ------------------------------------------------------------------------- */

/* A row of zeros stays one; NaN and infinity fill or fell their own row alone. */
static void rows(known *k) {
    static const double x[] = {3, -4, 0, -0.0, NAN, 1, INFINITY, -2, 0x1p100, 0, -0x1p-100, 0};
    static const double y[] = {0.6, -0.8, 0, -0.0, NAN, NAN, NAN, -0.0, 1, 0, -0x1p-100 / 1e-12, 0};
    known_set(k, ROWNORM_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, ROWNORM_Y, y, COUNT(y), 1e-6);
}

/* Rounded once, to the nearest bf16. */
static void halves(known *k) {
    static const double x[] = {3, -4, 0, 0, NAN, 1}, y[] = {0.6015625, -0.80078125, 0, 0, NAN, NAN};
    known_set(k, ROWNORM_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, ROWNORM_Y, y, COUNT(y), 0);
}

/* One value is its own norm: 1, -1 or 0. */
static void one_channel(known *k) {
    static const double x[] = {5, -0x1p90, 0x1p-60, 0, NAN, -INFINITY, 1e-12},
                        y[] = {1, -1, 0x1p-60 / 1e-12, 0, NAN, NAN, 1};
    known_set(k, ROWNORM_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, ROWNORM_Y, y, COUNT(y), 1e-6);
}

/* Squares of the largest and the smallest floats do not overflow or vanish: y of equal values is 1 / sqrt(C). */
static void extremes(known *k) {
    double x[57], y[57];
    for (int j = 0; j < 57; j++) {
        x[j] = j < 19 ? 0x1p126 : j < 38 ? -0x1p-140 : 3e-37;
        y[j] = (j < 19 ? 1 : j < 38 ? -1 : 1) / sqrt(19);
    }
    known_set(k, ROWNORM_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, ROWNORM_Y, y, COUNT(y), 5e-8);
}

/* (3, 4) with dy = (1, 0): (1, 0) / 5 - (3, 4) 3 / 125. Below eps the divisor does not move: dy / eps. */
static void slope(known *k) {
    static const double x[] = {3, 4, 0, 0, 0.1, 0.2, NAN, 1}, dy[] = {1, 0, 2, -3, 1, 1, 1, 1};
    static const double dx[] = {0.128, -0.096, 4, -6, 2, 2, NAN, NAN};
    known_set(k, ROWNORM_X, x, COUNT(x));
    known_set(k, ROWNORM_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, ROWNORM_DX, dx, COUNT(dx), 1e-6);
}

/* At eps itself the norm counts, as where PyTorch clamps; one channel has slope 0 there, and 1 / eps below. */
static void slope_of_one_channel(known *k) {
    static const double x[] = {0.5, -0.5, 0.25, 7, 0}, dy[] = {3, 3, 3, 3, 3}, dx[] = {0, 0, 6, 0, 6};
    known_set(k, ROWNORM_X, x, COUNT(x));
    known_set(k, ROWNORM_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, ROWNORM_DX, dx, COUNT(dx), 1e-30);
}

static void scenarios(suite *s) {
    known_each(s, "rownorm_fwd:f32:b6:c2", rows);
    known_each(s, "rownorm_fwd:bf16:b3:c2:cp8", halves);
    known_each(s, "rownorm_fwd:f64:b6:c2:cp3", rows);
    known_each(s, "rownorm_fwd:f32:b7:c1", one_channel);
    known_each(s, "rownorm_fwd:f32:b7:c1:cp4", one_channel);
    known_each(s, "rownorm_fwd:f32:b3:c19:eps1e-300", extremes);
    known_each(s, "rownorm_bwd_data:f32:b4:c2:eps0.5", slope);
    known_each(s, "rownorm_bwd_data:f64:b4:c2:eps0.5:cp4", slope);
    known_each(s, "rownorm_bwd_data:f32:b5:c1:eps0.5", slope_of_one_channel);
    known_each(s, "rownorm_bwd_data:bf16:b5:c1:eps0.5", slope_of_one_channel);
    known_refused(s, "rownorm_fwd:f32:b2:c3:eps2000", "expected eps");
    known_refused(s, "rownorm_bwd_weight:f32:b2:c3", "pass");
}

/* ---- Gradients ----------------------------------------------------------------------------- */

static void gradients(suite *s) {
    static const int slots[3] = {ROWNORM_X, ROWNORM_Y, ROWNORM_DX};
    known_gradient(s, "rownorm_fwd:f64:n2:b3:c5,3", slots, NULL);
    known_gradient(s, "rownorm_fwd:f64:n1:b4:c6:eps1000", slots, NULL);
    known_gradient(s, "rownorm_fwd:f64:n3:b2:c2,9,17:cp4,9,20", slots, NULL);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){.op = BRAID_OP_ROWNORM, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
