/*
 * Tests of the public builder: the names, shapes and places of what a layer adds, every mistake with its message, and
 * random sequences of calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "tests/support/given.h"
#include "tests/support/given_net.h"
#include "tests/support/net_facts.h"

#define LAYER(...) (&(braid_problem){__VA_ARGS__})

/* ---- What layers add ----------------------------------------------------------------------- */

/* Two streams through convolutions and normalisation, mixed twice, and a classifier on the mix. */
static void build_mixed(braid_net *net) {
    braid_value rgb = braid_net_input(net, "rgb", 3), depth = braid_net_input(net, "depth", 1);
    braid_value x = braid_net_join(net, rgb, depth);
    braid_value r = braid_net_layer(
        net, "conv1", x,
        LAYER(.op = BRAID_OP_CONV2D, .out_channels = {8, 4}, .filter = {3, 5}, .padding = {1, 2}, .bias = 1));
    braid_value z = braid_net_integrate(net, "mix1", r, (braid_value){0}, LAYER(.integrated_out = 6));
    braid_value all = braid_net_layer(net, "bn1", braid_net_join(net, r, z), LAYER(.op = BRAID_OP_BATCHNORM));
    all = braid_net_layer(net, NULL, all, LAYER(.op = BRAID_OP_ACT));
    r = braid_net_layer(
        net, "conv2", braid_net_select(net, all, 0, 2),
        LAYER(.op = BRAID_OP_CONV2D, .out_channels = {8, 8}, .filter = {1, 1}, .stride = {2, 2}, .groups = 4));
    z = braid_net_integrate(net, "mix2", r, braid_net_select(net, all, 2, 1),
                            LAYER(.op = BRAID_OP_INTEGRATE, .integrated_out = 5, .stride = {2, 2}, .bias = 1));
    z = braid_net_layer(net, NULL, z, LAYER(.op = BRAID_OP_AVGPOOL));
    braid_net_output(net, braid_net_layer(net, "fc", z, LAYER(.op = BRAID_OP_LINEAR, .out_channels = {3}, .bias = 1)));
}

static void layers_have_names_and_shapes(void **state) {
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    build_mixed(net);
    assert_int_equal(braid_net_check(net), BRAID_OK);
    assert_tensors(net, (const char *const[]){"conv1.weight.0 8x3x3x5",
                                              "conv1.bias.0 8",
                                              "conv1.weight.1 4x1x3x5",
                                              "conv1.bias.1 4",
                                              "mix1.integration_from_streams.0 6x8x1x1",
                                              "mix1.integration_from_streams.1 6x4x1x1",
                                              "bn1.weight.0 8",
                                              "bn1.weight.1 4",
                                              "bn1.weight.2 6",
                                              "bn1.bias.0 8",
                                              "bn1.bias.1 4",
                                              "bn1.bias.2 6",
                                              "bn1.running_mean.0 8",
                                              "bn1.running_mean.1 4",
                                              "bn1.running_mean.2 6",
                                              "bn1.running_var.0 8",
                                              "bn1.running_var.1 4",
                                              "bn1.running_var.2 6",
                                              "bn1.num_batches_tracked",
                                              "conv2.weight.0 8x2x1x1",
                                              "conv2.weight.1 8x1x1x1",
                                              "mix2.integration_from_streams.0 5x8x1x1",
                                              "mix2.integration_from_streams.1 5x8x1x1",
                                              "mix2.integrated_weight 5x6x1x1",
                                              "mix2.integrated_bias 5",
                                              "fc.weight 3x5",
                                              "fc.bias 3",
                                              NULL});
    assert_nodes(
        net,
        (const char *const[]){
            "conv2d rgb depth conv1.weight.0 conv1.weight.1 conv1.bias.0 conv1.bias.1 mask0 mask1 #1:8 #2:4",
            "integrate #1 #2 mix1.integration_from_streams.0 mix1.integration_from_streams.1 mask0 mask1 #3:6",
            "bn_stats #1 #2 #3 mask0 mask1 mask- #4:8 #5:4 #6:6 #7:8 #8:4 #9:6",
            ("bn_finalize #4 #5 #6 #7 #8 #9 mask0 mask1 mask- bn1.weight.0 bn1.weight.1 bn1.weight.2 bn1.bias.0 "
             "bn1.bias.1 bn1.bias.2 bn1.running_mean.0 bn1.running_mean.1 bn1.running_mean.2 bn1.running_var.0 "
             "bn1.running_var.1 bn1.running_var.2 bn1.num_batches_tracked #10:8 #11:4 #12:6 #13:8 #14:4 #15:6 #16:8 "
             "#17:4 #18:6 #19:8 #20:4 #21:6"),
            "bn_apply #1 #2 #3 #10 #11 #12 #13 #14 #15 mask0 mask1 mask- #22:8 #23:4 #24:6",
            "act #22 #23 #24 #25:8 #26:4 #27:6",
            "conv2d #25 #26 conv2.weight.0 conv2.weight.1 mask0 mask1 #28:8 #29:8",
            ("integrate #28 #29 #27 mix2.integration_from_streams.0 mix2.integration_from_streams.1 "
             "mix2.integrated_weight mix2.integrated_bias mask0 mask1 #30:5"),
            "avgpool #30 #31:5",
            "linear #31 fc.weight fc.bias #32:3",
            NULL,
        });
    assert_null(braid_net_describe(net));
    braid_net_destroy(net);
}

