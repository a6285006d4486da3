/*
 * Tests of mlp and of the configurations of the suite of timings.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/given.h"
#include "tests/support/given_net.h"

static void relu_lies_between_layers(void **state) {
    (void)state;
    braid_net *net = given_net("mlp", &(braid_net_options){.layers = {7, 5, 4, 3}});
    assert_nodes(net,
                 (const char *const[]){"linear features layers.0.fc.weight layers.0.fc.bias mask0 #1:5", "act #1 #2:5",
                                       "linear #2 layers.1.fc.weight layers.1.fc.bias mask0 #3:4", "act #3 #4:4",
                                       "linear #4 layers.2.fc.weight layers.2.fc.bias mask0 #5:3", NULL});
    assert_tensors(net,
                   (const char *const[]){"layers.0.fc.weight 5x7", "layers.0.fc.bias 5", "layers.1.fc.weight 4x5",
                                         "layers.1.fc.bias 4", "layers.2.fc.weight 3x4", "layers.2.fc.bias 3", NULL});
    assert_int_equal(net->graph.nodes[1].problem.activation, BRAID_ACTIVATION_RELU);
    assert_true(given_plane(net, "layers.2.fc.bias")->init.kind == INIT_UNIFORM);
    assert_true(given_plane(net, "layers.2.fc.bias")->init.value == 0.5);
    assert_int_equal(given_plane(net, "features")->is_image, 0);
    assert_int_equal(net->options.classes, 3);
    braid_net_destroy(net);
}

/* "mlp-784-256x2-10" has the layers that its name says. */
static void configurations_are_what_they_are_called(void **state) {
    (void)state;
    static const char *const names[] = {
        "mlp-784-256x2-10",    "mlp-512-512x3-128",    "mlp-784-512x3-128",    "mlp-1024-512x4-256",
        "mlp-784-2048x4-1000", "mlp-2048-2048x4-1000", "mlp-1024-4096x6-1000", NULL};
    int listed = 0;
    for (int j = 0; braid_net_name(j); j++) listed += strncmp(braid_net_name(j), "mlp-", 4) == 0;
    assert_int_equal(listed, 7);
    for (int j = 0; names[j]; j++) {
        long long in, hidden, times, out;
        int64_t channels = 0;
        assert_int_equal(sscanf(names[j], "mlp-%lld-%lldx%lld-%lld", &in, &hidden, &times, &out), 4);
        braid_net *net = given_net(names[j], NULL);
        assert_int_equal(braid_net_parameter_count(net),
                         (in + 1) * hidden + (times - 1) * (hidden + 1) * hidden + (hidden + 1) * out);
        assert_int_equal(braid_net_tensor_count(net), 2 * (times + 1));
        assert_non_null(braid_net_stream(net, 0, &channels));
        assert_int_equal(channels, in);
        assert_int_equal(braid_net_output_channels(net), out);
        braid_net_destroy(net);
    }
}

/* The two configurations that are timed twice say so. */
static void summaries_have_the_batches(void **state) {
    (void)state;
    static const char *const batches[][2] = {{"mlp-784-256x2-10", "batches of 64 and 256"},
                                             {"mlp-784-2048x4-1000", "batches of 512 and 1024"},
                                             {"mlp-512-512x3-128", "batches of 128"}};
    for (size_t k = 0; k < 3; k++) {
        int j = 0;
        while (braid_net_name(j) && strcmp(braid_net_name(j), batches[k][0]) != 0) j++;
        assert_non_null(braid_net_summary(j));
        assert_non_null(strstr(braid_net_summary(j), batches[k][1]));
    }
}

static void options_are_refused(void **state) {
    (void)state;
    braid_net *net = NULL;
    assert_refused(braid_net_create("mlp", NULL, &net), BRAID_ERROR_ARGUMENT, "mlp|layers|2 to 16 widths|got none");
    assert_refused(braid_net_create("mlp", &(braid_net_options){.layers = {5}}, &net), BRAID_ERROR_ARGUMENT,
                   "mlp|layers|2 to 16 widths");
    assert_refused(braid_net_create("mlp", &(braid_net_options){.layers = {5, -1, 3}}, &net), BRAID_ERROR_ARGUMENT,
                   "mlp|layers|got -1");
    assert_refused(braid_net_create("mlp", &(braid_net_options){.layers = {5, 0, 3}}, &net), BRAID_ERROR_ARGUMENT,
                   "mlp|layers");
    assert_refused(braid_net_create("mlp", &(braid_net_options){.layers = {5, 3}, .classes = 4}, &net),
                   BRAID_ERROR_ARGUMENT, "mlp|classes|expected 3|got 4");
    assert_refused(braid_net_create("mlp-784-256x2-10", &(braid_net_options){.layers = {5, 3}}, &net),
                   BRAID_ERROR_ARGUMENT, "mlp-784-256x2-10|layers");
    assert_refused(braid_net_create("mlp", &(braid_net_options){.layers = {5, 3}, .dropout = 0.5}, &net),
                   BRAID_ERROR_ARGUMENT, "mlp|dropout");
    net = given_net("mlp", &(braid_net_options){.layers = {5, 3}, .classes = 3});
    braid_net_destroy(net);
}

static void sixteen_widths_are_the_most(void **state) {
    (void)state;
    braid_net_options options = {0};
    for (int j = 0; j < 16; j++) options.layers[j] = j + 2;
    braid_net *net = given_net("mlp", &options);
    assert_int_equal(braid_net_tensor_count(net), 30);
    assert_int_equal(net->options.classes, 17);
    braid_net_destroy(net);
}

static braid_status make(void) {
    braid_net *net = NULL;
    braid_net_options options = {0};
    for (int j = 0; j < 16; j++) options.layers[j] = 3;
    braid_status status = braid_net_create("mlp", &options, &net);
    braid_net_destroy(net);
    return status;
}

static void survives_without_memory(void **state) {
    (void)state;
    assert_survives_allocations(make, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relu_lies_between_layers),    cmocka_unit_test(configurations_are_what_they_are_called),
        cmocka_unit_test(summaries_have_the_batches),  cmocka_unit_test(options_are_refused),
        cmocka_unit_test(sixteen_widths_are_the_most), cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
