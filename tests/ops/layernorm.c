/*
 * The case tests of layernorm: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "tests/support/cases.h"
#include "tests/support/gradients.h"
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

static const double ones[40] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* The biased variance of 1, 2, 3, 4 is 1.25; of 1, 1, 1, 1 it is 0, and of 2, -2, 2, -2 it is 4. */
static void rows(known *k) {
    static const double x[] = {1, 2, 3, 4, 1, 1, 1, 1, 2, -2, 2, -2};
    static const double gamma[] = {1, 2, -1, 0}, beta[] = {0, 10, 20, 30};
    static const double y[] = {-1.341635419969, 10 - 0.894423613313, 20 - 0.447211806656, 30, 0, 10, 20, 30,
                               0.99999875000,   10 - 1.9999975,      20 - 0.99999875,     30};
    known_set(k, LAYERNORM_X, x, COUNT(x));
    known_set(k, LAYERNORM_GAMMA, gamma, COUNT(gamma));
    known_set(k, LAYERNORM_BETA, beta, COUNT(beta));
    if (known_run(k)) known_expect(k, LAYERNORM_Y, y, COUNT(y), 2e-6);
}

/* A row without spread gives beta to the bit: one channel, or all channels alike, however large. */
static void without_spread(known *k) {
    double x[40], beta[40], y[40];
    int64_t channels = k->rig.problem.in_channels[0], count = rig_elements(&k->rig, LAYERNORM_X, 0);
    for (int64_t j = 0; j < count; j++) {
        x[j] = j / channels % 2 ? 1e30 : -1234.5;
        beta[j] = 0.125 * (double)(j % channels);
        y[j] = beta[j % channels];
    }
    known_set(k, LAYERNORM_X, x, (int)count);
    known_set(k, LAYERNORM_BETA, beta, (int)channels);
    if (known_run(k)) known_expect(k, LAYERNORM_Y, y, (int)count, 0);
}

/* NaN and infinity take their own row with them and no other. */
static void sick(known *k) {
    static const double x[] = {1, NAN, 0, INFINITY, 2, 0, -2, 2, 0, 5, -INFINITY, INFINITY};
    static const double beta[] = {0, 0, 0};
    static const double y[] = {NAN, NAN, NAN, NAN, NAN, NAN, -1.2247425749, 1.2247425749, 0, NAN, NAN, NAN};
    known_set(k, LAYERNORM_X, x, COUNT(x));
    known_set(k, LAYERNORM_GAMMA, ones, 3);
    known_set(k, LAYERNORM_BETA, beta, 3);
    if (known_run(k)) known_expect(k, LAYERNORM_Y, y, COUNT(y), 2e-6);
}

/* A first value far from all others is no center to trust: 2^20 and 18 ones. */
static void outlier(known *k) {
    double x[19], y[19], zeros[19] = {0};
    for (int j = 0; j < 19; j++) {
        x[j] = j ? 1 + j % 2 : 0x1p20;
        y[j] = 0;
    }
    double mean = 0, var = 0;
    for (int j = 0; j < 19; j++) mean += x[j] / 19;
    for (int j = 0; j < 19; j++) var += (x[j] - mean) * (x[j] - mean) / 19;
    for (int j = 0; j < 19; j++) y[j] = (x[j] - mean) / sqrt(var + k->rig.problem.eps);
    known_set(k, LAYERNORM_X, x, 19);
    known_set(k, LAYERNORM_GAMMA, ones, 19);
    known_set(k, LAYERNORM_BETA, zeros, 19);
    if (known_run(k)) known_expect(k, LAYERNORM_Y, y, 19, 1e-6);
}