static void options_reach_the_ops(void **state) {
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    build_mixed(net);
    const graph_node *nodes = net->graph.nodes;
    assert_int_equal(nodes[0].problem.filter[1], 5);
    assert_int_equal(nodes[0].problem.padding[1], 2);
    assert_int_equal(nodes[0].problem.bias, 1);
    assert_int_equal(nodes[6].problem.groups, 4);
    assert_int_equal(nodes[6].problem.stride[0], 2);
    assert_int_equal(nodes[7].problem.stride[1], 2);
    assert_int_equal(nodes[7].problem.integrated_in, 6);
    braid_net_destroy(net);
    net = given_net(NULL, NULL);
    braid_value x = braid_net_input(net, "a", 4);
    x = braid_net_layer(
        net, "bn", x,
        LAYER(.op = BRAID_OP_BATCHNORM, .eps = 1e-3, .momentum = 0.25, .average = BRAID_AVERAGE_CUMULATIVE));
    x = braid_net_layer(
        net, "pool", x,
        LAYER(.op = BRAID_OP_MAXPOOL, .filter = {3, 2}, .stride = {2, 1}, .padding = {1, 0}, .ceil_mode = 1));
    x = braid_net_layer(net, "average", x, LAYER(.op = BRAID_OP_AVGPOOL, .out_size = {2, 3}));
    x = braid_net_layer(net, "ln", x, LAYER(.op = BRAID_OP_LAYERNORM, .eps = 1e-4));
    x = braid_net_layer(net, "gelu", x, LAYER(.op = BRAID_OP_ACT, .activation = BRAID_ACTIVATION_GELU));
    x = braid_net_layer(net, "drop", x, LAYER(.op = BRAID_OP_DROPOUT, .rate = 0.25));
    x = braid_net_reshape(net, x, 24);
    braid_net_output(net, braid_net_add(net, x, x));
    assert_int_equal(braid_net_check(net), BRAID_OK);
    nodes = net->graph.nodes;
    assert_true(nodes[1].problem.eps == 1e-3 && nodes[1].problem.momentum == 0.25);
    assert_int_equal(nodes[1].problem.average, BRAID_AVERAGE_CUMULATIVE);
    assert_true(nodes[3].problem.ceil_mode && nodes[3].problem.stride[0] == 2 && nodes[3].problem.padding[0] == 1);
    assert_int_equal(nodes[4].problem.out_size[1], 3);
    assert_true(nodes[5].problem.eps == 1e-4);
    assert_int_equal(nodes[6].problem.activation, BRAID_ACTIVATION_GELU);
    assert_true(nodes[7].problem.rate == 0.25);
    assert_true(nodes[8].is_view && net->graph.planes[nodes[8].plane[1][0]].channels == 24);
    assert_tensors(net, (const char *const[]){"bn.weight 4", "bn.bias 4", "bn.running_mean 4", "bn.running_var 4",
                                              "bn.num_batches_tracked", "ln.weight 4", "ln.bias 4", NULL});
    braid_net_destroy(net);
}

