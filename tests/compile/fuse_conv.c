/*
 * Which convolutions read their input through the normalisation before them: those without a bias, in training that
 * keeps everything, where a kernel does it and nobody reads what is between before them. tests/emu/fused.c compares the
 * numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "compile/program.h"
#include "tests/support/given_net.h"
#include "tests/support/trial.h"

typedef struct asked {
    int bias, makes_again;
    int more;      /* 1: one more plane is normalised, which the convolution does not read */
    int read;      /* 1: a pooling reads what is between, and a sum of both goes on */
    int no_kernel; /* 1: of bn_act_conv2d */
} asked;

static braid_net *net_of(const asked *a) {
    braid_net *net = given_net(NULL, NULL);
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 3), braid_net_input(net, "depth", 1)), rest;
    const braid_problem conv = {
        .op = BRAID_OP_CONV2D, .out_channels = {8, 8}, .filter = {3, 3}, .padding = {1, 1}, .bias = a->bias};
    if (a->more) x = braid_net_join(net, x, braid_net_input(net, "more", 2));
    x = braid_net_layer(net, "norm", x, &(braid_problem){.op = BRAID_OP_BATCHNORM});
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_ACT});
    if (a->more) rest = braid_net_select(net, x, 2, 1);
    if (a->read)
        rest = braid_net_layer(
            net, NULL, x,
            &(braid_problem){.op = BRAID_OP_MAXPOOL, .filter = {3, 3}, .stride = {1, 1}, .padding = {1, 1}});
    x = braid_net_layer(net, "conv", a->more ? braid_net_select(net, x, 0, 2) : x, &conv);
    if (a->more || a->read) x = braid_net_join(net, x, rest);
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_AVGPOOL, .out_size = {1, 1}});
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_FUSE, .fusion = BRAID_FUSION_CONCAT});
    braid_net_output(net, braid_net_layer(net, "fc", x, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {4}}));
    return net;
}

static int pays(void *user, const braid_problem *p) {
    const asked *a = user;
    return p->op == BRAID_OP_BN_ACT_CONV2D && !a->no_kernel;
}

/* Planes of forward calls of these. */
static void expect(asked a, int fused, int convs, int norms) {
    const program_options o = {.phase = BRAID_PHASE_TRAIN,
                               .batch = 2,
                               .size = {13, 16},
                               .mask = 1,
                               .loss = BRAID_LOSS_CROSS_ENTROPY,
                               .keep_all = !a.makes_again,
                               .pays = pays,
                               .user = &a};
    int got[3] = {0};
    program p;
    braid_net *net = net_of(&a);
    OK(program_build(graph_of_net(net), &o, &p));
    for (int j = 0; j < p.call_count; j++) {
        const braid_problem *of = &p.calls[j].problem;
        if (p.calls[j].segment != BRAID_SEGMENT_FORWARD || p.calls[j].is_absorbed) continue;
        if (of->op == BRAID_OP_BN_ACT_CONV2D) got[0] += of->streams;
        if (of->op == BRAID_OP_CONV2D) got[1] += of->streams;
        if (of->op == BRAID_OP_BN_ACT) got[2] += of->streams;
    }
    assert_int_equal(got[0], fused);
    assert_int_equal(got[1], convs);
    assert_int_equal(got[2], norms);
    program_free(&p);
    braid_net_destroy(net);
}

static void a_convolution_behind_a_norm(void **state) {
    (void)state;
    expect((asked){0}, 2, 0, 0);
}

static void other_planes_stay(void **state) {
    (void)state;
    expect((asked){.more = 1}, 2, 0, 1);
}

static void no_kernel_nothing_fused(void **state) {
    (void)state;
    expect((asked){.no_kernel = 1}, 0, 2, 2);
}

static void what_is_made_again_stays(void **state) {
    (void)state;
    expect((asked){.makes_again = 1}, 0, 2, 2);
}

static void biases_stay(void **state) {
    (void)state;
    expect((asked){.bias = 1}, 0, 2, 2);
}

/* The pooling comes before the convolution. */
static void earlier_readers_stay(void **state) {
    (void)state;
    expect((asked){.read = 1}, 0, 2, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_convolution_behind_a_norm),
        cmocka_unit_test(other_planes_stay),
        cmocka_unit_test(no_kernel_nothing_fused),
        cmocka_unit_test(what_is_made_again_stays),
        cmocka_unit_test(biases_stay),
        cmocka_unit_test(earlier_readers_stay),
    };
    return cmocka_run_group_tests_name("compile/fuse_conv", tests, NULL, NULL);
}
