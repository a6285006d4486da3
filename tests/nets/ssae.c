/*
 * Tests of ssae in its five sizes: state, graph, beginnings, options.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "tests/support/given.h"
#include "tests/support/given_net.h"
#include "tests/support/net_facts.h"

static void state_is_that_of_the_files(void **state) {
    (void)state;
    braid_net *net = given_net("ssae", NULL);
    assert_tensors(net, (const char *const[]){"slice_encoder.0.weight 64", "slice_encoder.0.bias 64",
                                              "slice_encoder.1.weight 64x64", "slice_encoder.1.bias 64",
                                              "global_basis 32x320", "bottleneck_mlp.0.weight 32",
                                              "bottleneck_mlp.0.bias 32", "bottleneck_mlp.1.weight 32x32",
                                              "bottleneck_mlp.1.bias 32", "global_decoder.weight 320x32",
                                              "slice_decoder.0.weight 64x64", "slice_decoder.0.bias 64", NULL});
    assert_int_equal(braid_net_parameter_count(net), 30048);
    braid_net_destroy(net);
}

/* Both uses of the basis are of its rows by their lengths; global_decoder is used nowhere. */
static void basis_is_tied(void **state) {
    (void)state;
    braid_net *net = given_net("ssae", NULL);
    assert_nodes(net,
                 (const char *const[]){
                     "view features #1:64", "layernorm #1 slice_encoder.0.weight slice_encoder.0.bias #2:64",
                     "linear #2 slice_encoder.1.weight slice_encoder.1.bias mask0 #3:64", "act #3 #4:64",
                     "rownorm global_basis #5:320", "view #4 #6:320", "matmul #6 #5 #7:32",
                     "layernorm #7 bottleneck_mlp.0.weight bottleneck_mlp.0.bias #8:32",
                     "linear #8 bottleneck_mlp.1.weight bottleneck_mlp.1.bias mask0 #9:32", "act #9 #10:32",
                     "matmul #10 #5 #11:320", "view #11 #12:64",
                     "linear #12 slice_decoder.0.weight slice_decoder.0.bias mask0 #13:64", "view #13 #14:320", NULL});
    const graph *g = &net->graph;
    int matmuls = 0;
    for (int j = 0; j < g->node_count; j++) {
        const braid_problem *p = &g->nodes[j].problem;
        if (g->nodes[j].is_view) continue;
        if (p->op == BRAID_OP_MATMUL) assert_int_equal(p->transpose, matmuls++ == 0);
        if (p->op == BRAID_OP_ACT) assert_int_equal(p->activation, BRAID_ACTIVATION_GELU);
        if (p->op == BRAID_OP_LAYERNORM) assert_true(p->eps == 1e-5);
    }
    assert_int_equal(matmuls, 2);
    assert_int_equal(g->target_is_input, 1);
    assert_int_equal(given_plane(net, "features")->is_image, 0);
    braid_net_destroy(net);
}

static void tensors_begin_as_published(void **state) {
    (void)state;
    braid_net *net = given_net("ssae-medium", NULL);
    assert_begins(net, "slice_encoder.1.weight", INIT_UNIFORM, 1 / sqrt(128));
    assert_begins(net, "slice_encoder.1.bias", INIT_UNIFORM, 1 / sqrt(128));
    assert_begins(net, "global_basis", INIT_UNIFORM, sqrt(6.0 / (128 + 2560)));
    assert_begins(net, "global_decoder.weight", INIT_UNIFORM, 1 / sqrt(128));
    assert_begins(net, "slice_decoder.0.bias", INIT_UNIFORM, 1 / 16.0);
    assert_begins(net, "slice_encoder.0.weight", INIT_CONSTANT, 1);
    assert_begins(net, "slice_encoder.0.bias", INIT_CONSTANT, 0);
    braid_net_destroy(net);
}

/* By the shapes of the published configurations. */
static void five_sizes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t features, mels, frames, latent, slice;
    } sizes[] = {
        {"ssae", 320, 64, 5, 32, 64},
        {"ssae-medium", 1280, 128, 10, 128, 256},
        {"ssae-large", 2560, 256, 10, 256, 512},
        {"ssae-xlarge", 5120, 512, 10, 512, 1024},
        {"ssae-xxlarge", 10240, 1024, 10, 1024, 2048},
    };
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
        const int64_t m = sizes[j].mels, l = sizes[j].latent, s = sizes[j].slice, c = sizes[j].frames * s;
        braid_net *net = given_net(sizes[j].name, NULL);
        int64_t channels = 0;
        assert_string_equal(braid_net_stream(net, 0, &channels), "features");
        assert_int_equal(channels, sizes[j].features);
        assert_int_equal(graph_channels(&net->graph, net->graph.output, 0), sizes[j].features);
        assert_int_equal(braid_net_parameter_count(net), 2 * m + s * m + s + 2 * l * c + 3 * l + l * l + m * s + m);
        braid_net_destroy(net);
    }
}

static void options_are_refused(void **state) {
    (void)state;
    braid_net *net = NULL;
    assert_refused(braid_net_create("ssae", &(braid_net_options){.classes = 10}, &net), BRAID_ERROR_ARGUMENT,
                   "ssae|classes");
    assert_refused(braid_net_create("ssae-large", &(braid_net_options){.streams = 2}, &net), BRAID_ERROR_ARGUMENT,
                   "ssae-large|streams");
    assert_refused(braid_net_create("ssae-huge", NULL, &net), BRAID_ERROR_ARGUMENT, "name of a network|ssae-huge");
}

static braid_status make(void) {
    braid_net *net = NULL;
    braid_status status = braid_net_create("ssae", NULL, &net);
    braid_net_destroy(net);
    return status;
}

static void survives_without_memory(void **state) {
    (void)state;
    assert_survives_allocations(make, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_is_that_of_the_files), cmocka_unit_test(basis_is_tied),
        cmocka_unit_test(tensors_begin_as_published), cmocka_unit_test(five_sizes),
        cmocka_unit_test(options_are_refused),        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