static void assert_belongs(const braid_net *net, const char *name, int stream, parameter_role role) {
    const graph_plane *plane = given_plane(net, name);
    if (plane->stream != stream || plane->role != role)
        fail_msg("%s: expected stream %d, role %d, got stream %d, role %d", name, stream, (int)role, plane->stream,
                 (int)plane->role);
}

static void tensors_belong_to_their_streams(void **state) {
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    build_mixed(net);
    assert_belongs(net, "conv1.weight.0", 0, PARAMETER_STREAM);
    assert_belongs(net, "conv1.bias.1", 1, PARAMETER_STREAM);
    assert_belongs(net, "bn1.weight.1", 1, PARAMETER_STREAM);
    assert_belongs(net, "bn1.weight.2", -1, PARAMETER_OTHER);
    assert_belongs(net, "bn1.running_mean.1", 1, PARAMETER_OTHER);
    assert_belongs(net, "mix1.integration_from_streams.1", -1, PARAMETER_INTEGRATION);
    assert_belongs(net, "mix2.integrated_weight", -1, PARAMETER_INTEGRATION);
    assert_belongs(net, "mix2.integrated_bias", -1, PARAMETER_OTHER);
    assert_belongs(net, "fc.weight", -1, PARAMETER_OTHER);
    braid_net_destroy(net);
}

static void tensors_begin_as_usual(void **state) {
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    build_mixed(net);
    assert_begins(net, "conv1.weight.0", INIT_UNIFORM, 1 / sqrt(45));
    assert_begins(net, "conv1.bias.0", INIT_UNIFORM, 1 / sqrt(45));
    assert_begins(net, "conv2.weight.0", INIT_UNIFORM, 1 / sqrt(2));
    assert_begins(net, "fc.weight", INIT_UNIFORM, 1 / sqrt(5));
    assert_begins(net, "mix2.integrated_weight", INIT_UNIFORM, 1 / sqrt(6));
    assert_begins(net, "bn1.weight.0", INIT_CONSTANT, 1);
    assert_begins(net, "bn1.bias.0", INIT_CONSTANT, 0);
    assert_begins(net, "bn1.running_mean.2", INIT_CONSTANT, 0);
    assert_begins(net, "bn1.running_var.2", INIT_CONSTANT, 1);
    braid_net_destroy(net);
}

static void fusions_have_their_logits(void **state) {
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    braid_value a = braid_net_input(net, "a", 6), b = braid_net_input(net, "b", 4);
    braid_value x = braid_net_reshape(net, braid_net_join(net, a, b), 5);
    braid_value side = braid_net_layer(net, NULL, x, LAYER(.op = BRAID_OP_FUSE));
    braid_value weighted =
        braid_net_layer(net, "share", x, LAYER(.op = BRAID_OP_FUSE, .fusion = BRAID_FUSION_WEIGHTED));
    braid_value gated = braid_net_layer(net, "fusion", x, LAYER(.op = BRAID_OP_FUSE, .fusion = BRAID_FUSION_GATED));
    braid_net_output(net, braid_net_add(net, braid_net_add(net, side, weighted), gated));
    assert_int_equal(braid_net_check(net), BRAID_OK);
    assert_tensors(net, (const char *const[]){"share.logits 2", "fusion.gate_network.0.weight 5x10",
                                              "fusion.gate_network.0.bias 5", "fusion.gate_network.2.weight 2x5",
                                              "fusion.gate_network.2.bias 2", NULL});
    assert_nodes(net, (const char *const[]){
                          "view a #1:5", "view b #2:5", "fuse #1 #2 #3:10", "fuse #1 #2 share.logits #4:10",
                          "fuse #1 #2 #5:10", "linear #5 fusion.gate_network.0.weight fusion.gate_network.0.bias #6:5",
                          "act #6 #7:5", "linear #7 fusion.gate_network.2.weight fusion.gate_network.2.bias #8:2",
                          "cast #8 #9:2", "fuse #1 #2 #9 #10:10", "add #3 #4 #11:10", "add #11 #10 #12:10", NULL});
    braid_net_destroy(net);
}

/* ---- Mistakes ------------------------------------------------------------------------------ */

typedef enum call { INPUT, SELECT, JOIN, RESHAPE, LAYER_CALL, ADD, INTEGRATE, OUTPUT } call;

