/*
 * The case tests of bn_bwd_apply: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/bn_chain.h"
#include "tests/support/cases.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"NaN in blanked samples reaches nothing, they give 0", blanked_samples_do_not_leak},
    {"active samples equal a batch of their own", active_samples_alone},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

static void scenarios(suite *s) {
    bn_scenarios(s);
    bn_refuses_single_value(s);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){
            .op = BRAID_OP_BN_BWD_APPLY, .properties = properties, .scenarios = scenarios, .gradients = bn_gradients});
}
