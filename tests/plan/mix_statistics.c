/*
 * Mixes and the statistics of all that they read and make become one call where the device has a kernel for it, with
 * masks or without; everything else of the program stays as it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "plan/program.h"
#include "tests/support/given.h"
#include "tests/support/given_net.h"
#include "tests/support/trial.h"

static int every_other(void *user, const braid_problem *p) {
    (void)user;
    return p->op != BRAID_OP_INTEGRATE_PREPARE;
}

static int every_one(void *user, const braid_problem *p) {
    (void)user;
    (void)p;
    return 1;
}

/* Calls of every op, forward and backward, and how many ops they stand for. */
typedef struct counts {
    int of[2][BRAID_OP_COUNT];
    int natural;
} counts;

static counts count(int (*has_kernel)(void *user, const braid_problem *p), int mask, braid_phase phase) {
    program_options o = {.phase = phase, .batch = 2, .size = {37, 45}, .mask = mask, .has_kernel = has_kernel};
    counts found = {0};
    program p;
    if (phase == BRAID_PHASE_TRAIN) o.loss = BRAID_LOSS_CROSS_ENTROPY;
    braid_net *net = given_net("linet18", &(braid_net_options){.streams = 3, .width = 1.0 / 16});
    OK(program_build(graph_of_net(net), &o, &p));
    for (int j = 0; j < p.call_count; j++) {
        found.of[p.calls[j].segment == BRAID_SEGMENT_BACKWARD][p.calls[j].problem.op]++;
        found.natural += p.calls[j].natural;
    }
    program_free(&p);
    braid_net_destroy(net);
    return found;
}

static void mixes_are_joined(void **state) {
    (void)state;
    for (int mask = 0; mask < 2; mask++) {
        counts plain = count(every_other, mask, BRAID_PHASE_TRAIN), joined = count(every_one, mask, BRAID_PHASE_TRAIN);
        assert_int_equal(joined.natural, plain.natural);
        for (int op = 0; op < BRAID_OP_COUNT; op++) {
            int expected = plain.of[0][op];
            if (op == BRAID_OP_INTEGRATE_PREPARE) expected = 20;
            if (op == BRAID_OP_INTEGRATE || op == BRAID_OP_BN_PREPARE) expected = 0;
            assert_int_equal(joined.of[0][op], expected);
            assert_int_equal(joined.of[1][op], plain.of[1][op]);
        }
    }
}

static void evaluation_has_no_statistics(void **state) {
    (void)state;
    assert_int_equal(count(every_one, 0, BRAID_PHASE_EVAL).of[0][BRAID_OP_INTEGRATE_PREPARE], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixes_are_joined),
        cmocka_unit_test(evaluation_has_no_statistics),
    };
    return cmocka_run_group_tests_name("plan/mix_statistics", tests, NULL, NULL);
}
