/*
 * Tests of LINet: its sizes against the published table, the names and shapes of its state, what each parameter is,
 * how it begins, and how its convolutions are wired.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/given_net.h"
#include "tests/support/net_facts.h"

/* ---- Sizes and names ----------------------------------------------------------------------- */

static int64_t integration_parameters(const braid_net *net) {
    int64_t total = 0;
    for (int j = 0; j < net->graph.plane_count; j++) {
        const graph_plane *plane = &net->graph.planes[j];
        if (plane->kind == PLANE_PARAMETER && plane->role == PARAMETER_INTEGRATION)
            total += plane->dims[0] * plane->dims[1];
    }
    return total;
}

static void c17_sizes_are_those_of_the_table(void **state) {
    static const struct {
        const char *kind;
        braid_net_options options;
        int64_t parameters, integration;
        int convolutions, tensors, adds;
    } rows[] = {
        {"linet18", {.streams = 2}, 27238287, 4874240, 20, 362, 8},
        {"linet18", {.streams = 3, .dropout = 0.5}, 40149327, 6615040, 20, 482, 8},
        {"linet34", {0}, 74970447, 11104256, 36, 866, 16},
        {"linet50", {.dilate = {0, 1, 1}}, 168608591, 98013184, 53, 1274, 16},
        {"linet18", {.width = 0.5}, 10052783, 1653760, 20, 482, 8},
    };
    (void)state;
    for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
        braid_net *net = given_net(rows[j].kind, &rows[j].options);
        assert_int_equal(braid_net_parameter_count(net), rows[j].parameters);
        assert_int_equal(integration_parameters(net), rows[j].integration);
        assert_int_equal(braid_net_tensor_count(net), rows[j].tensors);
        assert_int_equal(count_ops(net, BRAID_OP_CONV2D), rows[j].convolutions);
        assert_int_equal(count_ops(net, BRAID_OP_INTEGRATE), rows[j].convolutions);
        assert_int_equal(count_ops(net, BRAID_OP_BN_FINALIZE), rows[j].convolutions);
        assert_int_equal(count_ops(net, BRAID_OP_ADD), rows[j].adds);
        assert_int_equal(count_ops(net, BRAID_OP_ACT), rows[j].convolutions - 3 - (rows[j].convolutions == 53));
        assert_int_equal(count_ops(net, BRAID_OP_DROPOUT), rows[j].options.dropout > 0);
        braid_net_destroy(net);
    }
}

/* Of the depths: blocks of each layer, convolutions of a block. */
static const struct {
    const char *kind;
    int blocks[4], convs;
} depths[] = {
    {"linet18", {2, 2, 2, 2}, 2},   {"linet34", {3, 4, 6, 3}, 2},   {"linet50", {3, 4, 6, 3}, 3},
    {"linet101", {3, 4, 23, 3}, 3}, {"linet152", {3, 8, 36, 3}, 3},
};

/* One layer of convolution and normalisation; returns how many names it has. */
static int expect_layer(const braid_net *net, const char *conv, const char *norm, int n) {
    char name[128];
    for (int i = 0; i < n; i++) {
        static const char *const formats[] = {".stream_weights.", ".integration_from_streams.", ".stream_biases."};
        for (int k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "%s%s%d", k < 2 ? conv : norm, formats[k], i);
            given_plane(net, name);
        }
        snprintf(name, sizeof name, "%s.stream_weights.%d", norm, i);
        given_plane(net, name);
        snprintf(name, sizeof name, "%s.stream%d_running_mean", norm, i);
        given_plane(net, name);
        snprintf(name, sizeof name, "%s.stream%d_running_var", norm, i);
        given_plane(net, name);
    }
    static const char *const rest[] = {"integrated_weight", "integrated_bias", "integrated_running_mean",
                                       "integrated_running_var", "num_batches_tracked"};
    for (int k = 0; k < 5; k++) {
        snprintf(name, sizeof name, "%s.%s", norm, rest[k]);
        given_plane(net, name);
    }
    snprintf(name, sizeof name, "%s.integrated_weight", conv);
    given_plane(net, name);
    return 6 * n + 6;
}