/* One call on a network that has the values 1 (a stream of 3 channels), 2 (one of 1) and 3 (both). */
typedef struct mistake {
    call call;
    const char *name;
    int x, z;
    int64_t number, count;
    braid_problem layer;
    const char *words;
} mistake;

#define CONV .op = BRAID_OP_CONV2D, .filter = {3, 3}
static const mistake mistakes[] = {
    {INPUT, NULL, 0, 0, 3, 0, {0}, "braid_net_input|name of 1 to 31 characters|got \"\""},
    {INPUT, "", 0, 0, 3, 0, {0}, "braid_net_input|name of 1 to 31 characters"},
    {INPUT, "a-name-of-a-stream-that-goes-on-and-on", 0, 0, 3, 0, {0}, "1 to 31 characters|a-name-of-a-stream"},
    {INPUT, "rgb", 0, 0, 3, 0, {0}, "every name once|\"rgb\""},
    {INPUT, "c", 0, 0, 0, 0, {0}, "1 channel or more|c|got 0"},
    {INPUT, "c", 0, 0, INT64_MAX, 0, {0}, "at most 2147483647 channels|got 9223372036854775807"},
    {SELECT, NULL, 9, 0, 0, 1, {0}, "braid_net_select|x|value|got id 9"},
    {SELECT, NULL, 0, 0, 0, 1, {0}, "braid_net_select|x|got no value, id 0"},
    {SELECT, NULL, -1, 0, 0, 1, {0}, "braid_net_select|got id -1"},
    {SELECT, NULL, 3, 0, 1, 2, {0}, "planes of a value with 2|got 2 from 1"},
    {SELECT, NULL, 3, 0, 2147483647, 1, {0}, "planes of a value with 2|from 2147483647"},
    {SELECT, NULL, 3, 0, 0, -2147483647, {0}, "planes of a value with 2|got -2147483647"},
    {JOIN, NULL, 3, 0, 0, 0, {0}, "braid_net_join|z|no value"},
    {RESHAPE, NULL, 3, 0, 0, 0, {0}, "braid_net_reshape|1 to 2147483647 channels|got 0"},
    {RESHAPE, NULL, 3, 0, -5, 0, {0}, "braid_net_reshape|got -5"},
    {ADD, NULL, 3, 1, 0, 0, {0}, "add|z|2 planes|got 1"},
    {ADD, NULL, 1, 2, 0, 0, {0}, "add|equal channels|got 3 and 1|plane 0"},
    {OUTPUT, NULL, 3, 0, 0, 0, {0}, "braid_net_output|one stream|got 2|fuse or select"},
    {OUTPUT, NULL, 0, 0, 0, 0, {0}, "braid_net_output|y|no value"},
    {LAYER_CALL, "m", 3, 0, 0, 0, {.op = BRAID_OP_MATMUL}, "layer m|op conv2d, linear|got matmul"},
    {LAYER_CALL, "m", 3, 0, 0, 0, {.op = (braid_op_id)99}, "layer m|op conv2d, linear|no op (99)"},
    {LAYER_CALL, NULL, 1, 0, 0, 0, {CONV, .out_channels = {4}}, "without a name|a name for its parameters"},
    {LAYER_CALL, "", 1, 0, 0, 0, {CONV, .out_channels = {4}}, "without a name|a name for its parameters"},
    {LAYER_CALL, "c", 0, 0, 0, 0, {CONV, .out_channels = {4}}, "c: expected x|no value"},
    {LAYER_CALL, "c", 3, 0, 0, 0, {CONV, .out_channels = {4}}, "layer c|k (out_channels)|got 0"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4, 4}}, "layer c|1 values of k|further one: 4"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {-4}}, "layer c|k (out_channels)|got -4"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4}, .groups = 2}, "layer c|groups|g2 with c3 and k4"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4}, .in_channels = {3}}, "layer c|in_channels|what goes in"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4}, .streams = 1}, "layer c|streams|left out|what goes in"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4}, .batch = 2}, "layer c|batch|left out|the plan"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4}, .size = {8, 8}}, "layer c|size|left out|the plan"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4}, .mask = 1}, "layer c|mask|left out|the plan"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4}, .dtype = BRAID_DTYPE_F16}, "layer c|pass and dtype"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4}, .pass = BRAID_PASS_BWD_DATA}, "layer c|pass and dtype"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4}, .rate = 0.5}, "layer c|conv2d has no field rate"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {.op = BRAID_OP_CONV2D, .out_channels = {4}}, "layer c|rs (filter)|got 0"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4}, .padding = {INT64_MAX, 0}}, "layer c|pad (padding)"},
    {LAYER_CALL, "c", 1, 0, 0, 0, {CONV, .out_channels = {4}, .dilation = {INT64_MIN, 0}}, "layer c|dil (dilation)"},
    {LAYER_CALL, "d", 1, 0, 0, 0, {.op = BRAID_OP_DROPOUT, .rate = 1}, "layer d|rate|got 1"},
    {LAYER_CALL, "d", 1, 0, 0, 0, {.op = BRAID_OP_DROPOUT, .rate = -0.5}, "layer d|rate|got -0.5"},
    {LAYER_CALL, "a", 1, 0, 0, 0, {.op = BRAID_OP_ACT, .activation = BRAID_ACTIVATION_NONE}, "layer a|act|none"},
    {LAYER_CALL, "p", 1, 0, 0, 0, {.op = BRAID_OP_MAXPOOL, .filter = {2, 2}, .padding = {2, 2}}, "layer p|half the"},
    {LAYER_CALL, "b", 1, 0, 0, 0, {.op = BRAID_OP_BATCHNORM, .momentum = 2}, "layer b|momentum|got 2"},
    {LAYER_CALL, "b", 1, 0, 0, 0, {.op = BRAID_OP_BATCHNORM, .each = 1}, "layer b|batchnorm has no field each"},
    {LAYER_CALL, "b", 1, 0, 0, 0, {.op = BRAID_OP_BATCHNORM, .phase = BRAID_PHASE_EVAL}, "layer b|phase|the plan"},
    {LAYER_CALL, "f", 3, 0, 0, 0, {.op = BRAID_OP_FUSE, .fusion = (braid_fusion)9}, "layer f|fusion|got 9"},
    {LAYER_CALL, "used", 1, 0, 0, 0, {.op = BRAID_OP_LAYERNORM}, "every name once|used.weight"},
    {INTEGRATE, "i", 3, 0, 0, 0, {0}, "layer i|integrated_out|got 0"},
    {INTEGRATE, NULL, 3, 0, 0, 0, {.integrated_out = 4}, "a name for its parameters"},
    {INTEGRATE, "i", 0, 0, 0, 0, {.integrated_out = 4}, "i: expected r|no value"},
    {INTEGRATE, "i", 3, 7, 0, 0, {.integrated_out = 4}, "i: expected z|id 7"},
    {INTEGRATE, "i", 3, 3, 0, 0, {.integrated_out = 4}, "layer i|z of one stream|got 2"},
    {INTEGRATE, "i", 3, 1, 0, 0, {.integrated_out = 4, .filter = {3, 3}}, "layer i|integrate has no field rs"},
    {INTEGRATE, "i", 3, 1, 0, 0, {.integrated_out = 4, .integrated_in = 3}, "layer i|integrated_in|what goes in"},
};

