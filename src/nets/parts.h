/*
 * What several networks are made of: tensors with their names, a fully connected layer, the gate of a gated
 * fusion, and the refusal of options that a network does not have.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_NETS_PARTS_H
#define BRAID_NETS_PARTS_H

#include "nets/net.h"

/* A parameter or a state called as the printf-style name says; the rest as in graph_tensor. */
graph_value part_tensor(graph *g, const graph_plane *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* How nn.Linear and nn.Conv2d begin: between -1/sqrt(fan_in) and 1/sqrt(fan_in), weights and biases alike. */
plane_init part_fan_in(int64_t fan_in);

/* One plane through name.weight [out][in] and name.bias [out], which begin as in nn.Linear and belong to no stream. */
graph_value part_linear(graph *g, const char *name, graph_value x, int64_t out);

/* The features [B][C_i] of n streams as the logits [B][n] of a gated fusion, in the dtype of statistics:
 * W2 relu(W1 [x_0, x_1, ...] + b1) + b2, the hidden layer as wide as the mean of the streams. The parameters are
 * name.gate_network.0.weight, .0.bias, .2.weight and .2.bias. */
graph_value part_gate(graph *g, const char *name, graph_value x);

/* Options that a network may have besides streams, channels and classes, as bits. */
enum {
    OPTION_WIDTH = 1,
    OPTION_DROPOUT = 2,
    OPTION_ZERO_INIT_RESIDUAL = 4,
    OPTION_DILATE = 8,
    OPTION_INIT = 16,
    OPTION_FUSION = 32,
    OPTION_LAYERS = 64,
};

/* Refuses the options that are set but are not in `has`. */
braid_status part_refuse_others(const net_kind *kind, const braid_net_options *options, unsigned has);

/* Fills in one stream of `channels`, and `classes`; refuses other values. Classes of 0: the network has none. */
braid_status part_one_stream(const net_kind *kind, braid_net_options *options, int64_t channels, int64_t classes);

#endif