static int expect_block(const braid_net *net, const char *block, int convs, int n) {
    char conv[64], norm[64];
    int count = 0;
    for (int k = 1; k <= convs; k++) {
        snprintf(conv, sizeof conv, "%s.conv%d", block, k);
        snprintf(norm, sizeof norm, "%s.bn%d", block, k);
        count += expect_layer(net, conv, norm, n);
    }
    return count;
}

static void every_name_is_there(void **state) {
    (void)state;
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
        int n = d < 3 ? (int)d + 1 : 8;
        braid_net *net = given_net(depths[d].kind, &(braid_net_options){.streams = n});
        int count = 2 + expect_layer(net, "conv1", "bn1", n); /* fc.weight, fc.bias */
        given_plane(net, "fc.weight");
        given_plane(net, "fc.bias");
        for (int layer = 1; layer <= 4; layer++) {
            char block[48];
            for (int b = 0; b < depths[d].blocks[layer - 1]; b++) {
                snprintf(block, sizeof block, "layer%d.%d", layer, b);
                count += expect_block(net, block, depths[d].convs, n);
            }
            char conv[48], norm[48];
            if (layer == 1 && depths[d].convs == 2) continue;
            snprintf(conv, sizeof conv, "layer%d.0.downsample.0", layer);
            snprintf(norm, sizeof norm, "layer%d.0.downsample.1", layer);
            count += expect_layer(net, conv, norm, n);
        }
        assert_int_equal(braid_net_tensor_count(net), count);
        braid_net_destroy(net);
    }
}

static void shapes_are_those_of_the_files(void **state) {
    (void)state;
    braid_net *net = given_net("linet18", NULL);
    assert_tensor(net, "conv1.stream_weights.0", "64x3x7x7");
    assert_tensor(net, "conv1.stream_weights.2", "64x1x7x7");
    assert_tensor(net, "conv1.integrated_weight", "64x0x1x1");
    assert_tensor(net, "conv1.integration_from_streams.1", "64x64x1x1");
    assert_tensor(net, "bn1.integrated_running_var", "64");
    assert_tensor(net, "bn1.num_batches_tracked", "");
    assert_tensor(net, "layer3.0.conv1.stream_weights.1", "256x128x3x3");
    assert_tensor(net, "layer3.0.conv1.integrated_weight", "256x128x1x1");
    assert_tensor(net, "layer3.0.conv1.integration_from_streams.1", "256x256x1x1");
    assert_tensor(net, "layer4.0.downsample.0.stream_weights.2", "512x256x1x1");
    assert_tensor(net, "layer4.1.bn2.stream_biases.2", "512");
    assert_tensor(net, "fc.weight", "15x512");
    assert_tensor(net, "fc.bias", "15");
    braid_net_destroy(net);
    net = given_net("linet50", &(braid_net_options){.width = 0.3, .classes = 7, .channels = {2, 5}, .streams = 2});
    assert_tensor(net, "conv1.stream_weights.1", "19x5x7x7");
    assert_tensor(net, "layer1.0.conv1.stream_weights.1", "19x19x1x1");
    assert_tensor(net, "layer1.0.conv3.stream_weights.1", "76x19x1x1");
    assert_tensor(net, "layer1.0.downsample.0.integrated_weight", "76x19x1x1");
    assert_tensor(net, "layer2.0.conv2.stream_weights.0", "38x38x3x3");
    assert_tensor(net, "fc.weight", "7x612");
    braid_net_destroy(net);
}

static void streams_have_names(void **state) {
    static const char *const names[] = {"rgb", "depth", "orth", "stream3", "stream4", "stream5", "stream6", "stream7"};
    (void)state;
    for (int n = 1; n <= 8; n++) {
        braid_net *net = given_net("linet18", &(braid_net_options){.streams = n});
        int64_t channels = 0;
        assert_int_equal(braid_net_stream_count(net), n);
        for (int i = 0; i < n; i++) {
            assert_string_equal(braid_net_stream(net, i, &channels), names[i]);
            assert_int_equal(channels, i ? 1 : 3);
        }
        assert_null(braid_net_stream(net, n, &channels));
        assert_null(braid_net_stream(net, -1, NULL));
        braid_net_destroy(net);
    }
}