static braid_net *given_values(void) {
    braid_net *net = given_net(NULL, NULL);
    braid_value rgb = braid_net_input(net, "rgb", 3), both = braid_net_join(net, rgb, braid_net_input(net, "depth", 1));
    assert_int_equal(rgb.id, 1);
    assert_int_equal(both.id, 3);
    assert_int_equal(braid_net_layer(net, "used", rgb, LAYER(.op = BRAID_OP_LAYERNORM)).id, 4);
    return net;
}

static braid_value do_call(braid_net *net, const mistake *m) {
    braid_value x = {m->x}, z = {m->z};
    switch (m->call) {
        case INPUT: return braid_net_input(net, m->name, m->number);
        case SELECT: return braid_net_select(net, x, (int)m->number, (int)m->count);
        case JOIN: return braid_net_join(net, x, z);
        case RESHAPE: return braid_net_reshape(net, x, m->number);
        case LAYER_CALL: return braid_net_layer(net, m->name, x, &m->layer);
        case ADD: return braid_net_add(net, x, z);
        case INTEGRATE: return braid_net_integrate(net, m->name, x, z, &m->layer);
        default: braid_net_output(net, x); return (braid_value){0};
    }
}

static void mistakes_are_told(void **state) {
    (void)state;
    for (size_t j = 0; j < sizeof mistakes / sizeof *mistakes; j++) {
        braid_net *net = given_values();
        assert_int_equal(do_call(net, &mistakes[j]).id, 0);
        assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, mistakes[j].words);
        braid_net_destroy(net);
    }
}

