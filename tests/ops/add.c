/*
 * The case tests of add: see tests/support/cases.h.
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
    {"a batch equals its parts", batch_splits},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

static void sums(known *k) {
    static const double x[] = {1, -0.0, 0, INFINITY, INFINITY, NAN, 16777216, 0.5};
    static const double z[] = {2, -0.0, -0.0, 1, -INFINITY, 1, 1, -0.5};
    static const double y[] = {3, -0.0, 0, INFINITY, NAN, NAN, 16777216, 0};
    known_set(k, ADD_X, x, COUNT(x));
    known_set(k, ADD_Z, z, COUNT(z));
    if (known_run(k)) known_expect(k, ADD_Y, y, COUNT(y), 0);
}

static void scenarios(suite *s) {
    known_each(s, "add:f32:b1:hw2x4:c1", sums);
    known_each(s, "add:f32:b2:hw2x1:c2:cp4", sums);
}

int main(int argc, char **argv) {
    return cases_main(argc, argv, &(op_tests){.op = BRAID_OP_ADD, .properties = properties, .scenarios = scenarios});
}