/* ---- Parameters ---------------------------------------------------------------------------- */

/* By its name alone: stream_weights.i and stream_biases.i belong to stream i, integration matrices have two axes or
 * more, and the rest is something else. */
static void assert_role(const graph_plane *plane) {
    const char *digit = strrchr(plane->name, '.') + 1;
    int is_stream = strstr(plane->name, ".stream_weights.") || strstr(plane->name, ".stream_biases.");
    int is_integration = strstr(plane->name, ".integration_from_streams.") ||
                         (strstr(plane->name, ".integrated_weight") && plane->rank == 4);
    parameter_role expected = is_stream ? PARAMETER_STREAM : is_integration ? PARAMETER_INTEGRATION : PARAMETER_OTHER;
    if (plane->role != expected) fail_msg("%s: expected role %d, got %d", plane->name, expected, plane->role);
    if (plane->stream != (is_stream ? *digit - '0' : -1)) fail_msg("%s: stream %d", plane->name, plane->stream);
}

static void c14_every_parameter_has_one_group(void **state) {
    (void)state;
    braid_net *net = given_net("linet50", &(braid_net_options){.streams = 4});
    int group[4] = {0}, integration = 0, other = 0;
    for (int j = 0; j < net->graph.plane_count; j++) {
        const graph_plane *plane = &net->graph.planes[j];
        if (plane->kind != PLANE_PARAMETER) continue;
        assert_role(plane);
        if (plane->role == PARAMETER_STREAM) group[plane->stream]++;
        integration += plane->role == PARAMETER_INTEGRATION;
        other += plane->role == PARAMETER_OTHER;
    }
    for (int i = 0; i < 4; i++) assert_int_equal(group[i], 53 * 3);
    assert_int_equal(integration, 53 * 5);
    assert_int_equal(other, 53 * 2 + 2);
    braid_net_destroy(net);
}

static void both_ways_to_begin(void **state) {
    (void)state;
    for (int seed = 0; seed < 2; seed++) {
        braid_net *net = given_net("linet18", &(braid_net_options){.init = seed ? "seed" : "head"});
        assert_begins(net, "conv1.stream_weights.0", INIT_UNIFORM, 1 / sqrt(147.0));
        assert_begins(net, "layer1.0.conv1.stream_weights.1", INIT_UNIFORM, 1 / 24.0);
        assert_begins(net, "conv1.integrated_weight", INIT_UNIFORM, 0);
        assert_begins(net, "bn1.stream_weights.0", INIT_CONSTANT, 1);
        assert_begins(net, "bn1.integrated_bias", INIT_CONSTANT, 0);
        assert_begins(net, "bn1.integrated_running_mean", INIT_CONSTANT, 0);
        assert_begins(net, "bn1.stream2_running_var", INIT_CONSTANT, 1);
        assert_begins(net, "fc.weight", INIT_UNIFORM, 1 / sqrt(512.0));
        assert_begins(net, "fc.bias", INIT_UNIFORM, 1 / sqrt(512.0));
        if (seed) {
            assert_begins(net, "conv1.integration_from_streams.0", INIT_UNIFORM, 1 / 8.0);
            assert_begins(net, "layer1.0.conv1.integrated_weight", INIT_UNIFORM, 1 / 8.0);
            assert_begins(net, "layer3.0.conv1.integrated_weight", INIT_UNIFORM, 1 / sqrt(128.0));
        } else {
            assert_begins(net, "conv1.integration_from_streams.0", INIT_CONSTANT, 1 / 3.0);
            assert_begins(net, "layer1.0.conv1.integrated_weight", INIT_ORTHOGONAL, 1);
            assert_begins(net, "layer3.0.conv1.integrated_weight", INIT_UNIFORM, 0.1 / sqrt(128.0));
        }
        braid_net_destroy(net);
    }
}