/* The first mistake is kept, and nothing is added after it. */
static void first_mistake_is_kept(void **state) {
    (void)state;
    for (size_t j = 0; j < sizeof mistakes / sizeof *mistakes; j++) {
        braid_net *net = given_values();
        assert_int_equal(braid_net_select(net, (braid_value){77}, 0, 1).id, 0);
        int planes = net->graph.plane_count, nodes = net->graph.node_count;
        assert_int_equal(do_call(net, &mistakes[j]).id, 0);
        assert_int_equal(braid_net_input(net, "good", 3).id, 0);
        assert_int_equal(braid_net_layer(net, "x", (braid_value){1}, LAYER(.op = BRAID_OP_ACT)).id, 0);
        braid_net_output(net, (braid_value){2});
        assert_int_equal(net->graph.plane_count, planes);
        assert_int_equal(net->graph.node_count, nodes);
        assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "braid_net_select|id 77");
        braid_net_destroy(net);
    }
}

static void nulls_are_told(void **state) {
    (void)state;
    braid_value x = {1};
    assert_int_equal(braid_net_input(NULL, "a", 1).id, 0);
    assert_non_null(strstr(braid_message(), "braid_net_input: expected a network, got NULL"));
    assert_int_equal(braid_net_select(NULL, x, 0, 1).id, 0);
    assert_int_equal(braid_net_join(NULL, x, x).id, 0);
    assert_int_equal(braid_net_reshape(NULL, x, 1).id, 0);
    assert_int_equal(braid_net_add(NULL, x, x).id, 0);
    assert_int_equal(braid_net_layer(NULL, "a", x, NULL).id, 0);
    assert_int_equal(braid_net_integrate(NULL, "a", x, x, NULL).id, 0);
    braid_net_output(NULL, x);
    assert_non_null(strstr(braid_message(), "braid_net_output: expected a network, got NULL"));
    braid_net *net = given_values();
    assert_int_equal(braid_net_layer(net, "a", x, NULL).id, 0);
    assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "layer a|a problem|got NULL");
    braid_net_destroy(net);
    net = given_values();
    assert_int_equal(braid_net_integrate(net, "a", x, (braid_value){0}, NULL).id, 0);
    assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "layer a|integrated_out|got NULL");
    braid_net_destroy(net);
}

static void ends_are_checked(void **state) {
    (void)state;
    braid_net *net = given_values();
    assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "output");
    braid_net_output(net, (braid_value){2});
    assert_int_equal(braid_net_check(net), BRAID_OK);
    braid_net_output(net, (braid_value){1});
    assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "braid_net_output|one output|a second one");
    braid_net_destroy(net);
    net = given_net("mlp", &(braid_net_options){.layers = {3, 2}});
    assert_int_equal(braid_net_input(net, "more", 3).id, 0);
    assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "braid_net_input|being built|got mlp");
    braid_net_destroy(net);
}

/* Names are never cut: one that does not fit is refused. */
static void long_names_are_refused(void **state) {
    (void)state;
    char name[300];
    for (size_t length = 80; length < sizeof name; length++) {
        braid_net *net = given_values();
        memset(name, 'n', length);
        name[length] = '\0';
        braid_value y = braid_net_layer(net, name, (braid_value){3}, LAYER(.op = BRAID_OP_LAYERNORM));
        braid_net_output(net, braid_net_select(net, y, 0, 1));
        if (length + strlen(".weight.0") < GRAPH_NAME) {
            assert_int_equal(braid_net_check(net), BRAID_OK);
            assert_int_equal(given_plane(net, "used.bias")->dims[0], 3);
        } else {
            assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "name of at most 95 characters|nnnn");
        }
        braid_net_destroy(net);
        net = given_values();
        braid_value all = braid_net_reshape(net, (braid_value){3}, 1);
        braid_net_output(net,
                         braid_net_layer(net, name, all, LAYER(.op = BRAID_OP_FUSE, .fusion = BRAID_FUSION_GATED)));
        if (length + strlen(".gate_network.0.weight") < GRAPH_NAME)
            assert_int_equal(braid_net_check(net), BRAID_OK);
        else
            assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "name of at most 95 characters|nnnn");
        braid_net_destroy(net);
    }
}

