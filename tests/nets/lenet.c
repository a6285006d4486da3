/*
 * Tests of lenet86: its state and its graph against a list, its options, and what happens without memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "tests/support/given.h"
#include "tests/support/given_net.h"
#include "tests/support/net_facts.h"

static void state_is_that_of_the_files(void **state) {
    (void)state;
    braid_net *net = given_net("lenet86", NULL);
    assert_tensors(net, (const char *const[]){"conv1.weight 4x1x7x7", "conv1.bias 4", "conv2.weight 16x4x7x7",
                                              "conv2.bias 16", "fc1.weight 32x1296", "fc1.bias 32", "fc2.weight 10x32",
                                              "fc2.bias 10", NULL});
    /* what weights-86.bin holds */
    assert_int_equal(braid_net_parameter_count(net), 200 + 3152 + 41504 + 330);
    braid_net_destroy(net);
}

static void convolutions_add_no_bias(void **state) {
    (void)state;
    braid_net *net = given_net("lenet86", NULL);
    assert_nodes(net, (const char *const[]){"conv2d image conv1.weight mask0 #1:4", "act #1 #2:4", "maxpool #2 #3:4",
                                            "conv2d #3 conv2.weight mask0 #4:16", "act #4 #5:16", "maxpool #5 #6:16",
                                            "view #6 #7:1296", "linear #7 fc1.weight fc1.bias mask0 #8:32",
                                            "act #8 #9:32", "linear #9 fc2.weight fc2.bias mask0 #10:10", NULL});
    assert_false(net->graph.target_is_input);
    braid_net_destroy(net);
}

/* 86 pixels become 9: with whole windows alone they would become 8. */
static void pooling_reaches_nine_pixels(void **state) {
    (void)state;
    braid_net *net = given_net("lenet86", NULL);
    int64_t size = 86;
    for (int j = 0; j < net->graph.node_count; j++) {
        braid_problem p = net->graph.nodes[j].problem;
        if (net->graph.nodes[j].is_view || (p.op != BRAID_OP_CONV2D && p.op != BRAID_OP_MAXPOOL)) continue;
        p.batch = 1;
        p.size[0] = p.size[1] = size;
        assert_int_equal(braid_problem_check(&p), BRAID_OK);
        size = p.op == BRAID_OP_CONV2D ? conv2d_out_size(&p, 0) : maxpool_out_size(&p, 0);
    }
    assert_int_equal(size, 9);
    braid_net_destroy(net);
}

/* fc1 lies in memory as its pixels do: row, column, channel. */
static void fc1_is_a_filter(void **state) {
    (void)state;
    braid_net *net = given_net("lenet86", NULL);
    const graph_plane *fc1 = given_plane(net, "fc1.weight");
    assert_true(fc1->flat && fc1->rank == 4);
    assert_int_equal(fc1->dims[0], 32);
    assert_int_equal(fc1->dims[1], 16);
    assert_int_equal(fc1->dims[2], 9);
    assert_int_equal(fc1->dims[3], 9);
    assert_begins(net, "fc1.weight", INIT_UNIFORM, 1 / 36.0);
    assert_begins(net, "conv2.weight", INIT_UNIFORM, 1 / 14.0);
    braid_net_destroy(net);
}

static void options_are_its_own(void **state) {
    (void)state;
    braid_net *net = given_net("lenet86", &(braid_net_options){.classes = 3});
    int64_t channels = 0;
    assert_string_equal(braid_net_stream(net, 0, &channels), "image");
    assert_int_equal(channels, 1);
    assert_int_equal(given_plane(net, "image")->is_image, 1);
    assert_int_equal(given_plane(net, "fc2.weight")->dims[0], 3);
    braid_net_destroy(net);
    assert_refused(braid_net_create("lenet86", &(braid_net_options){.classes = -3}, &net), BRAID_ERROR_ARGUMENT,
                   "lenet86|classes|got -3");
    assert_refused(braid_net_create("lenet86", &(braid_net_options){.width = 0.5}, &net), BRAID_ERROR_ARGUMENT,
                   "lenet86|width");
    assert_refused(braid_net_create("lenet86", &(braid_net_options){.channels = {3}}, &net), BRAID_ERROR_ARGUMENT,
                   "lenet86|channels");
    assert_refused(braid_net_create("lenet86", &(braid_net_options){.layers = {3, 4}}, &net), BRAID_ERROR_ARGUMENT,
                   "lenet86|layers");
    assert_null(net);
}

static braid_status make(void) {
    braid_net *net = NULL;
    braid_status status = braid_net_create("lenet86", NULL, &net);
    braid_net_destroy(net);
    return status;
}

static void survives_without_memory(void **state) {
    (void)state;
    assert_survives_allocations(make, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_is_that_of_the_files),  cmocka_unit_test(convolutions_add_no_bias),
        cmocka_unit_test(pooling_reaches_nine_pixels), cmocka_unit_test(fc1_is_a_filter),
        cmocka_unit_test(options_are_its_own),         cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