static void blocks_may_begin_as_shortcuts(void **state) {
    (void)state;
    for (int zero = 0; zero < 2; zero++) {
        for (int deep = 0; deep < 2; deep++) {
            braid_net *net =
                given_net(deep ? "linet50" : "linet18", &(braid_net_options){.zero_init_residual = zero, .streams = 2});
            int zeros = 0;
            for (int j = 0; j < net->graph.plane_count; j++) {
                const graph_plane *plane = &net->graph.planes[j];
                const char *last = deep ? ".bn3." : ".bn2.";
                int is_scale = plane->kind == PLANE_PARAMETER && plane->rank == 1 && strstr(plane->name, "weight");
                if (!is_scale || plane->init.value != 0) continue;
                assert_non_null(strstr(plane->name, last));
                zeros++;
            }
            assert_int_equal(zeros, zero ? (deep ? 16 : 8) * 3 : 0);
            braid_net_destroy(net);
        }
    }
}

/* ---- Wiring -------------------------------------------------------------------------------- */

static void stem_integrates_without_z(void **state) {
    (void)state;
    braid_net *net = given_net("linet18", NULL);
    const graph_node *conv = reader(net, "conv1.stream_weights.2"),
                     *mix = reader(net, "conv1.integration_from_streams.2"), *bn = reader(net, "bn1.stream_weights.1");
    assert_int_equal(conv->problem.streams, 3);
    assert_int_equal(conv->problem.stride[0], 2);
    assert_int_equal(conv->problem.padding[1], 3);
    for (int i = 0; i < 3; i++) assert_int_equal(mix->plane[INTEGRATE_R][i], conv->plane[CONV2D_Y][i]);
    assert_int_equal(mix->plane[INTEGRATE_Z][0], -1);
    assert_int_equal(mix->plane[INTEGRATE_W][0], -1);
    assert_int_equal(mix->problem.integrated_in, 0);
    assert_int_equal(bn->problem.op, BRAID_OP_BN_FINALIZE);
    assert_int_equal(bn->problem.streams, 4);
    const graph_node *stats = follower(net, BRAID_OP_BN_STATS, BN_STATS_X, conv->plane[CONV2D_Y][0]);
    assert_int_equal(stats->plane[BN_STATS_X][3], mix->plane[INTEGRATE_Y][0]);
    const graph_node *apply = follower(net, BRAID_OP_BN_APPLY, BN_APPLY_X, conv->plane[CONV2D_Y][0]);
    const graph_node *act = follower(net, BRAID_OP_ACT, ACT_X, apply->plane[BN_APPLY_Y][0]);
    const graph_node *pool = follower(net, BRAID_OP_MAXPOOL, MAXPOOL_X, act->plane[ACT_Y][0]);
    assert_int_equal(pool->problem.streams, 4);
    assert_int_equal(pool->problem.filter[0], 3);
    assert_int_equal(pool->problem.stride[1], 2);
    assert_int_equal(pool->problem.padding[0], 1);
    const graph_node *next = reader(net, "layer1.0.conv1.stream_weights.0"),
                     *next_mix = reader(net, "layer1.0.conv1.integrated_weight");
    for (int i = 0; i < 3; i++) assert_int_equal(next->plane[CONV2D_X][i], pool->plane[MAXPOOL_Y][i]);
    assert_int_equal(next_mix->plane[INTEGRATE_Z][0], pool->plane[MAXPOOL_Y][3]);
    braid_net_destroy(net);
}

