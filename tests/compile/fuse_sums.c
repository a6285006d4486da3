/*
 * Which sums of a normalisation's gradient are made by the convolution behind it: those of planes whose whole gradient
 * it makes, under a ReLU, where a kernel does it. tests/emu/fused.c compares the numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "compile/program.h"
#include "tests/support/given_net.h"
#include "tests/support/trial.h"

typedef struct asked {
    const char *kind; /* NULL: two layers of two streams */
    int streams;      /* of the kind; 0: as it has them */
    braid_activation act;
    int more;      /* 1: a plane is normalised beside the streams that the second layer does not read */
    int again;     /* 1: two convolutions read the first layer */
    int no_kernel; /* 1: of conv2d_dgrad_bn_reduce */
} asked;

static braid_net *net_of(const asked *a) {
    const braid_problem conv = {.op = BRAID_OP_CONV2D, .out_channels = {8, 16}, .filter = {3, 3}, .padding = {1, 1}};
    const braid_net_options tiny = {.streams = a->streams, .width = 1.0 / 8, .classes = 4};
    braid_net *net = given_net(a->kind, a->kind ? &tiny : NULL);
    if (a->kind) return net;
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 3), braid_net_input(net, "depth", 1)), y;
    x = braid_net_layer(net, "conv1", x, &conv);
    if (a->more) {
        const braid_problem other = {.op = BRAID_OP_CONV2D, .out_channels = {8}, .filter = {1, 1}};
        x = braid_net_join(net, x, braid_net_layer(net, "conv0", braid_net_input(net, "more", 1), &other));
    }
    x = braid_net_layer(net, "norm1", x, &(braid_problem){.op = BRAID_OP_BATCHNORM});
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_ACT, .activation = a->act});
    const braid_value read = braid_net_select(net, x, 0, 2);
    y = braid_net_layer(net, "conv2", read, &conv);
    if (a->again) y = braid_net_add(net, y, braid_net_layer(net, "conv3", read, &conv));
    if (a->more) y = braid_net_join(net, y, braid_net_select(net, x, 2, 1));
    y = braid_net_layer(net, NULL, y, &(braid_problem){.op = BRAID_OP_AVGPOOL, .out_size = {1, 1}});
    y = braid_net_layer(net, NULL, y, &(braid_problem){.op = BRAID_OP_FUSE, .fusion = BRAID_FUSION_CONCAT});
    braid_net_output(net, braid_net_layer(net, "fc", y, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {4}}));
    return net;
}

/* As the kernels are: at stride 1. */
static int pays(void *user, const braid_problem *p) {
    const asked *a = user;
    if (p->op == BRAID_OP_BN_BWD) return 0; /* which would take what is left of the sums */
    return p->op != BRAID_OP_CONV2D_DGRAD_BN_REDUCE || (!a->no_kernel && p->stride[0] == 1);
}

/* Fused calls by their add, and planes of weight passes that are left. */
typedef struct counts {
    int fused[4], planes;
} counts;

static void expect(asked a, counts expected) {
    const program_options o = {.phase = BRAID_PHASE_TRAIN,
                               .batch = 2,
                               .size = {33, 40},
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
        if (of->op == BRAID_OP_CONV2D_DGRAD_BN_REDUCE) got.fused[of->add]++;
        if ((of->op == BRAID_OP_BN_ACT || of->op == BRAID_OP_BN_ADD_ACT) && of->pass == BRAID_PASS_BWD_WEIGHT)
            got.planes += of->streams;
    }
    for (int add = 0; add < 4; add++) assert_int_equal(got.fused[add], expected.fused[add]);
    assert_int_equal(got.planes, expected.planes);
    program_free(&p);
    braid_net_destroy(net);
}

static void one_reader(void **state) {
    (void)state;
    expect((asked){0}, (counts){{1, 0, 0, 0}, 0});
}

/* The last of two readers adds what the first made, and has the whole. */
static void two_readers(void **state) {
    (void)state;
    expect((asked){.again = 1}, (counts){{0, 1, 0, 0}, 0});
}

static void other_planes_stay(void **state) {
    (void)state;
    expect((asked){.more = 1}, (counts){{1, 0, 0, 0}, 1});
}

static void no_kernel_nothing_fused(void **state) {
    (void)state;
    expect((asked){.no_kernel = 1}, (counts){{0, 0, 0, 0}, 2});
}

static void curved_activations_stay(void **state) {
    (void)state;
    expect((asked){.act = BRAID_ACTIVATION_GELU}, (counts){{0, 0, 0, 0}, 2});
}

/* Of eight blocks: the gradient between the convolutions of each; and what comes back to the first block of each
 * stage from the second. A block in front of a downsampling, whose 1 x 1 convolution changes the gradient last, keeps
 * its pass, and so does the last, in front of the average. In a LINet that one has no streams, so that nothing is added
 * in front of it, and the integrated plane keeps all of its sixteen passes. */
static void networks(void **state) {
    (void)state;
    expect((asked){.kind = "mcresnet18"}, (counts){{8, 0, 0, 4}, 2 * 4});
    expect((asked){.kind = "linet18", .streams = 3}, (counts){{8, 0, 1, 3}, 16 + 3 * 3});
}

/* Of sixteen blocks of three convolutions: both gradients between them, but for those behind the three with a stride,
 * which no kernel makes; and what comes back to a block from the next of its stage. */
static void bottlenecks(void **state) {
    (void)state;
    expect((asked){.kind = "mcresnet50"}, (counts){{32 - 3, 0, 0, 12}, 2 * (3 + 4)});
    expect((asked){.kind = "linet50", .streams = 3}, (counts){{32 - 3, 0, 1, 11}, 48 + 3 * (3 + 3)});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_reader),
        cmocka_unit_test(two_readers),
        cmocka_unit_test(other_planes_stay),
        cmocka_unit_test(no_kernel_nothing_fused),
        cmocka_unit_test(curved_activations_stay),
        cmocka_unit_test(networks),
        cmocka_unit_test(bottlenecks),
    };
    return cmocka_run_group_tests_name("compile/fuse_sums", tests, NULL, NULL);
}
