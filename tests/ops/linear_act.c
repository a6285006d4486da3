/*
 * The case tests of linear_act: see tests/support/cases.h.
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
    {"a batch equals its parts", batch_splits},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

static void gradients(suite *s) {
    static const fused_gradients g = {
        .outputs = {{LINEAR_ACT_Y, LINEAR_ACT_DY}},
        .inputs = {{LINEAR_ACT_X, BRAID_PASS_BWD_DATA, LINEAR_ACT_X},
                   {LINEAR_ACT_W, BRAID_PASS_BWD_WEIGHT, LINEAR_ACT_W},
                   {LINEAR_ACT_BIAS, BRAID_PASS_BWD_WEIGHT, LINEAR_ACT_BIAS}},
    };
    check_fused_gradients(s, "linear_act_fwd:f64:n2:b3:c5,3:k2,4:bias1", &g);
    check_fused_gradients(s, "linear_act_fwd:f64:n2:b3:c5,3:k2,4:act=gelu", &g);
    check_fused_gradients(s, "linear_act_fwd:f64:n2:b5:c4,3:k3,4:bias1:mask1:cp5:kp6:act=gelu_tanh", &g);
}

int main(int argc, char **argv) {
    return cases_main(argc, argv,
                      &(op_tests){.op = BRAID_OP_LINEAR_ACT, .properties = properties, .gradients = gradients});
}
