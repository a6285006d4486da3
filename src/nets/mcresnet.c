/*
 * MCResNet: two residual networks side by side, one for each stream, that meet behind the pooling:
 *
 *   concat    f = [f1, f2]
 *   weighted  f = [2 s1 f1, 2 s2 f2], s = softmax of two learned logits
 *   gated     f = [s1 f1, s2 f2], s = softmax(W2 relu(W1 [f1, f2] + b1) + b2), sample by sample
 *
 * and a classifier on f. A normalisation has one counter of batches for both streams, and each of them adds one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>

#include "nets/resnet.h"

enum { STREAMS = 2 };

static braid_status complete(const net_kind *kind, braid_net_options *options) {
    (void)kind;
    options->streams = STREAMS;
    if (options->channels[0] == 0) options->channels[0] = 3;
    if (options->channels[1] == 0) options->channels[1] = 1;
    if (options->classes == 0) options->classes = 15;
    return BRAID_OK;
}

static graph_value conv(const resnet *r, const char *name, graph_value x, const resnet_conv *c) {
    braid_problem options = resnet_conv_options(c);
    graph_value w = graph_none();
    for (int i = 0; i < STREAMS; i++) {
        double fan_out = (double)(c->out * c->filter * c->filter);
        graph_plane plane = {.kind = PLANE_PARAMETER,
                             .stream = i,
                             .rank = 4,
                             .dims = {c->out, graph_channels(r->g, x, i), c->filter, c->filter},
                             .role = PARAMETER_STREAM,
                             .init = {INIT_NORMAL, sqrt(2 / fan_out)}};
        w = graph_join(r->g, w, part_tensor(r->g, &plane, "%s.stream%d_weight", name, i + 1));
    }
    return graph_conv2d(r->g, x, w, graph_none(), &options);
}

static graph_value norm(const resnet *r, const char *name, graph_value x, double gamma) {
    static const char *const words[4] = {"weight", "bias", "running_mean", "running_var"};
    graph_norm tensors = {.batches = resnet_counter(r->g, name)};
    for (int i = 0; i < STREAMS; i++) {
        resnet_norm what = {.channels = graph_channels(r->g, x, i), .stream = i, .gamma = gamma};
        for (int j = 0; j < 4; j++) snprintf(what.suffix[j], sizeof what.suffix[j], "stream%d_%s", i + 1, words[j]);
        resnet_add_norm(r->g, &tensors, name, &what);
    }
    return graph_batchnorm(r->g, x, &tensors, &(braid_problem){.each = 1});
}

/* The features of both streams as one vector. */
static graph_value meet(graph *g, graph_value x, braid_fusion fusion) {
    graph_plane plane = {.kind = PLANE_PARAMETER, .stream = -1, .rank = 1, .dims = {STREAMS}};
    graph_value logits = graph_none();
    if (fusion == BRAID_FUSION_WEIGHTED) logits = part_tensor(g, &plane, "fusion.logits");
    if (fusion == BRAID_FUSION_GATED) logits = part_gate(g, "fusion", x);
    return graph_fuse(g, x, logits, fusion);
}

static void build(const net_kind *kind, const braid_net_options *options, graph *g) {
    resnet r = {.g = g, .options = options, .depth = kind->variant, .conv = conv, .norm = norm};
    graph_value first = graph_input(g, options_stream_name(options, 0), options->channels[0], 1);
    graph_value second = graph_input(g, options_stream_name(options, 1), options->channels[1], 1);
    graph_value x = graph_avgpool(g, resnet_features(&r, graph_join(g, first, second)), NULL);
    g->output = resnet_head(&r, meet(g, x, options->fusion));
}

#define HAS \
    (NET_CHANNELS | NET_STREAM_NAMES | NET_CLASSES | NET_WIDTH | NET_DROPOUT | NET_ZERO_INIT_RESIDUAL | NET_FUSION)

const net_kind mcresnet_kinds[] = {
    {"mcresnet18", "two streams that meet before the classifier, 18 layers", 18, HAS, complete, build},
    {"mcresnet34", "two streams that meet before the classifier, 34 layers", 34, HAS, complete, build},
    {"mcresnet50", "two streams that meet before the classifier, 50 layers", 50, HAS, complete, build},
    {"mcresnet101", "two streams that meet before the classifier, 101 layers", 101, HAS, complete, build},
    {"mcresnet152", "two streams that meet before the classifier, 152 layers", 152, HAS, complete, build},
    {0},
};
