/*
 * The case tests of batchnorm: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cases.h"
#include "tests/support/fused_gradients.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"NaN in blanked samples reaches nothing, they give 0", blanked_samples_do_not_leak},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

static void gradients(suite *s) {
    static const fused_gradients g = {
        .outputs = {{BATCHNORM_Y, BATCHNORM_DY}},
        .inputs = {{BATCHNORM_X, BRAID_PASS_BWD_DATA, BATCHNORM_DX},
                   {BATCHNORM_GAMMA, BRAID_PASS_BWD_DATA, BATCHNORM_DGAMMA},
                   {BATCHNORM_BETA, BRAID_PASS_BWD_DATA, BATCHNORM_DBETA}},
    };
    check_fused_gradients(s, "batchnorm_fwd:f64:n2:b3:hw2x3:c3,2", &g);
    check_fused_gradients(s, "batchnorm_fwd:f64:n2:b4:hw2x2:c2,3:mask1", &g);
}

int main(int argc, char **argv) {
    return cases_main(argc, argv,
                      &(op_tests){.op = BRAID_OP_BATCHNORM, .properties = properties, .gradients = gradients});
}
