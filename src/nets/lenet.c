/*
 * lenet86: the small convolutional network of a parallel-programming course, on grey images of 86x86 pixels as raw
 * numbers 0 to 255.
 *
 *   conv1 7x7, 4 (80x80) - relu - maxpool 2 (40x40) - conv2 7x7, 16 (34x34) - relu - maxpool 4, ceil (9x9)
 *   - fc1, 32 - relu - fc2, 10
 *
 * Its convolutions add no bias: the biases are in the files, and are kept, but the published weights were made and
 * judged without them. Files have the columns of fc1 in the order channel, row, column; pixels lie row, column,
 * channel, so that fc1 is a filter of 9x9 that files show as a matrix.
 *
 * SPDX-License-Identifier: MIT
 */
#include "nets/parts.h"

enum { FILTER = 7, WIDTH_1 = 4, WIDTH_2 = 16, LAST = 9, HIDDEN = 32 };

static braid_status complete(const net_kind *kind, braid_net_options *options) {
    (void)kind;
    options->streams = 1;
    options->channels[0] = 1;
    if (options->classes == 0) options->classes = 10;
    return BRAID_OK;
}

/* A convolution, relu and a pooling of `window` by `window`. */
static graph_value layer(graph *g, const char *name, graph_value x, int64_t out, int64_t window) {
    int64_t in = graph_channels(g, x, 0);
    plane_init init = part_fan_in(in * FILTER * FILTER);
    graph_plane weight = {
        .kind = PLANE_PARAMETER, .stream = -1, .rank = 4, .dims = {out, in, FILTER, FILTER}, .init = init};
    graph_plane bias = {.kind = PLANE_PARAMETER, .stream = -1, .rank = 1, .dims = {out}, .init = init};
    braid_problem pool = {.filter = {window, window}, .stride = {window, window}, .ceil_mode = 1};
    graph_value w = part_tensor(g, &weight, "%s.weight", name);
    part_tensor(g, &bias, "%s.bias", name);
    graph_value y = graph_conv2d(g, x, w, graph_none(), NULL);
    return graph_maxpool(g, graph_act(g, y, BRAID_ACTIVATION_RELU), &pool);
}

static void build(const net_kind *kind, const braid_net_options *options, graph *g) {
    const int64_t pixels = WIDTH_2 * LAST * LAST;
    graph_plane weight = {.kind = PLANE_PARAMETER,
                          .stream = -1,
                          .rank = 4,
                          .dims = {HIDDEN, WIDTH_2, LAST, LAST},
                          .flat = 1,
                          .init = part_fan_in(pixels)};
    graph_plane bias = {
        .kind = PLANE_PARAMETER, .stream = -1, .rank = 1, .dims = {HIDDEN}, .init = part_fan_in(pixels)};
    (void)kind;
    graph_value x = graph_input(g, "image", 1, 1);
    x = layer(g, "conv1", x, WIDTH_1, 2);
    x = layer(g, "conv2", x, WIDTH_2, 4);
    graph_value w = part_tensor(g, &weight, "fc1.weight"), b = part_tensor(g, &bias, "fc1.bias");
    x = graph_act(g, graph_linear(g, graph_view(g, x, pixels), w, b), BRAID_ACTIVATION_RELU);
    g->output = part_linear(g, "fc2", x, options->classes);
}

const net_kind lenet_kinds[] = {
    {"lenet86", "two convolutions and two fully connected layers, grey images of 86x86", 0, NET_CLASSES, complete,
     build},
    {0},
};
