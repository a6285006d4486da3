/*
 * Mixes and the statistics of all that they read and make become one call where the device has a kernel for it, and so
 * do convolutions and those of what they make, with masks or without; everything else of the program stays as it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "compile/program.h"
#include "tests/support/given.h"
#include "tests/support/given_net.h"
#include "tests/support/trial.h"

static int every_other(void *user, const braid_problem *p) {
    (void)user;
    return p->op != BRAID_OP_INTEGRATE_BN_STATS && p->op != BRAID_OP_CONV2D_BN_STATS;
}

static int every_one(void *user, const braid_problem *p) {
    (void)user;
    (void)p;
    return 1;
}

/* Calls of every op, forward and backward, how many ops they stand for, and those whose streams count batches each for
 * itself. */
typedef struct counts {
    int of[2][BRAID_OP_COUNT];
    int natural, each;
} counts;

static counts count(const char *kind, int (*pays)(void *user, const braid_problem *p), int mask, braid_phase phase) {
    program_options o = {.phase = phase, .batch = 2, .size = {37, 45}, .mask = mask, .pays = pays};
    counts found = {0};
    program p;
    if (phase == BRAID_PHASE_TRAIN) o.loss = BRAID_LOSS_CROSS_ENTROPY;
    braid_net *net = given_net(kind, &(braid_net_options){.width = 1.0 / 16});
    OK(program_build(graph_of_net(net), &o, &p));
    for (int j = 0; j < p.call_count; j++) {
        found.of[p.calls[j].segment == BRAID_SEGMENT_BACKWARD][p.calls[j].problem.op]++;
        found.natural += p.calls[j].natural;
        found.each += p.calls[j].problem.each;
    }
    program_free(&p);
    braid_net_destroy(net);
    return found;
}

/* All 20 calls of `op` become `fused` in training, and none in evaluation. */
static void are_fused(const char *kind, braid_op_id op, braid_op_id fused_op) {
    for (int mask = 0; mask < 2; mask++) {
        counts plain = count(kind, every_other, mask, BRAID_PHASE_TRAIN),
               fused = count(kind, every_one, mask, BRAID_PHASE_TRAIN);
        assert_int_equal(fused.natural, plain.natural);
        assert_int_equal(fused.each, plain.each);
        for (int j = 0; j < BRAID_OP_COUNT; j++) {
            int expected = plain.of[0][j];
            if (j == (int)fused_op) expected = 20;
            if (j == (int)op || j == BRAID_OP_BN_STATS_FINALIZE) expected = 0;
            assert_int_equal(fused.of[0][j], expected);
            assert_int_equal(fused.of[1][j], plain.of[1][j]);
        }
    }
    assert_int_equal(count(kind, every_one, 0, BRAID_PHASE_EVAL).of[0][fused_op], 0);
}

static void mixes_are_fused(void **state) {
    (void)state;
    are_fused("linet18", BRAID_OP_INTEGRATE, BRAID_OP_INTEGRATE_BN_STATS);
}

static void convolutions_are_fused(void **state) {
    (void)state;
    are_fused("mcresnet18", BRAID_OP_CONV2D, BRAID_OP_CONV2D_BN_STATS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixes_are_fused),
        cmocka_unit_test(convolutions_are_fused),
    };
    return cmocka_run_group_tests_name("plan/mix_statistics", tests, NULL, NULL);
}
