/*
 * The case tests of bias: see tests/support/cases.h.
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
    {"NaN in blanked samples reaches nothing, they give 0", blanked_samples_do_not_leak},
    {"active samples equal a batch of their own", active_samples_alone},
    {"a batch equals its parts", batch_splits},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

static void sums(known *k) {
    static const double x[] = {1, -0.0, INFINITY, 16777216, NAN, 0.5}, bias[] = {2, -0.0, 1};
    static const double y[] = {3, -0.0, INFINITY, 16777218, NAN, 1.5};
    known_set(k, BIAS_X, x, COUNT(x));
    known_set(k, BIAS_BIAS, bias, COUNT(bias));
    if (known_run(k)) known_expect(k, BIAS_Y, y, COUNT(y), 0);
}

static void gradient(known *k) {
    static const double dy[] = {1, 16777216, INFINITY, 2, -1, 1, -4, NAN, 1};
    static const double dbias[] = {-1, NAN, INFINITY};
    known_set(k, BIAS_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, BIAS_BIAS, dbias, COUNT(dbias), 0);
}

static void scenarios(suite *s) {
    known_each(s, "bias_fwd:f32:b1:hw1x2:c3", sums);
    known_each(s, "bias_fwd:f32:b2:hw1x1:c3:cp4", sums);
    known_each(s, "bias_fwd:f64:b2:hw1x1:c3", sums);
    known_each(s, "bias_bwd_weight:f32:b1:hw3x1:c3", gradient);
    known_each(s, "bias_bwd_weight:f32:b3:hw1x1:c3:cp8", gradient);
    known_refused(s, "bias_bwd_data:f32:b1:hw1x1:c1", "bwd_data");
}

int main(int argc, char **argv) {
    return cases_main(argc, argv, &(op_tests){.op = BRAID_OP_BIAS, .properties = properties, .scenarios = scenarios});
}
