/*
 * The case tests of integrate_bn_bwd_apply: see tests/support/cases.h. Its chain, bn_act's data gradient or
 * bn_bwd_apply and then integrate's, is judged beside the reference. z belongs to no stream and no sample of it is
 * blanked.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cases.h"
#include "tests/support/stream_properties.h"

static outcome blanked_samples(trial *t) {
    return t->problem->integrated_in > 0 ? NOT_HERE : blanked_samples_do_not_leak(t);
}

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"NaN in blanked samples reaches nothing, they give 0", blanked_samples},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return cases_main(argc, argv, &(op_tests){.op = BRAID_OP_INTEGRATE_BN_BWD_APPLY, .properties = properties});
}
