/*
 * The case tests of conv2d_bn_stats: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
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

int main(int argc, char **argv) {
    return cases_main(argc, argv, &(op_tests){.op = BRAID_OP_CONV2D_BN_STATS, .properties = properties});
}
