/*
 * The case tests of integrate_bn_stats: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cases.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return cases_main(argc, argv, &(op_tests){.op = BRAID_OP_INTEGRATE_BN_STATS, .properties = properties});
}
