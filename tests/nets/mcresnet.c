/*
 * Tests of MCResNet: its sizes against the published ones, the names and shapes of its state, its three ways to join
 * the streams, and that they do not meet before.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/given_net.h"
#include "tests/support/net_facts.h"

static void c17_sizes_are_those_of_the_table(void **state) {
    static const struct {
        const char *kind;
        braid_net_options options;
        int64_t parameters;
        int convolutions, tensors;
    } rows[] = {
        {"mcresnet18", {0}, 22362127, 20, 222},
        {"mcresnet18", {.classes = 1000, .dropout = 0.5}, 23371752, 20, 222},
        {"mcresnet34", {0}, 42578447, 36, 398},
        {"mcresnet34", {.classes = 1000}, 43588072, 36, 398},
        {"mcresnet50", {0}, 47071247, 53, 585},
        {"mcresnet50", {.classes = 1000}, 51106792, 53, 585},
        {"mcresnet18", {.fusion = BRAID_FUSION_WEIGHTED}, 22362127 + 2, 20, 223},
        {"mcresnet18", {.fusion = BRAID_FUSION_GATED}, 22362127 + 512 * 1024 + 512 + 2 * 512 + 2, 20, 226},
    };
    (void)state;
    for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
        braid_net *net = given_net(rows[j].kind, &rows[j].options);
        assert_int_equal(braid_net_parameter_count(net), rows[j].parameters);
        assert_int_equal(braid_net_tensor_count(net), rows[j].tensors);
        assert_int_equal(count_ops(net, BRAID_OP_CONV2D), rows[j].convolutions);
        assert_int_equal(count_ops(net, BRAID_OP_BN_STATS), rows[j].convolutions);
        assert_int_equal(count_ops(net, BRAID_OP_BN_FINALIZE), rows[j].convolutions);
        assert_int_equal(count_ops(net, BRAID_OP_INTEGRATE), 0);
        assert_int_equal(count_ops(net, BRAID_OP_DROPOUT), rows[j].options.dropout > 0);
        braid_net_destroy(net);
    }
}

static const struct {
    const char *kind;
    int blocks[4], convs;
} depths[] = {
    {"mcresnet18", {2, 2, 2, 2}, 2},   {"mcresnet34", {3, 4, 6, 3}, 2},   {"mcresnet50", {3, 4, 6, 3}, 3},
    {"mcresnet101", {3, 4, 23, 3}, 3}, {"mcresnet152", {3, 8, 36, 3}, 3},
};

/* One layer of convolution and normalisation; returns how many names it has. */
static int expect_layer(const braid_net *net, const char *conv, const char *norm) {
    static const char *const of_norm[] = {"stream1_weight",      "stream1_bias",         "stream1_running_mean",
                                          "stream1_running_var", "num_batches_tracked",  "stream2_weight",
                                          "stream2_bias",        "stream2_running_mean", "stream2_running_var"};
    char name[128];
    for (int k = 0; k < 9; k++) {
        snprintf(name, sizeof name, "%s.%s", norm, of_norm[k]);
        given_plane(net, name);
    }
    for (int stream = 1; stream <= 2; stream++) {
        snprintf(name, sizeof name, "%s.stream%d_weight", conv, stream);
        given_plane(net, name);
    }
    return 11;
}

static void every_name_is_there(void **state) {
    (void)state;
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
        braid_net *net = given_net(depths[d].kind, NULL);
        int count = 2 + expect_layer(net, "conv1", "bn1"); /* fc.weight, fc.bias */
        char conv[64], norm[64];
        for (int layer = 1; layer <= 4; layer++) {
            for (int b = 0; b < depths[d].blocks[layer - 1]; b++) {
                for (int k = 1; k <= depths[d].convs; k++) {
                    snprintf(conv, sizeof conv, "layer%d.%d.conv%d", layer, b, k);
                    snprintf(norm, sizeof norm, "layer%d.%d.bn%d", layer, b, k);
                    count += expect_layer(net, conv, norm);
                }
            }
            if (layer == 1 && depths[d].convs == 2) continue;
            snprintf(conv, sizeof conv, "layer%d.0.downsample.0", layer);
            snprintf(norm, sizeof norm, "layer%d.0.downsample.1", layer);
            count += expect_layer(net, conv, norm);
        }
        given_plane(net, "fc.weight");
        given_plane(net, "fc.bias");
        assert_int_equal(braid_net_tensor_count(net), count);
        braid_net_destroy(net);
    }
}

