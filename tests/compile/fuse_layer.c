/*
 * Which layers of convolutions and a learned mix get the gradients of all their weights from one call: those whose
 * input has no gradient, without biases, where a kernel does it. tests/emu/fused.c compares the numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "compile/program.h"
#include "tests/support/given_net.h"
#include "tests/support/trial.h"

typedef struct asked {
    int layers, conv_bias, mix_bias;
    int no_kernel; /* 1: of li_conv2d */
} asked;

/* Layers of two streams without a pathway between their mixes. All planes lead to the loss. */
static braid_net *net_of(const asked *a) {
    static const char *const names[][3] = {{"conv1", "mix1", "norm1"}, {"conv2", "mix2", "norm2"}};
    braid_net *net = given_net(NULL, NULL);
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 3), braid_net_input(net, "depth", 1)), first = {0};
    for (int j = 0; j < a->layers; j++) {
        x = braid_net_layer(net, names[j][0], j ? braid_net_select(net, x, 0, 2) : x,
                            &(braid_problem){.op = BRAID_OP_CONV2D,
                                             .out_channels = {8, 16},
                                             .filter = {3, 3},
                                             .padding = {1, 1},
                                             .bias = a->conv_bias});
        braid_value mix = braid_net_integrate(net, names[j][1], x, (braid_value){0},
                                              &(braid_problem){.integrated_out = 8, .bias = a->mix_bias});
        x = braid_net_layer(net, names[j][2], braid_net_join(net, x, mix), &(braid_problem){.op = BRAID_OP_BATCHNORM});
        x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_ACT});
        if (!j) first = braid_net_select(net, x, 2, 1);
    }
    if (a->layers > 1) x = braid_net_join(net, x, first);
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_AVGPOOL, .out_size = {1, 1}});
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_FUSE, .fusion = BRAID_FUSION_CONCAT});
    braid_net_output(net, braid_net_layer(net, "fc", x, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {4}}));
    return net;
}

static int pays(void *user, const braid_problem *p) {
    const asked *a = user;
    return p->op != BRAID_OP_LI_CONV2D || !a->no_kernel;
}

/* Backward calls of these, by op and pass. */
typedef struct counts {
    int layers, conv_weights, mix_weights, mix_data;
} counts;

static counts count(asked a) {
    const program_options o = {.phase = BRAID_PHASE_TRAIN,
                               .batch = 2,
                               .size = {9, 16},
                               .mask = 1,
                               .loss = BRAID_LOSS_CROSS_ENTROPY,
                               .pays = pays,
                               .user = &a};
    counts found = {0};
    program p;
    braid_net *net = net_of(&a);
    OK(program_build(graph_of_net(net), &o, &p));
    for (int j = 0; j < p.call_count; j++) {
        const braid_problem *of = &p.calls[j].problem;
        const int is_weights = of->pass == BRAID_PASS_BWD_WEIGHT;
        if (p.calls[j].segment != BRAID_SEGMENT_BACKWARD) continue;
        found.layers += of->op == BRAID_OP_LI_CONV2D;
        found.conv_weights += of->op == BRAID_OP_CONV2D && is_weights;
        found.mix_weights += of->op == BRAID_OP_INTEGRATE && is_weights;
        found.mix_data += (of->op == BRAID_OP_INTEGRATE && !is_weights) || of->op == BRAID_OP_INTEGRATE_BN_BWD_APPLY;
    }
    program_free(&p);
    braid_net_destroy(net);
    return found;
}

static void expect(asked a, counts expected) {
    const counts got = count(a);
    assert_int_equal(got.layers, expected.layers);
    assert_int_equal(got.conv_weights, expected.conv_weights);
    assert_int_equal(got.mix_weights, expected.mix_weights);
    assert_int_equal(got.mix_data, expected.mix_data);
}

static void the_first_layer(void **state) {
    (void)state;
    expect((asked){.layers = 1}, (counts){1, 0, 0, 0});
    expect((asked){.layers = 2}, (counts){1, 1, 1, 1});
}

static void no_kernel_nothing_fused(void **state) {
    (void)state;
    expect((asked){.layers = 1, .no_kernel = 1}, (counts){0, 1, 1, 1});
}

static void biases_have_gradients(void **state) {
    (void)state;
    expect((asked){.layers = 1, .conv_bias = 1}, (counts){0, 1, 1, 1});
    expect((asked){.layers = 1, .mix_bias = 1}, (counts){0, 1, 1, 1});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_layer),
        cmocka_unit_test(no_kernel_nothing_fused),
        cmocka_unit_test(biases_have_gradients),
    };
    return cmocka_run_group_tests_name("compile/fuse_layer", tests, NULL, NULL);
}
