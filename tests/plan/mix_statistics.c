/*
 * Mixes and the statistics of all that they read and make become one call where the device has a kernel for it, and so
 * do convolutions and those of what they make, with masks or without; everything else of the program stays as it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "plan/program.h"
#include "tests/support/given.h"
#include "tests/support/given_net.h"
#include "tests/support/trial.h"

/* All but bn_norm, which would take the statistics that are left. */
static int every_one(void *user, const braid_problem *p) {
    (void)user;
    return p->op != BRAID_OP_BN_NORM;
}

static int every_other(void *user, const braid_problem *p) {
    return every_one(user, p) && p->op != BRAID_OP_INTEGRATE_PREPARE && p->op != BRAID_OP_CONV2D_PREPARE;
}

/* Calls of every op, forward and backward, how many ops they stand for, and those whose streams count batches each for
 * itself. */
typedef struct counts {
    int of[2][BRAID_OP_COUNT];
    int natural, each;
} counts;

static counts count(const char *kind, int (*has_kernel)(void *user, const braid_problem *p), int mask,
                    braid_phase phase) {
    program_options o = {.phase = phase, .batch = 2, .size = {37, 45}, .mask = mask, .has_kernel = has_kernel};
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

/* All 20 calls of `op` become `joined` in training, and none in evaluation. */
static void are_joined(const char *kind, braid_op_id op, braid_op_id joined_op) {
    for (int mask = 0; mask < 2; mask++) {
        counts plain = count(kind, every_other, mask, BRAID_PHASE_TRAIN),
               joined = count(kind, every_one, mask, BRAID_PHASE_TRAIN);
        assert_int_equal(joined.natural, plain.natural);
        assert_int_equal(joined.each, plain.each);
        for (int j = 0; j < BRAID_OP_COUNT; j++) {
            int expected = plain.of[0][j];
            if (j == (int)joined_op) expected = 20;
            if (j == (int)op || j == BRAID_OP_BN_PREPARE) expected = 0;
            assert_int_equal(joined.of[0][j], expected);
            assert_int_equal(joined.of[1][j], plain.of[1][j]);
        }
    }
    assert_int_equal(count(kind, every_one, 0, BRAID_PHASE_EVAL).of[0][joined_op], 0);
}

static void mixes_are_joined(void **state) {
    (void)state;
    are_joined("linet18", BRAID_OP_INTEGRATE, BRAID_OP_INTEGRATE_PREPARE);
}

static void convolutions_are_joined(void **state) {
    (void)state;
    are_joined("mcresnet18", BRAID_OP_CONV2D, BRAID_OP_CONV2D_PREPARE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixes_are_joined),
        cmocka_unit_test(convolutions_are_joined),
    };
    return cmocka_run_group_tests_name("plan/mix_statistics", tests, NULL, NULL);
}
