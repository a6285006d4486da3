/*
 * What LINet and MCResNet have in common: stem, four layers of blocks with shortcuts, their widths, strides and
 * names. A family gives its own convolution and normalisation of all its planes; the wiring is here, once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_NETS_RESNET_H
#define BRAID_NETS_RESNET_H

#include "nets/parts.h"

/* A convolution with a square filter, padded so that stride 1 keeps the size. */
typedef struct resnet_conv {
    int64_t out, filter, stride, dilation;
} resnet_conv;

/* Stride, padding and dilation as an op has them. */
braid_problem resnet_conv_options(const resnet_conv *c);

typedef struct resnet {
    graph *g;
    const braid_net_options *options; /* complete: width, dilate, zero_init_residual */
    int64_t depth;                    /* 18, 34, 50, 101 or 152 */
    /* All planes of x through the convolution, or the normalisation, called `name`. gamma: how its scales begin. */
    graph_value (*conv)(const struct resnet *r, const char *name, graph_value x, const resnet_conv *c);
    graph_value (*norm)(const struct resnet *r, const char *name, graph_value x, double gamma);
} resnet;

/* The inputs x through conv1, bn1, relu, maxpool and layer1 to layer4. */
graph_value resnet_features(const resnet *r, graph_value x);

/* The tensors of one plane of a normalisation, in the order weight, bias, running mean, running variance, added to
 * `norm`; stream -1: of the integrated pathway. */
typedef struct resnet_norm {
    int64_t channels;
    int stream;
    double gamma;
    char suffix[4][32]; /* of their names, behind the name of the layer and a dot */
} resnet_norm;
void resnet_add_norm(graph *g, graph_norm *norm, const char *name, const resnet_norm *what);

/* The counter name.num_batches_tracked. */
graph_value resnet_counter(graph *g, const char *name);

/* The features of one plane through dropout, where its rate is above 0, and the classifier fc. */
graph_value resnet_head(const resnet *r, graph_value x);

#endif