static void shapes_are_those_of_the_files(void **state) {
    (void)state;
    braid_net *net = given_net("mcresnet18", &(braid_net_options){.fusion = BRAID_FUSION_GATED, .channels = {3, 2}});
    assert_tensor(net, "conv1.stream1_weight", "64x3x7x7");
    assert_tensor(net, "conv1.stream2_weight", "64x2x7x7");
    assert_tensor(net, "bn1.stream2_running_var", "64");
    assert_tensor(net, "bn1.num_batches_tracked", "");
    assert_tensor(net, "layer4.0.downsample.0.stream1_weight", "512x256x1x1");
    assert_tensor(net, "layer4.1.bn2.stream2_bias", "512");
    assert_tensor(net, "fusion.gate_network.0.weight", "512x1024");
    assert_tensor(net, "fusion.gate_network.0.bias", "512");
    assert_tensor(net, "fusion.gate_network.2.weight", "2x512");
    assert_tensor(net, "fusion.gate_network.2.bias", "2");
    assert_tensor(net, "fc.weight", "15x1024");
    assert_tensor(net, "fc.bias", "15");
    braid_net_destroy(net);
    net = given_net("mcresnet50", &(braid_net_options){.fusion = BRAID_FUSION_WEIGHTED, .width = 0.25, .classes = 4});
    assert_tensor(net, "layer2.0.conv3.stream2_weight", "128x32x1x1");
    assert_tensor(net, "fusion.logits", "2");
    assert_tensor(net, "fc.weight", "4x1024");
    braid_net_destroy(net);
}

static void streams_have_names(void **state) {
    (void)state;
    braid_net *net = given_net("mcresnet34", &(braid_net_options){.channels = {4, 2}});
    int64_t channels = 0;
    assert_int_equal(braid_net_stream_count(net), 2);
    assert_string_equal(braid_net_stream(net, 0, &channels), "rgb");
    assert_int_equal(channels, 4);
    assert_string_equal(braid_net_stream(net, 1, &channels), "depth");
    assert_int_equal(channels, 2);
    braid_net_destroy(net);
}

/* By its name alone: what has stream1 or stream2 in it belongs to that stream. */
static void c14_every_parameter_has_one_group(void **state) {
    (void)state;
    braid_net *net = given_net("mcresnet18", &(braid_net_options){.fusion = BRAID_FUSION_GATED});
    int group[3] = {0};
    for (int j = 0; j < net->graph.plane_count; j++) {
        const graph_plane *plane = &net->graph.planes[j];
        if (plane->kind != PLANE_PARAMETER) continue;
        int stream = strstr(plane->name, "stream1") ? 0 : strstr(plane->name, "stream2") ? 1 : -1;
        assert_int_equal(plane->stream, stream);
        assert_int_equal(plane->role, stream >= 0 ? PARAMETER_STREAM : PARAMETER_OTHER);
        group[stream >= 0 ? stream : 2]++;
    }
    assert_int_equal(group[0], 60);
    assert_int_equal(group[1], 60);
    assert_int_equal(group[2], 6);
    braid_net_destroy(net);
}

static void parameters_begin_as_published(void **state) {
    (void)state;
    braid_net *net = given_net("mcresnet18", &(braid_net_options){.zero_init_residual = 1});
    assert_begins(net, "conv1.stream1_weight", INIT_NORMAL, sqrt(2 / (64.0 * 49)));
    assert_begins(net, "layer2.0.downsample.0.stream2_weight", INIT_NORMAL, sqrt(2 / 128.0));
    assert_begins(net, "layer1.0.bn1.stream1_weight", INIT_CONSTANT, 1);
    assert_begins(net, "layer1.0.bn2.stream1_weight", INIT_CONSTANT, 0);
    assert_begins(net, "layer4.1.bn2.stream2_weight", INIT_CONSTANT, 0);
    assert_begins(net, "layer2.0.downsample.1.stream2_weight", INIT_CONSTANT, 1);
    assert_begins(net, "bn1.stream2_bias", INIT_CONSTANT, 0);
    assert_begins(net, "bn1.stream2_running_var", INIT_CONSTANT, 1);
    assert_begins(net, "fc.weight", INIT_UNIFORM, 1 / 32.0);
    braid_net_destroy(net);
    net = given_net("mcresnet18", &(braid_net_options){.fusion = BRAID_FUSION_WEIGHTED});
    assert_begins(net, "layer1.0.bn2.stream1_weight", INIT_CONSTANT, 1);
    assert_begins(net, "fusion.logits", INIT_CONSTANT, 0);
    braid_net_destroy(net);
}

/* One counter, which each stream's normalisation counts up. */
static void counter_counts_both_streams(void **state) {
    (void)state;
    braid_net *net = given_net("mcresnet18", NULL);
    int counter = (int)(given_plane(net, "layer1.0.bn1.num_batches_tracked") - net->graph.planes), seen = 0;
    for (int j = 0; j < net->graph.node_count; j++) {
        const graph_node *n = &net->graph.nodes[j];
        if (n->problem.op != BRAID_OP_BN_FINALIZE || n->plane[BN_FINALIZE_BATCHES][0] != counter) continue;
        assert_int_equal(n->problem.streams, 2);
        assert_int_equal(n->problem.each, 1);
        for (int i = 0; i < 2; i++) assert_int_equal(net->graph.planes[n->plane[BN_FINALIZE_GAMMA][i]].stream, i);
        seen++;
    }
    assert_int_equal(seen, 1);
    braid_net_destroy(net);
}