static void streams_and_values_have_a_limit(void **state) {
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    braid_value all = {0};
    for (int i = 0; i < BRAID_MAX_STREAMS; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        braid_value x = braid_net_input(net, name, 2);
        all = i ? braid_net_join(net, all, x) : x;
    }
    braid_value last = braid_net_select(net, all, 7, 1);
    braid_value nine = braid_net_join(net, all, last);
    assert_true(nine.id > 0);
    while (net->value_count < NET_MAX_VALUES) assert_true(braid_net_select(net, all, 0, 1).id > 0);
    assert_int_equal(braid_net_select(net, all, 0, 1).id, 0);
    assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "at most 1024 values");
    braid_net_destroy(net);
    net = given_net(NULL, NULL);
    for (int i = 0; i <= BRAID_MAX_STREAMS; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        assert_int_equal(braid_net_input(net, name, 2).id > 0, i < BRAID_MAX_STREAMS);
    }
    assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "at most 8 input streams|s8");
    braid_net_destroy(net);
}

/* ---- Without memory ------------------------------------------------------------------------ */

static braid_status make(void) {
    braid_net *net = NULL;
    braid_status status = braid_net_create(NULL, NULL, &net);
    if (status) return status;
    build_mixed(net);
    status = braid_net_check(net);
    braid_net_destroy(net);
    return status;
}

static void survives_without_memory(void **state) {
    (void)state;
    assert_survives_allocations(make, 3);
}

/* ---- Random sequences ---------------------------------------------------------------------- */

/* True now and then, in every second sequence: a value, a number or a field that cannot be meant. */
static int slips(rng *r) { return r->seed % 2 && rng_between(r, 0, 29) == 0; }

static int64_t draw_number(rng *r) {
    static const int64_t odd[] = {0, -1, 9, INT32_MAX, INT64_MAX, INT64_MIN};
    return slips(r) ? odd[rng_between(r, 0, 5)] : rng_between(r, 1, 4);
}

static braid_problem draw_layer(rng *r, int streams) {
    static const braid_op_id ops[] = {BRAID_OP_CONV2D,    BRAID_OP_LINEAR,  BRAID_OP_BATCHNORM,
                                      BRAID_OP_LAYERNORM, BRAID_OP_ACT,     BRAID_OP_MAXPOOL,
                                      BRAID_OP_AVGPOOL,   BRAID_OP_DROPOUT, BRAID_OP_FUSE};
    braid_problem p = {.op = ops[rng_between(r, 0, 8)]};
    int is_conv = p.op == BRAID_OP_CONV2D;
    for (int i = 0; i < streams && (is_conv || p.op == BRAID_OP_LINEAR); i++) p.out_channels[i] = draw_number(r);
    for (int axis = 0; axis < 2 && (is_conv || p.op == BRAID_OP_MAXPOOL); axis++) {
        p.filter[axis] = draw_number(r);
        p.stride[axis] = draw_number(r);
        p.dilation[axis] = draw_number(r);
        p.padding[axis] = is_conv ? draw_number(r) : 0;
    }
    if (is_conv) p.bias = (int)rng_between(r, 0, 1);
    if (is_conv) p.padding_mode = (braid_padding_mode)rng_between(r, 0, 3);
    if (p.op == BRAID_OP_FUSE) p.fusion = (braid_fusion)rng_between(r, 0, 2);
    if (p.op == BRAID_OP_DROPOUT) p.rate = 0.3;
    if (slips(r)) p.groups = draw_number(r);
    if (slips(r)) p.op = (braid_op_id)rng_between(r, -1, BRAID_OP_COUNT);
    if (slips(r)) p.eps = NAN;
    return p;
}