/* A mean of a thousand deviations costs no digits: x and x + 1024, both exact, give the same in every pass. */
static void far_mean(known *k) {
    enum { MOST = 1200 };
    static double near_zero[MOST];
    const braid_problem *p = &k->rig.problem;
    const int out = p->pass == BRAID_PASS_FWD        ? LAYERNORM_Y
                    : p->pass == BRAID_PASS_BWD_DATA ? LAYERNORM_DX
                                                     : LAYERNORM_GAMMA;
    int64_t count = rig_elements(&k->rig, LAYERNORM_X, 0), results = rig_elements(&k->rig, out, 0);
    for (int64_t j = 0; j < count; j++) {
        double x = round(rig_get(&k->rig, LAYERNORM_X, 0, j) * 1024) / 1024;
        rig_set(&k->rig, LAYERNORM_X, 0, j, x);
    }
    if (!suite_expect(k->s, results <= MOST, "far_mean: %lld results are too many", (long long)results)) return;
    if (!known_run(k)) return;
    for (int64_t j = 0; j < results; j++) near_zero[j] = rig_get(&k->rig, out, 0, j);
    for (int64_t j = 0; j < count; j++) rig_set(&k->rig, LAYERNORM_X, 0, j, rig_get(&k->rig, LAYERNORM_X, 0, j) + 1024);
    if (known_run(k)) known_expect(k, out, near_zero, (int)results, 4e-6);
}

/* One channel moves nothing, and beta gets the sum of dy. */
static void one_channel_data(known *k) {
    static const double dx[] = {0, 0, 0, 0, 0};
    if (known_run(k)) known_expect(k, LAYERNORM_DX, dx, 5, 1e-40);
}

static void one_channel_weight(known *k) {
    static const double dy[] = {1, 2, 3, -4, 8}, dgamma[] = {0}, dbeta[] = {10};
    known_set(k, LAYERNORM_Y, dy, 5);
    if (!known_run(k)) return;
    known_expect(k, LAYERNORM_GAMMA, dgamma, 1, 1e-40);
    known_expect(k, LAYERNORM_BETA, dbeta, 1, 0);
}

static void scenarios(suite *s) {
    known_each(s, "layernorm_fwd:f32:b1:hw1x3:c4", rows);
    known_each(s, "layernorm_fwd:f32:b3:hw1x1:c4:cp9", rows);
    known_each(s, "layernorm_fwd:f64:b1:hw3x1:c4:cp5", rows);
    known_each(s, "layernorm_fwd:f32:b2:hw2x2:c1", without_spread);
    known_each(s, "layernorm_fwd:bf16:b2:hw2x2:c1:cp2", without_spread);
    known_each(s, "layernorm_fwd:f32:b2:hw1x1:c19:cp24", without_spread);
    known_each(s, "layernorm_fwd:f32:b2:hw1x1:c19:eps1e-300", without_spread);
    known_each(s, "layernorm_fwd:f32:b2:hw1x2:c3", sick);
    known_each(s, "layernorm_fwd:f32:b1:hw1x1:c19", outlier);
    known_each(s, "layernorm_fwd:f32:b3:hw2x3:c64", far_mean);
    known_each(s, "layernorm_fwd:f32:b1:hw1x1:c1155", far_mean);
    known_each(s, "layernorm_bwd_data:f32:b3:hw2x3:c61:cp64", far_mean);
    known_each(s, "layernorm_bwd_weight:f32:b3:hw2x3:c35", far_mean);
    known_each(s, "layernorm_bwd_data:f32:b5:hw1x1:c1", one_channel_data);
    known_each(s, "layernorm_bwd_data:f16:b5:hw1x1:c1:cp8", one_channel_data);
    known_each(s, "layernorm_bwd_weight:f32:b5:hw1x1:c1", one_channel_weight);
    known_each(s, "layernorm_bwd_weight:bf16:b1:hw5x1:c1:cp3", one_channel_weight);
    known_refused(s, "layernorm_fwd:f32:b2:hw1x1:c3:eps2", "expected eps");
}

/* ---- Gradients ----------------------------------------------------------------------------- */

static void gradients(suite *s) {
    check_all_gradients(s, "layernorm_fwd:f64:n2:b2:hw2x3:c5,3");
    check_all_gradients(s, "layernorm_fwd:f64:n3:b3:hw1x2:c2,9,17:cp4,9,20:eps0.1");
    if (!s->whole) return;
    check_all_gradients(s, "layernorm_fwd:f64:n1:b7:hw1x1:c33");
    check_all_gradients(s, "layernorm_fwd:f64:n9:b2:hw1x1:c4");
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){
            .op = BRAID_OP_LAYERNORM, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
