/*
 * What several networks are made of: tensors with their names, a fully connected layer, the gate of a gated
 * fusion.
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

#endif