/* The first block of layer2: the stride of convolution and mix, and a shortcut with its own mix. */
static void block_adds_its_shortcut(void **state) {
    (void)state;
    for (int deep = 0; deep < 2; deep++) {
        braid_net *net = given_net(deep ? "linet50" : "linet18", &(braid_net_options){.streams = 2});
        const graph_node *first = reader(net, "layer2.0.conv1.stream_weights.0"),
                         *first_mix = reader(net, "layer2.0.conv1.integrated_weight"),
                         *shortcut = reader(net, "layer2.0.downsample.0.stream_weights.1"),
                         *shortcut_mix = reader(net, "layer2.0.downsample.0.integration_from_streams.0");
        const graph_node *last =
            reader(net, deep ? "layer2.0.conv3.stream_weights.0" : "layer2.0.conv2.stream_weights.0");
        const graph_node *strided =
            reader(net, deep ? "layer2.0.conv2.integrated_weight" : "layer2.0.conv1.integrated_weight");
        assert_int_equal(shortcut->problem.stride[0], 2);
        assert_int_equal(shortcut_mix->problem.stride[1], 2);
        assert_int_equal(strided->problem.stride[0], 2);
        assert_int_equal(first->problem.stride[0], deep ? 1 : 2);
        assert_int_equal(last->problem.stride[0], 1);
        assert_int_equal(first->plane[CONV2D_X][1], shortcut->plane[CONV2D_X][1]);
        assert_int_equal(first_mix->plane[INTEGRATE_Z][0], shortcut_mix->plane[INTEGRATE_Z][0]);
        const graph_node *y = follower(net, BRAID_OP_BN_APPLY, BN_APPLY_X, last->plane[CONV2D_Y][0]);
        const graph_node *z = follower(net, BRAID_OP_BN_APPLY, BN_APPLY_X, shortcut->plane[CONV2D_Y][0]);
        const graph_node *add = follower(net, BRAID_OP_ADD, ADD_X, y->plane[BN_APPLY_Y][0]);
        assert_int_equal(add->problem.streams, 3);
        for (int i = 0; i < 3; i++) assert_int_equal(add->plane[ADD_Z][i], z->plane[BN_APPLY_Y][i]);
        const graph_node *act = follower(net, BRAID_OP_ACT, ACT_X, add->plane[ADD_Y][0]);
        const graph_node *next = reader(net, "layer2.1.conv1.stream_weights.0");
        assert_int_equal(next->plane[CONV2D_X][0], act->plane[ACT_Y][0]);
        /* the second block has the block's input as its shortcut */
        last = reader(net, deep ? "layer2.1.conv3.stream_weights.0" : "layer2.1.conv2.stream_weights.0");
        y = follower(net, BRAID_OP_BN_APPLY, BN_APPLY_X, last->plane[CONV2D_Y][0]);
        add = follower(net, BRAID_OP_ADD, ADD_X, y->plane[BN_APPLY_Y][0]);
        for (int i = 0; i < 3; i++) assert_int_equal(add->plane[ADD_Z][i], act->plane[ACT_Y][i]);
        braid_net_destroy(net);
    }
}

static void head_sees_the_integrated_plane(void **state) {
    (void)state;
    braid_net *net = given_net("linet18", &(braid_net_options){.dropout = 0.25});
    const graph_node *fc = reader(net, "fc.weight"), *pool = last_node(net, BRAID_OP_AVGPOOL),
                     *dropout = last_node(net, BRAID_OP_DROPOUT), *act = last_node(net, BRAID_OP_ACT);
    assert_int_equal(pool->problem.streams, 1);
    assert_int_equal(pool->plane[AVGPOOL_X][0], act->plane[ACT_Y][3]);
    assert_int_equal(dropout->plane[DROPOUT_X][0], pool->plane[AVGPOOL_Y][0]);
    assert_true(dropout->problem.rate == 0.25);
    assert_int_equal(fc->plane[LINEAR_X][0], dropout->plane[DROPOUT_Y][0]);
    assert_int_equal(net->graph.output.count, 1);
    assert_int_equal(net->graph.output.plane[0], fc->plane[LINEAR_Y][0]);
    braid_net_destroy(net);
}