static braid_value draw_call(rng *r, braid_net *net, int step) {
    char name[24];
    int count = net->value_count, back = (int)rng_between(r, 0, count < 3 ? 0 : 2);
    snprintf(name, sizeof name, "layer%d", slips(r) ? 0 : step);
    braid_value x = {count - back}, z = {count ? (int)rng_between(r, 1, count) : 0};
    if (slips(r)) x.id = (int)rng_between(r, -3, 2000);
    braid_problem layer = draw_layer(r, x.id >= 1 && x.id <= count ? net->values[x.id - 1].count : 1);
    switch (rng_between(r, 0, 15)) {
        case 0: return braid_net_input(net, name, draw_number(r));
        case 1: return braid_net_select(net, x, slips(r), 1);
        case 2:
        case 3: return braid_net_join(net, x, z);
        case 4: return braid_net_reshape(net, x, draw_number(r));
        case 5: return braid_net_add(net, x, slips(r) ? z : x);
        case 6:
            layer = (braid_problem){.integrated_out = draw_number(r), .bias = (int)rng_between(r, 0, 1)};
            return braid_net_integrate(net, name, x, slips(r) ? z : (braid_value){0}, &layer);
        default: return braid_net_layer(net, name, x, &layer);
    }
}

/* Every plane that a node names exists, and what it reads was there before it. */
static void assert_whole(const graph *g) {
    int made[4096] = {0};
    assert_true(g->plane_count <= 4096);
    for (int j = 0; j < g->plane_count; j++) made[j] = g->planes[j].kind != PLANE_VALUE;
    for (int j = 0; j < g->node_count; j++) {
        const graph_node *n = &g->nodes[j];
        const op_info *o = op_find(n->problem.op);
        assert_non_null(o);
        assert_true(n->like >= 0 && n->like < g->plane_count && made[n->like]);
        for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
            int is_output = n->is_view ? slot == 1 : op_is_output(o->operands[slot].role[BRAID_PASS_FWD]);
            for (int i = 0; i < BRAID_MAX_PLANES; i++) {
                int plane = n->plane[slot][i];
                if (plane < 0) continue;
                assert_true(plane < g->plane_count);
                if (is_output) made[plane] = 1;
                assert_true(made[plane]);
            }
        }
    }
    assert_true(made[g->output.plane[0]]);
}

/* Whatever is called in whatever order, a network is whole or has a message. */
static void random_calls_never_crash(void **state) {
    (void)state;
    int whole = 0, refused = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        rng r = {.seed = seed};
        braid_net *net = given_net(NULL, NULL);
        int steps = (int)rng_between(&r, 1, 24);
        braid_net_input(net, "first", draw_number(&r));
        for (int step = 0; step < steps; step++) {
            braid_status before = net->graph.status;
            braid_value y = draw_call(&r, net, step);
            assert_true(y.id >= 0 && y.id <= net->value_count);
            assert_int_equal(y.id == 0, net->graph.status != BRAID_OK);
            assert_true(!before || net->graph.status == before);
        }
        braid_net_output(net, braid_net_select(net, (braid_value){net->value_count}, 0, 1));
        braid_status status = braid_net_check(net);
        if (status == BRAID_OK) {
            assert_whole(&net->graph);
            assert_true(braid_net_parameter_count(net) >= 0);
            whole++;
        } else {
            assert_true(status == BRAID_ERROR_ARGUMENT || status == BRAID_ERROR_MEMORY);
            assert_true(strlen(braid_message()) > 10);
            refused++;
        }
        braid_net_destroy(net);
    }
    assert_int_equal(memory_live(), 0);
    assert_true(whole > 5000 && refused > 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_have_names_and_shapes),
        cmocka_unit_test(options_reach_the_ops),
        cmocka_unit_test(tensors_belong_to_their_streams),
        cmocka_unit_test(tensors_begin_as_usual),
        cmocka_unit_test(fusions_have_their_logits),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(first_mistake_is_kept),
        cmocka_unit_test(nulls_are_told),
        cmocka_unit_test(ends_are_checked),
        cmocka_unit_test(long_names_are_refused),
        cmocka_unit_test(streams_and_values_have_a_limit),
        cmocka_unit_test(survives_without_memory),
        cmocka_unit_test(random_calls_never_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
