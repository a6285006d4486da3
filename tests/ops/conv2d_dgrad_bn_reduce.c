/*
 * The case tests of conv2d_dgrad_bn_reduce: see tests/support/cases.h. Its chain, conv2d's data gradient and then the
 * weight gradients of bn_act or bn_add_act, is judged beside the reference.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cases.h"
#include "tests/support/stream_properties.h"

/* With add1 a blanked sample has its a. */
static outcome blanked_do_not_leak(trial *t) {
    return t->problem->add & CONV2D_DGRAD_BN_REDUCE_ADD_A ? NOT_HERE : blanked_samples_do_not_leak(t);
}

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"NaN in blanked samples reaches nothing, they give 0", blanked_do_not_leak},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return cases_main(argc, argv, &(op_tests){.op = BRAID_OP_CONV2D_DGRAD_BN_REDUCE, .properties = properties});
}
