/*
 * What may wait: calls that make gradients of parameters alone, which no later call touches, and workspaces that hold
 * what somebody reads later.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "tests/support/given_net.h"
#include "tests/support/trial.h"

/* A small LINet, whose program goes to *p. */
static braid_net *build(program *p) {
    const program_options o = {
        .phase = BRAID_PHASE_TRAIN, .batch = 2, .size = {37, 45}, .loss = BRAID_LOSS_CROSS_ENTROPY};
    braid_net *net = given_net("linet18", &(braid_net_options){.width = 1.0 / 16});
    OK(program_build(graph_of_net(net), &o, p));
    return net;
}

static void weight_gradients_may_wait(void **state) {
    int weights = 0;
    program p = {0};
    (void)state;
    braid_net *net = build(&p);
    const int count = p.call_count;
    for (int j = 0; j < count; j++) {
        const braid_problem *of = &p.calls[j].problem;
        if (p.calls[j].segment != BACKWARD || of->op != BRAID_OP_CONV2D) continue;
        assert_int_equal(program_ends_in_gradients(&p, j, count), of->pass == BRAID_PASS_BWD_WEIGHT);
        weights += of->pass == BRAID_PASS_BWD_WEIGHT;
    }
    assert_int_equal(weights, 20);
    for (int j = 0; j < count; j++) { /* until a call behind them makes the same once more */
        if (p.calls[j].problem.op != BRAID_OP_CONV2D || !program_ends_in_gradients(&p, j, count)) continue;
        const call again = p.calls[j];
        OK(program_append(&p, &again));
        assert_int_equal(program_ends_in_gradients(&p, j, p.call_count - 1), 1);
        assert_int_equal(program_ends_in_gradients(&p, j, p.call_count), 0);
        assert_int_equal(program_ends_in_gradients(&p, p.call_count - 1, p.call_count), 1);
    }
    program_free(&p);
    braid_net_destroy(net);
}

/* Every workspace is as large as any tensor, so that all are placed first, and lies apart from those that are there
 * while it holds. */
static void workspaces_hold(void **state) {
    enum { MOST = 400, BYTES = 1 << 20 };
    size_t bytes[MOST], offset[MOST];
    program p = {0};
    int together = 0;
    (void)state;
    braid_net *net = build(&p);
    assert_true(p.call_count <= MOST);
    for (int j = 0; j < p.call_count; j++) {
        bytes[j] = BYTES;
        p.calls[j].holds = j % 5 ? 0 : j % 7;
        p.calls[j].lag = j % 3 ? 0 : 2;
    }
    OK(program_place(&p, bytes, offset));
    for (int j = 0; j < p.call_count; j++) {
        const int lives = p.calls[j].holds > p.calls[j].lag ? p.calls[j].holds : p.calls[j].lag;
        for (int k = j + 1; k <= j + lives && k < p.call_count; k++) {
            assert_true(offset[j] >= offset[k] + BYTES || offset[k] >= offset[j] + BYTES);
            together++;
        }
    }
    assert_true(together > 100);
    program_free(&p);
    braid_net_destroy(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(weight_gradients_may_wait), cmocka_unit_test(workspaces_hold)};
    return cmocka_run_group_tests_name("plan/waits", tests, NULL, NULL);
}
