/*
 * Which convolutions get their weight gradient from one call with the gradient through the pooling behind them: those
 * whose input has no gradient, without a bias, under the pooling that conv2d_pool_bn_bwd_apply knows, where a kernel
 * does it. tests/emu/fused.c compares the numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "compile/program.h"
#include "tests/support/given_net.h"
#include "tests/support/trial.h"

typedef struct asked {
    int layers, bias, filter, ceil;
    braid_activation act;
    int mixed;     /* 1: one more plane is normalised and pooled beside the streams */
    int no_kernel; /* 1: of conv2d_pool_bn_bwd_apply */
} asked;

/* Layers of two streams, each normalised, activated and pooled. */
static braid_net *net_of(const asked *a) {
    static const char *const names[][3] = {{"conv1", "norm1", "mix1"}, {"conv2", "norm2", "mix2"}};
    braid_net *net = given_net(NULL, NULL);
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 3), braid_net_input(net, "depth", 1));
    for (int j = 0; j < a->layers; j++) {
        x = braid_net_layer(
            net, names[j][0], x,
            &(braid_problem){
                .op = BRAID_OP_CONV2D, .out_channels = {8, 16}, .filter = {3, 3}, .padding = {1, 1}, .bias = a->bias});
        if (a->mixed) {
            const braid_problem mix = {.op = BRAID_OP_CONV2D, .out_channels = {8}, .filter = {1, 1}};
            braid_value other = braid_net_layer(net, names[j][2], braid_net_input(net, "more", 1), &mix);
            x = braid_net_join(net, x, other);
        }
        x = braid_net_layer(net, names[j][1], x, &(braid_problem){.op = BRAID_OP_BATCHNORM});
        x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_ACT, .activation = a->act});
        const int64_t filter = a->filter ? a->filter : 3;
        x = braid_net_layer(net, NULL, x,
                            &(braid_problem){.op = BRAID_OP_MAXPOOL,
                                             .filter = {3, filter},
                                             .stride = {2, 2},
                                             .padding = {1, 1},
                                             .ceil_mode = a->ceil});
    }
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_AVGPOOL, .out_size = {1, 1}});
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_FUSE, .fusion = BRAID_FUSION_CONCAT});
    braid_net_output(net, braid_net_layer(net, "fc", x, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {4}}));
    return net;
}

static int pays(void *user, const braid_problem *p) {
    const asked *a = user;
    return p->op != BRAID_OP_CONV2D_POOL_BN_BWD_APPLY || !a->no_kernel;
}

/* Planes of backward calls of these. */
typedef struct counts {
    int fused, weights, norms;
} counts;

static void expect(asked a, counts expected) {
    const program_options o = {.phase = BRAID_PHASE_TRAIN,
                               .batch = 2,
                               .size = {13, 16},
                               .mask = 1,
                               .loss = BRAID_LOSS_CROSS_ENTROPY,
                               .pays = pays,
                               .user = &a};
    counts got = {0};
    program p;
    braid_net *net = net_of(&a);
    OK(program_build(graph_of_net(net), &o, &p));
    for (int j = 0; j < p.call_count; j++) {
        const braid_problem *of = &p.calls[j].problem;
        if (p.calls[j].segment != BRAID_SEGMENT_BACKWARD || p.calls[j].is_absorbed) continue;
        if (of->op == BRAID_OP_CONV2D_POOL_BN_BWD_APPLY) got.fused += of->streams;
        if (of->op == BRAID_OP_CONV2D && of->pass == BRAID_PASS_BWD_WEIGHT) got.weights += of->streams;
        if (of->op == BRAID_OP_BN_ACT_POOL && of->pass == BRAID_PASS_BWD_DATA) got.norms += of->streams;
    }
    assert_int_equal(got.fused, expected.fused);
    assert_int_equal(got.weights, expected.weights);
    assert_int_equal(got.norms, expected.norms);
    program_free(&p);
    braid_net_destroy(net);
}

static void the_first_layer(void **state) {
    (void)state;
    expect((asked){.layers = 1}, (counts){2, 0, 0});
    expect((asked){.layers = 2}, (counts){2, 2, 2});
}

static void no_kernel_nothing_fused(void **state) {
    (void)state;
    expect((asked){.layers = 1, .no_kernel = 1}, (counts){0, 2, 2});
}

static void biases_have_gradients(void **state) {
    (void)state;
    expect((asked){.layers = 1, .bias = 1}, (counts){0, 2, 2});
}

static void other_poolings_stay(void **state) {
    (void)state;
    expect((asked){.layers = 1, .filter = 2}, (counts){0, 2, 2});
    expect((asked){.layers = 1, .ceil = 1}, (counts){0, 2, 2});
    expect((asked){.layers = 1, .act = BRAID_ACTIVATION_GELU}, (counts){0, 2, 2});
}

/* Planes that one call normalises and two convolutions made: each gets its own. */
static void planes_of_two_convolutions(void **state) {
    (void)state;
    expect((asked){.layers = 1, .mixed = 1}, (counts){3, 0, 0});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_layer),
        cmocka_unit_test(no_kernel_nothing_fused),
        cmocka_unit_test(biases_have_gradients),
        cmocka_unit_test(other_poolings_stay),
        cmocka_unit_test(planes_of_two_convolutions),
    };
    return cmocka_run_group_tests_name("compile/fuse_pool", tests, NULL, NULL);
}
