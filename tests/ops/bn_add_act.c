/*
 * The case tests of bn_add_act: see tests/support/cases.h.
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
        .outputs = {{BN_FUSED_Y, BN_FUSED_DY}},
        .inputs = {{BN_FUSED_X, BRAID_PASS_BWD_DATA, BN_FUSED_DX},
                   {BN_FUSED_Z, BRAID_PASS_BWD_DATA, BN_FUSED_DZ},
                   {BN_FUSED_SHIFT, BRAID_PASS_BWD_WEIGHT, BN_FUSED_DBETA}},
        .agree = agree_on_scale,
    };
    check_fused_gradients(s, "bn_add_act_fwd:f64:n2:b2:hw3x4:c5,3:phase=eval", &g);
    check_fused_gradients(s, "bn_add_act_fwd:f64:n2:b3:hw2x3:c3,1:cp4,4:mask1:phase=eval", &g);
}

int main(int argc, char **argv) {
    return cases_main(argc, argv,
                      &(op_tests){.op = BRAID_OP_BN_ADD_ACT, .properties = properties, .gradients = gradients});
}
