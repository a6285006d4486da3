/*
 * The case tests of avgpool: see tests/support/cases.h.
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

static const double line[] = {1, 2, 4, 8, 16};

/* Five into three: [0, 2), [1, 4), [3, 5). */
static void overlap(known *k) {
    static const double y[] = {1.5, 14 / 3.0, 12};
    known_set(k, AVGPOOL_X, line, COUNT(line));
    if (known_run(k)) known_expect(k, AVGPOOL_Y, y, COUNT(y), 1e-6);
}

static void overlap_gradient(known *k) {
    static const double dy[] = {2, 3, 4}, dx[] = {1, 2, 1, 3, 2};
    known_set(k, AVGPOOL_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, AVGPOOL_X, dx, COUNT(dx), 1e-6);
}

/* Five into seven: windows of one and of two. */
static void more_outputs(known *k) {
    static const double y[] = {1, 1.5, 3, 4, 6, 12, 16};
    known_set(k, AVGPOOL_X, line, COUNT(line));
    if (known_run(k)) known_expect(k, AVGPOOL_Y, y, COUNT(y), 1e-6);
}

static void whole(known *k) {
    static const double y[] = {6.2};
    known_set(k, AVGPOOL_X, line, COUNT(line));
    if (known_run(k)) known_expect(k, AVGPOOL_Y, y, COUNT(y), 1e-6);
}

/* NaN and infinity reach the windows that they are in and no other. */
static void sick(known *k) {
    static const double x[] = {1, 3, INFINITY, 2, NAN, 1, 5, 7}, y[] = {2, INFINITY, NAN, 6};
    known_set(k, AVGPOOL_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, AVGPOOL_Y, y, COUNT(y), 0);
}

static void scenarios(suite *s) {
    known_each(s, "avgpool_fwd:f32:b1:hw1x5:c1:out1x3", overlap);
    known_each(s, "avgpool_fwd:f32:b1:hw5x1:c1:out3x1:cp2", overlap);
    known_each(s, "avgpool_bwd_data:f32:b1:hw1x5:c1:out1x3", overlap_gradient);
    known_each(s, "avgpool_bwd_data:f32:b1:hw5x1:c1:out3x1:cp2", overlap_gradient);
    known_each(s, "avgpool_fwd:f32:b1:hw1x5:c1:out1x7", more_outputs);
    known_each(s, "avgpool_fwd:f32:b1:hw1x5:c1", whole);
    known_each(s, "avgpool_fwd:f32:b1:hw1x8:c1:out1x4", sick);
}

/* ---- Gradients ----------------------------------------------------------------------------- */

static void gradients(suite *s) {
    static const int slots[3] = {AVGPOOL_X, AVGPOOL_Y, AVGPOOL_X};
    known_gradient(s, "avgpool_fwd:f64:n2:b2:hw5x4:c3,2", slots, NULL);
    known_gradient(s, "avgpool_fwd:f64:n2:b2:hw5x4:c3,2:out3x7:cp4", slots, NULL);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){.op = BRAID_OP_AVGPOOL, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
