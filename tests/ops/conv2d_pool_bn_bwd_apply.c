/*
 * The case tests of conv2d_pool_bn_bwd_apply: see tests/support/cases.h. Its chain, bn_act_pool's data gradient and
 * then conv2d's weight gradient, is judged beside the reference.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "tests/support/cases.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"NaN in blanked samples reaches nothing, they give 0", blanked_samples_do_not_leak},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

/* What comes back through the pool of 3x3, stride 2, padding 1 has every second pixel, rounded up. */
static void sizes(suite *s) {
    static const int64_t cases[][2] = {{1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {7, 4}, {8, 4}};
    for (size_t j = 0; j < sizeof cases / sizeof cases[0]; j++) {
        char text[128];
        braid_problem p;
        plane_shape shape;
        snprintf(text, sizeof text, "conv2d_pool_bn_bwd_apply:f32:b2:hw%lldx%lld:c3:k8:rs3x3:pad1",
                 (long long)cases[j][0], (long long)cases[j][0]);
        if (!suite_expect(s, braid_problem_parse(text, &p) == BRAID_OK, "%s: %s", text, braid_message())) continue;
        op_of(&p)->shape(&p, CONV2D_POOL_BN_BWD_APPLY_DY, 0, &shape);
        suite_expect(s, shape.dims[1] == cases[j][1] && shape.dims[2] == cases[j][1],
                     "%s: expected dy of %lld by %lld, got %lld by %lld", text, (long long)cases[j][1],
                     (long long)cases[j][1], (long long)shape.dims[1], (long long)shape.dims[2]);
    }
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv, &(op_tests){.op = BRAID_OP_CONV2D_POOL_BN_BWD_APPLY, .properties = properties, .scenarios = sizes});
}