static void dilation_takes_the_place_of_strides(void **state) {
    static const struct {
        int dilate[3];
        int64_t stride[4], first[4],
            rest[4]; /* of layer1 to layer4: stride, dilation of the first block, of the rest */
    } rows[] = {
        {{0, 0, 0}, {1, 2, 2, 2}, {1, 1, 1, 1}, {1, 1, 1, 1}}, {{0, 0, 1}, {1, 2, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 2}},
        {{0, 1, 1}, {1, 2, 1, 1}, {1, 1, 1, 2}, {1, 1, 2, 4}}, {{1, 0, 0}, {1, 1, 2, 2}, {1, 1, 2, 2}, {1, 2, 2, 2}},
        {{1, 1, 1}, {1, 1, 1, 1}, {1, 1, 2, 4}, {1, 2, 4, 8}},
    };
    (void)state;
    for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
        braid_net_options options = {.streams = 1};
        memcpy(options.dilate, rows[j].dilate, sizeof options.dilate);
        braid_net *net = given_net("linet50", &options);
        for (int layer = 0; layer < 4; layer++) {
            char name[64];
            for (int b = 0; b < 2; b++) {
                snprintf(name, sizeof name, "layer%d.%d.conv2.stream_weights.0", layer + 1, b);
                const braid_problem *p = &reader(net, name)->problem;
                assert_int_equal(p->stride[0], b ? 1 : rows[j].stride[layer]);
                assert_int_equal(p->dilation[0], b ? rows[j].rest[layer] : rows[j].first[layer]);
                assert_int_equal(p->padding[1], p->dilation[1]);
            }
            snprintf(name, sizeof name, "layer%d.0.downsample.0.stream_weights.0", layer + 1);
            assert_int_equal(reader(net, name)->problem.stride[0], rows[j].stride[layer]);
            assert_int_equal(reader(net, name)->problem.dilation[0], 1);
        }
        braid_net_destroy(net);
    }
}

/* ---- Options ------------------------------------------------------------------------------- */

static void options_are_refused_by_name(void **state) {
    static const struct {
        const char *kind;
        braid_net_options options;
        const char *words;
    } rows[] = {
        {"linet18", {.streams = 9}, "linet18|streams|1 to 8|got 9"},
        {"linet18", {.streams = -1}, "linet18|streams|1 to 8|got -1"},
        {"linet18", {.channels = {3, -1}}, "linet18|channels|got -1"},
        {"linet18", {.channels = {65537}}, "linet18|channels|1 to 65536|got 65537"},
        {"linet18", {.streams = 2, .channels = {3, 1, 1}}, "linet18|channels|expected 2|stream 2"},
        {"linet18", {.classes = -1}, "linet18|classes|got -1"},
        {"linet18", {.classes = 1048577}, "linet18|classes|got 1048577"},
        {"linet18", {.width = 0.01}, "linet18|width|got 0.01"},
        {"linet18", {.width = 16.5}, "linet18|width|to 16|got 16.5"},
        {"linet18", {.width = -1}, "linet18|width|got -1"},
        {"linet18", {.dropout = 1}, "linet18|dropout|below 1|got 1"},
        {"linet18", {.dropout = -0.5}, "linet18|dropout|got -0.5"},
        {"linet18", {.zero_init_residual = 2}, "linet18|zero_init_residual|got 2"},
        {"linet18", {.init = "other"}, "linet18|init|head or seed|other"},
        {"linet34", {.dilate = {0, 1, 0}}, "linet34|no option dilate"},
        {"linet50", {.dilate = {0, 1, 2}}, "linet50|dilate|0 or 1|got 2"},
        {"linet50", {.fusion = BRAID_FUSION_GATED}, "linet50|no option fusion"},
        {"linet50", {.layers = {3, 4}}, "linet50|no option layers"},
    };
    (void)state;
    for (size_t j = 0; j < sizeof rows / sizeof *rows; j++)
        assert_option_refused(rows[j].kind, &rows[j].options, rows[j].words);
    assert_option_refused("linet18", &(braid_net_options){.width = (double)NAN}, "linet18|width|nan");
    assert_option_refused("linet18", &(braid_net_options){.dropout = (double)NAN}, "linet18|dropout|nan");
}

static braid_status make(void) {
    braid_net *net = NULL;
    braid_status status = braid_net_create("linet50", &(braid_net_options){.streams = 8, .dropout = 0.5}, &net);
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
        cmocka_unit_test(both_ways_to_begin),
        cmocka_unit_test(blocks_may_begin_as_shortcuts),
        cmocka_unit_test(stem_integrates_without_z),
        cmocka_unit_test(block_adds_its_shortcut),
        cmocka_unit_test(head_sees_the_integrated_plane),
        cmocka_unit_test(dilation_takes_the_place_of_strides),
        cmocka_unit_test(options_are_refused_by_name),
        cmocka_unit_test(no_memory_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
