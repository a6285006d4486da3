/*
 * The case tests of bn_bwd: see tests/support/cases.h. Its chain, the two backward passes one after the other, is
 * judged beside the reference.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cases.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"NaN in blanked samples reaches nothing, they give 0", blanked_samples_do_not_leak},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

static void refusals(suite *s) {
    known_refused(s, "bn_bwd:n3:b2:hw2x2:c3:given1:skip1", "expected given or skip");
    known_refused(s, "bn_bwd:n2:b2:hw2x2:c3:given2", "expected given below the 2 planes");
    known_refused(s, "bn_bwd:n2:b2:hw2x2:c3:skip3", "expected skip below the 2 planes");
    known_refused(s, "bn_bwd:b2:hw2x2:c3:act=gelu:add1", "expected act=relu with add1");
    known_refused(s, "bn_bwd:b1:hw1x1:c3", "more than 1 value per channel");
}

int main(int argc, char **argv) {
    return cases_main(argc, argv, &(op_tests){.op = BRAID_OP_BN_BWD, .properties = properties, .scenarios = refusals});
}
