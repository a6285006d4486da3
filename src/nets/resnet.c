/*
 * The wiring of residual networks. A block of the networks 18 and 34 is two 3x3 convolutions; of 50, 101 and 152 it is
 * 1x1, 3x3 (which has the stride) and 1x1 to four times the channels. A layer that gives up its stride dilates
 * instead, from its second block on, and so do the layers behind it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "nets/resnet.h"

#include <stdio.h>

#define EXPANSION 4 /* of the last convolution of a block with three */

static const struct {
    int64_t depth;
    int convs; /* of a block */
    int blocks[4];
} depths[] = {
    {18, 2, {2, 2, 2, 2}},   {34, 2, {3, 4, 6, 3}},   {50, 3, {3, 4, 6, 3}},
    {101, 3, {3, 4, 23, 3}}, {152, 3, {3, 8, 36, 3}},
};

braid_problem resnet_conv_options(const resnet_conv *c) {
    int64_t padding = c->dilation * (c->filter / 2);
    return (braid_problem){
        .stride = {c->stride, c->stride}, .padding = {padding, padding}, .dilation = {c->dilation, c->dilation}};
}

void resnet_add_norm(graph *g, graph_norm *norm, const char *name, const resnet_norm *what) {
    graph_value *values[4] = {&norm->gamma, &norm->beta, &norm->mean, &norm->var};
    const double begin[4] = {what->gamma, 0, 0, 1};
    for (int j = 0; j < 4; j++) {
        graph_plane plane = {.kind = j < 2 ? PLANE_PARAMETER : PLANE_STATE,
                             .stream = what->stream,
                             .rank = 1,
                             .dims = {what->channels},
                             .role = j < 2 && what->stream >= 0 ? PARAMETER_STREAM : PARAMETER_OTHER,
                             .init = {INIT_CONSTANT, begin[j]}};
        *values[j] = graph_join(g, *values[j], part_tensor(g, &plane, "%s.%s", name, what->suffix[j]));
    }
}

graph_value resnet_counter(graph *g, const char *name) {
    graph_plane plane = {.kind = PLANE_STATE, .stream = -1, .is_counter = 1};
    return part_tensor(g, &plane, "%s.num_batches_tracked", name);
}

/* A convolution and its normalisation, called prefix + conv and prefix + norm. */
static graph_value unit(const resnet *r, const char *const names[3], graph_value x, const resnet_conv *c,
                        double gamma) {
    char name[GRAPH_NAME];
    snprintf(name, sizeof name, "%s%s", names[0], names[1]);
    x = r->conv(r, name, x, c);
    snprintf(name, sizeof name, "%s%s", names[0], names[2]);
    return r->norm(r, name, x, gamma);
}

/* A block from x to `out` channels; `prefix` is its name and a dot. */
static graph_value block(const resnet *r, const char *prefix, graph_value x, const resnet_conv *c, int convs) {
    static const char *const conv_names[3] = {"conv1", "conv2", "conv3"}, *const norm_names[3] = {"bn1", "bn2", "bn3"};
    int64_t out = convs == 2 ? c->out : EXPANSION * c->out;
    resnet_conv wide = {c->out, 3, c->stride, c->dilation}, narrow = {c->out, 1, 1, 1}, last = {out, 1, 1, 1};
    const resnet_conv two[] = {wide, {out, 3, 1, c->dilation}}, three[] = {narrow, wide, last};
    graph_value y = x, shortcut = x;
    for (int j = 0; j < convs; j++) {
        const char *const names[3] = {prefix, conv_names[j], norm_names[j]};
        int is_last = j == convs - 1;
        y = unit(r, names, y, convs == 2 ? &two[j] : &three[j], is_last && r->options->zero_init_residual ? 0 : 1);
        if (!is_last) y = graph_act(r->g, y, BRAID_ACTIVATION_RELU);
    }
    if (c->stride != 1 || graph_channels(r->g, x, 0) != out) {
        const char *const names[3] = {prefix, "downsample.0", "downsample.1"};
        shortcut = unit(r, names, x, &(resnet_conv){out, 1, c->stride, 1}, 1);
    }
    return graph_act(r->g, graph_add(r->g, y, shortcut), BRAID_ACTIVATION_RELU);
}

/* The width of a layer: a factor on 64, 128, 256, 512, towards zero. */
static int64_t width_of(const resnet *r, int layer) { return (int64_t)((double)(64 << layer) * r->options->width); }

static graph_value stem(const resnet *r, graph_value x) {
    static const char *const names[3] = {"", "conv1", "bn1"};
    braid_problem pool = {.filter = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
    x = unit(r, names, x, &(resnet_conv){width_of(r, 0), 7, 2, 1}, 1);
    return graph_maxpool(r->g, graph_act(r->g, x, BRAID_ACTIVATION_RELU), &pool);
}

graph_value resnet_features(const resnet *r, graph_value x) {
    int row = 0;
    int64_t dilation = 1;
    while (depths[row].depth != r->depth) row++;
    x = stem(r, x);
    for (int layer = 0; layer < 4; layer++) {
        resnet_conv c = {width_of(r, layer), 3, layer ? 2 : 1, dilation};
        if (layer && r->options->dilate[layer - 1]) {
            dilation *= c.stride;
            c.stride = 1;
        }
        for (int b = 0; b < depths[row].blocks[layer]; b++) {
            char prefix[32];
            snprintf(prefix, sizeof prefix, "layer%d.%d.", layer + 1, b);
            x = block(r, prefix, x, &c, depths[row].convs);
            c.stride = 1;
            c.dilation = dilation;
        }
    }
    return x;
}

graph_value resnet_head(const resnet *r, graph_value x) {
    if (r->options->dropout > 0) x = graph_dropout(r->g, x, r->options->dropout);
    return part_linear(r->g, "fc", x, r->options->classes);
}
