/*
 * LINet: a residual network of n streams in lock-step and an integrated pathway, the last plane of every value, that
 * learns a mix of them. For every convolution, without a bias,
 *
 *   r_i = conv(x_i, W_i),   z' = W_int z + V_0 r_0 + V_1 r_1 + ...
 *
 * where z is read with the stride of the convolution, and is absent in the first. Normalisation, activation, addition
 * and pooling see all planes; the classifier sees the integrated one only.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "nets/resnet.h"

static braid_status complete(const net_kind *kind, braid_net_options *options) {
    (void)kind;
    if (options->streams == 0) options->streams = 3;
    for (int i = 0; i < options->streams; i++) {
        if (options->channels[i] == 0) options->channels[i] = i == 0 ? 3 : 1;
    }
    if (options->classes == 0) options->classes = 15;
    return BRAID_OK;
}

/* Both versions of its initialisation: "head" begins as the plain mean of the streams, "seed" at random. */
static plane_init mix_init(const braid_net_options *o, int64_t channels) {
    if (strcmp(o->init, "seed") == 0) return part_fan_in(channels);
    return (plane_init){INIT_CONSTANT, 1.0 / o->streams};
}

static plane_init integrated_init(const braid_net_options *o, int64_t out, int64_t channels) {
    plane_init init = part_fan_in(channels);
    if (strcmp(o->init, "seed") == 0) return init;
    if (out == channels) return (plane_init){INIT_ORTHOGONAL, 1};
    init.value *= 0.1;
    return init;
}

static graph_value conv(const resnet *r, const char *name, graph_value x, const resnet_conv *c) {
    int n = r->options->streams;
    graph_value streams = graph_select(r->g, x, 0, n), w = graph_none();
    graph_value z = x.count > n ? graph_select(r->g, x, n, 1) : graph_none(), mix[3] = {{0}};
    int64_t in = graph_channels(r->g, z, 0);
    for (int i = 0; i < n; i++) {
        int64_t channels = graph_channels(r->g, streams, i);
        graph_plane plane = {.kind = PLANE_PARAMETER,
                             .stream = i,
                             .rank = 4,
                             .dims = {c->out, channels, c->filter, c->filter},
                             .role = PARAMETER_STREAM,
                             .init = part_fan_in(channels * c->filter * c->filter)};
        w = graph_join(r->g, w, part_tensor(r->g, &plane, "%s.stream_weights.%d", name, i));
    }
    graph_plane plane = {.kind = PLANE_PARAMETER,
                         .stream = -1,
                         .rank = 4,
                         .dims = {c->out, in, 1, 1},
                         .role = PARAMETER_INTEGRATION,
                         .init = integrated_init(r->options, c->out, in)};
    mix[1] = part_tensor(r->g, &plane, "%s.integrated_weight", name);
    plane.dims[1] = c->out;
    plane.init = mix_init(r->options, c->out);
    for (int i = 0; i < n; i++)
        mix[0] = graph_join(r->g, mix[0], part_tensor(r->g, &plane, "%s.integration_from_streams.%d", name, i));
    braid_problem options = resnet_conv_options(c);
    graph_value y = graph_conv2d(r->g, streams, w, graph_none(), &options);
    return graph_join(r->g, y, graph_integrate(r->g, y, z, mix, options.stride));
}

static graph_value norm(const resnet *r, const char *name, graph_value x, double gamma) {
    int n = r->options->streams;
    graph_norm tensors = {.batches = resnet_counter(r->g, name)};
    for (int i = 0; i <= n; i++) {
        resnet_norm what = {
            .channels = graph_channels(r->g, x, i),
            .stream = i < n ? i : -1,
            .gamma = gamma,
            .suffix = {"integrated_weight", "integrated_bias", "integrated_running_mean", "integrated_running_var"}};
        if (i < n) {
            snprintf(what.suffix[0], sizeof what.suffix[0], "stream_weights.%d", i);
            snprintf(what.suffix[1], sizeof what.suffix[1], "stream_biases.%d", i);
            snprintf(what.suffix[2], sizeof what.suffix[2], "stream%d_running_mean", i);
            snprintf(what.suffix[3], sizeof what.suffix[3], "stream%d_running_var", i);
        }
        resnet_add_norm(r->g, &tensors, name, &what);
    }
    return graph_batchnorm(r->g, x, &tensors, NULL);
}

static void build(const net_kind *kind, const braid_net_options *options, graph *g) {
    resnet r = {.g = g, .options = options, .depth = kind->variant, .conv = conv, .norm = norm};
    graph_value x = graph_none();
    for (int i = 0; i < options->streams; i++)
        x = graph_join(g, x, graph_input(g, options_stream_name(options, i), options->channels[i], 1));
    x = resnet_features(&r, x);
    g->output = resnet_head(&r, graph_avgpool(g, graph_select(g, x, options->streams, 1), NULL));
}

/* The blocks of 18 and 34 cannot dilate. */
#define BASIC                                                                                                         \
    (NET_STREAMS | NET_CHANNELS | NET_STREAM_NAMES | NET_CLASSES | NET_WIDTH | NET_DROPOUT | NET_ZERO_INIT_RESIDUAL | \
     NET_INIT)

const net_kind linet_kinds[] = {
    {"linet18", "1 to 8 streams and a learned mix of them, 18 layers", 18, BASIC, complete, build},
    {"linet34", "1 to 8 streams and a learned mix of them, 34 layers", 34, BASIC, complete, build},
    {"linet50", "1 to 8 streams and a learned mix of them, 50 layers", 50, BASIC | NET_DILATE, complete, build},
    {"linet101", "1 to 8 streams and a learned mix of them, 101 layers", 101, BASIC | NET_DILATE, complete, build},
    {"linet152", "1 to 8 streams and a learned mix of them, 152 layers", 152, BASIC | NET_DILATE, complete, build},
    {0},
};
