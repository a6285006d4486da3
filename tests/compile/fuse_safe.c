/*
 * What keeps calls from being fused although they are a chain: here the data pass of a convolution and the sums of the
 * normalisation in front of it, in a program that is changed between them by hand.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "compile/program.h"
#include "tests/support/given_net.h"
#include "tests/support/trial.h"

typedef struct chain_calls {
    braid_net *net;
    program p;
    int data, sums; /* calls */
} chain_calls;

static int never(void *user, const braid_problem *p) {
    (void)user;
    (void)p;
    return 0;
}

static int of_the_two(void *user, const braid_problem *p) {
    (void)user;
    return p->op == BRAID_OP_CONV2D_DGRAD_BN_REDUCE;
}

static braid_net *two_layers(void) {
    const braid_problem conv = {.op = BRAID_OP_CONV2D, .out_channels = {8, 8}, .filter = {3, 3}, .padding = {1, 1}};
    braid_net *net = given_net(NULL, NULL);
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 3), braid_net_input(net, "depth", 1));
    x = braid_net_layer(net, "conv1", x, &conv);
    x = braid_net_layer(net, "norm1", x, &(braid_problem){.op = BRAID_OP_BATCHNORM});
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_ACT});
    x = braid_net_layer(net, "conv2", x, &conv);
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_AVGPOOL, .out_size = {1, 1}});
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_FUSE, .fusion = BRAID_FUSION_CONCAT});
    braid_net_output(net, braid_net_layer(net, "fc", x, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {4}}));
    return net;
}

static int find(const program *p, braid_op_id op, braid_pass pass) {
    for (int j = 0; j < p->call_count; j++) {
        if (p->calls[j].problem.op == op && p->calls[j].problem.pass == pass) return j;
    }
    fail_msg("expected a call of %s", braid_op_id_name(op));
    return -1;
}

/* A program with nothing fused backward. */
static chain_calls apart(void) {
    const program_options o = {.phase = BRAID_PHASE_TRAIN,
                               .batch = 2,
                               .size = {9, 11},
                               .mask = 1,
                               .loss = BRAID_LOSS_CROSS_ENTROPY,
                               .keep_all = 1,
                               .pays = never};
    chain_calls c = {.net = two_layers()};
    OK(program_build(graph_of_net(c.net), &o, &c.p));
    c.p.options.pays = of_the_two;
    c.data = find(&c.p, BRAID_OP_CONV2D, BRAID_PASS_BWD_DATA);
    c.sums = find(&c.p, BRAID_OP_BN_ACT, BRAID_PASS_BWD_WEIGHT);
    assert_true(c.data < c.sums);
    return c;
}

static void expect(chain_calls *c, int fused) {
    program_fuse_backward(&c->p);
    int got = 0;
    for (int j = 0; j < c->p.call_count; j++) got += c->p.calls[j].problem.op == BRAID_OP_CONV2D_DGRAD_BN_REDUCE;
    assert_int_equal(got, fused);
    program_free(&c->p);
    braid_net_destroy(c->net);
}

/* Inserts an addition of a tensor to itself in front of the sums; returns its output. */
static int add_between(chain_calls *c, int of) {
    program *p = &c->p;
    call add = call_start(p, BRAID_OP_ADD, BRAID_PASS_FWD, NULL);
    const plane_shape *shape = &p->tensors[of].shape;
    add.segment = BRAID_SEGMENT_BACKWARD;
    add.problem.streams = 1;
    add.problem.batch = shape->dims[0];
    add.problem.in_channels[0] = shape->dims[3];
    for (int axis = 0; axis < 2; axis++) add.problem.size[axis] = shape->dims[1 + axis];
    add.tensor[ADD_X][0] = add.tensor[ADD_Z][0] = of;
    OK(program_add_call(p, &add));
    const call made = p->calls[p->call_count - 1];
    for (int j = p->call_count - 1; j > c->sums; j--) p->calls[j] = p->calls[j - 1];
    p->calls[c->sums] = made;
    return made.tensor[ADD_Y][0];
}

static void unchanged(void **state) {
    (void)state;
    chain_calls c = apart();
    expect(&c, 1);
}

/* A call between them that reads what both read or make is no obstacle; one that writes over it is. */
static void what_is_written_between(void **state) {
    (void)state;
    chain_calls c = apart();
    add_between(&c, c.p.calls[c.sums].tensor[BN_FUSED_X][0]);
    expect(&c, 1);
    for (int plane = 0; plane < 2; plane++) {
        c = apart();
        const int x = c.p.calls[c.sums].tensor[BN_FUSED_X][plane];
        c.p.tensors[add_between(&c, x)].root = c.p.tensors[x].root;
        expect(&c, 0);
    }
}

/* The sums of one plane are written where the data pass reads. */
static void what_a_step_writes_over(void **state) {
    (void)state;
    chain_calls c = apart();
    const int dy = c.p.calls[c.data].tensor[CONV2D_Y][1];
    c.p.tensors[c.p.calls[c.sums].tensor[BN_FUSED_DGAMMA][1]].root = c.p.tensors[dy].root;
    expect(&c, 0);
}

static void other_tensors(void **state) {
    (void)state;
    for (int plane = 0; plane < 2; plane++) {
        chain_calls c = apart();
        int *mask = c.p.calls[c.sums].tensor[BN_FUSED_MASK];
        mask[plane] = mask[1 - plane];
        expect(&c, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged),
        cmocka_unit_test(what_is_written_between),
        cmocka_unit_test(what_a_step_writes_over),
        cmocka_unit_test(other_tensors),
    };
    return cmocka_run_group_tests_name("compile/fuse_safe", tests, NULL, NULL);
}