/* Until they are joined, a plane of a stream is made of planes of that stream only. */
static void streams_do_not_meet_before(void **state) {
    (void)state;
    braid_net *net = given_net("mcresnet50", NULL);
    const graph *g = &net->graph;
    int checked = 0;
    for (int j = 0; j < g->node_count && g->nodes[j].problem.op != BRAID_OP_FUSE; j++) {
        const graph_node *n = &g->nodes[j];
        for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
            for (int i = 0; i < n->problem.streams; i++) {
                if (n->plane[slot][i] < 0 || g->planes[n->plane[slot][i]].is_counter) continue;
                int first = g->planes[n->plane[0][i]].stream;
                assert_true(first >= 0);
                assert_int_equal(g->planes[n->plane[slot][i]].stream, first);
                checked++;
            }
        }
    }
    assert_true(checked > 1000);
    braid_net_destroy(net);
}

static void features_are_joined(void **state) {
    (void)state;
    for (int fusion = 0; fusion < BRAID_FUSION_COUNT; fusion++) {
        braid_net *net =
            given_net("mcresnet18", &(braid_net_options){.fusion = (braid_fusion)fusion, .dropout = 0.125});
        const graph_node *pool = last_node(net, BRAID_OP_AVGPOOL), *fuse = last_node(net, BRAID_OP_FUSE),
                         *dropout = last_node(net, BRAID_OP_DROPOUT), *fc = reader(net, "fc.weight");
        assert_int_equal(fuse->problem.fusion, fusion);
        for (int i = 0; i < 2; i++) assert_int_equal(fuse->plane[FUSE_X][i], pool->plane[AVGPOOL_Y][i]);
        assert_int_equal(dropout->plane[DROPOUT_X][0], fuse->plane[FUSE_Y][0]);
        assert_true(dropout->problem.rate == 0.125);
        assert_int_equal(fc->plane[LINEAR_X][0], dropout->plane[DROPOUT_Y][0]);
        assert_int_equal(net->graph.output.plane[0], fc->plane[LINEAR_Y][0]);
        assert_int_equal(fuse->plane[FUSE_LOGITS][0] >= 0, fusion != BRAID_FUSION_CONCAT);
        if (fusion == BRAID_FUSION_WEIGHTED)
            assert_int_equal(fuse->plane[FUSE_LOGITS][0], given_plane(net, "fusion.logits") - net->graph.planes);
        if (fusion == BRAID_FUSION_GATED)
            assert_int_equal(fuse->plane[FUSE_LOGITS][0], last_node(net, BRAID_OP_CAST)->plane[CAST_Y][0]);
        braid_net_destroy(net);
    }
}

static void options_are_refused_by_name(void **state) {
    static const struct {
        braid_net_options options;
        const char *words;
    } rows[] = {
        {{.streams = 2}, "mcresnet101|no option streams"},
        {{.init = "head"}, "mcresnet101|no option init"},
        {{.dilate = {0, 0, 1}}, "mcresnet101|no option dilate"},
        {{.layers = {1}}, "mcresnet101|no option layers"},
        {{.channels = {3, 1, 1}}, "mcresnet101|channels|expected 2|stream 2"},
        {{.channels = {0, -1}}, "mcresnet101|channels|got -1"},
        {{.fusion = BRAID_FUSION_COUNT}, "mcresnet101|fusion|concat, weighted or gated|number 3"},
        {{.width = 17}, "mcresnet101|width|got 17"},
        {{.dropout = 2}, "mcresnet101|dropout|got 2"},
        {{.zero_init_residual = -1}, "mcresnet101|zero_init_residual|got -1"},
        {{.classes = -5}, "mcresnet101|classes|got -5"},
    };
    (void)state;
    for (size_t j = 0; j < sizeof rows / sizeof *rows; j++)
        assert_option_refused("mcresnet101", &rows[j].options, rows[j].words);
}

static braid_status make(void) {
    braid_net *net = NULL;
    braid_status status =
        braid_net_create("mcresnet50", &(braid_net_options){.fusion = BRAID_FUSION_GATED, .dropout = 0.5}, &net);
    braid_net_destroy(net);
    return status;
}

static void no_memory_is_an_answer(void **state) {
    (void)state;
    assert_survives_allocations(make, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c17_sizes_are_those_of_the_table),
        cmocka_unit_test(every_name_is_there),
        cmocka_unit_test(shapes_are_those_of_the_files),
        cmocka_unit_test(streams_have_names),
        cmocka_unit_test(c14_every_parameter_has_one_group),
        cmocka_unit_test(parameters_begin_as_published),
        cmocka_unit_test(counter_counts_both_streams),
        cmocka_unit_test(streams_do_not_meet_before),
        cmocka_unit_test(features_are_joined),
        cmocka_unit_test(options_are_refused_by_name),
        cmocka_unit_test(no_memory_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
