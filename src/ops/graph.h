/*
 * A network as a graph of natural ops. The unit is the plane: one stream of one activation, or one tensor of
 * the network's state. A value is a list of planes, so that looking at some streams of a value, or setting two
 * values side by side, is a matter of lists and never of memory: nothing is packed.
 *
 * A graph knows channels and options, not batch and image size: those come when it is planned, by the shape
 * rules of the ops. Functions that add to a graph return the new value; after a mistake the graph keeps its first
 * message, further calls return empty values, and graph_status tells: so that networks read as equations.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_GRAPH_H
#define BRAID_OPS_GRAPH_H

#include "ops/op.h"

#define GRAPH_NAME 96
#define GRAPH_MAX_STREAM_NAME 32

typedef enum plane_kind {
    PLANE_VALUE,     /* what an op gives */
    PLANE_INPUT,     /* what the user gives, batch by batch */
    PLANE_MASK,      /* the blanked samples of a stream */
    PLANE_PARAMETER, /* learned */
    PLANE_STATE,     /* kept, but not learned: running statistics, counters */
} plane_kind;

/* How a parameter or state begins. */
typedef enum init_kind {
    INIT_CONSTANT,   /* value */
    INIT_UNIFORM,    /* between -value and value */
    INIT_NORMAL,     /* mean 0, standard deviation value */
    INIT_ORTHOGONAL, /* orthonormal rows (or columns, where there are more rows), times value */
} init_kind;

typedef struct plane_init {
    init_kind kind;
    double value;
} plane_init;

/* What a parameter is, for groups of an optimiser. */
typedef enum parameter_role {
    PARAMETER_OTHER,       /* classifier, one-dimensional tensors of the integrated pathway */
    PARAMETER_STREAM,      /* of one stream: filters, normalisation */
    PARAMETER_INTEGRATION, /* matrices of the learned mix */
} parameter_role;

typedef struct graph_plane {
    plane_kind kind;
    char name[GRAPH_NAME]; /* of inputs, parameters and states, as files have it; values have none */
    int stream;            /* to which it belongs; -1: to none, or to the integrated pathway */
    int64_t channels;      /* inputs, values: the fastest axis */
    int view_of;           /* values: the plane whose memory this is, seen in another shape; -1: its own */
    /* Parameters and states: the shape as files have it. Four axes are K,C,R,S there and K,R,S,C in memory. */
    int rank;
    int64_t dims[4];
    int flat;       /* 1: four axes that files show as two, [K][C*R*S] */
    int is_counter; /* 1: one int64 */
    int is_image;   /* inputs: 1: [B][H][W][C], files [B][C][H][W]; 0: [B][C] */
    parameter_role role;
    plane_init init;
} graph_plane;

/* Planes side by side; count 0 is no value. */
typedef struct graph_value {
    int count;
    int plane[BRAID_MAX_PLANES];
} graph_value;

/* An op and its planes, slot by slot (-1: none). The problem lacks dtype, phase, batch, size and mask. */
typedef struct graph_node {
    braid_problem problem;
    int like;    /* the plane whose batch and size the problem takes */
    int is_view; /* 1: no op: plane[1][0] is plane[0][0] seen in another shape */
    int plane[OP_MAX_OPERANDS][BRAID_MAX_PLANES];
} graph_node;

typedef struct graph {
    graph_plane *planes;
    int plane_count;
    size_t plane_room;
    graph_node *nodes; /* in an order in which they can run */
    int node_count;
    size_t node_room;
    int mask[BRAID_MAX_PLANES]; /* of every stream, and behind them one that blanks nothing; -1: none yet */
    int streams;                /* input streams so far */
    graph_value output;         /* one plane [B][K]: logits, or what an autoencoder gives back */
    int target_is_input;        /* 1: trained to give back its input */
    braid_status status;        /* of the first mistake */
    char message[512];
} graph;

void graph_start(graph *g); /* an empty graph, for graph_free at the end */
void graph_free(graph *g);

/* The graph of a network; borrowed. In src/nets. */
const graph *graph_of_net(const braid_net *net);

/* BRAID_OK, or the first mistake with its message. */
braid_status graph_status(const graph *g);

/* Keeps the first mistake; returns no value. */
graph_value graph_refuse(graph *g, braid_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- Planes -------------------------------------------------------------------------------- */

/* A new input stream: images [B][H][W][C], or rows [B][C]. */
graph_value graph_input(graph *g, const char *name, int64_t channels, int is_image);

/* A parameter or a state as described: kind, name, stream, rank, dims, flat, is_counter, role, init. */
graph_value graph_tensor(graph *g, const graph_plane *what);

/* The planes [first, first + count) of a value; two values side by side; values of one plane in a row. */
graph_value graph_select(graph *g, graph_value x, int first, int count);
graph_value graph_join(graph *g, graph_value x, graph_value z);

/* The same memory as rows [B * times][channels]: a sample becomes `times` rows, or `times` rows become a sample
 * (times = 1 for channels of a whole sample). */
graph_value graph_view(graph *g, graph_value x, int64_t channels);

/* Elements of a parameter or state. */
int64_t plane_elements(const graph_plane *plane);

/* Channels of plane i; 0 for a plane that does not exist. */
int64_t graph_channels(const graph *g, graph_value x, int i);

/* ---- Ops ----------------------------------------------------------------------------------- */
/* `options` may be NULL; of it count the fields that the op has, except those of shape. Values of parameters have one
 * plane for each plane of x. An absent bias is a value of count 0 (graph_none). */

graph_value graph_none(void);

/* w[i] [K][C/g][R][S]; bias[i] [K]. */
graph_value graph_conv2d(graph *g, graph_value x, graph_value w, graph_value bias, const braid_problem *options);

/* The learned mix of the raw outputs r and of z, read with `stride`; z and w may be none. v[i] [K][C_i][1][1],
 * w [K][C][1][1], bias [K]. */
graph_value graph_integrate(graph *g, graph_value r, graph_value z, const graph_value mix[3],
                            const int64_t stride[2]); /* mix = {v, w, bias} */

/* Parameters and states of a batch normalisation, a plane for each plane of x but for `batches`, which has one: with
 * each=1 among the options every plane counts there. */
typedef struct graph_norm {
    graph_value gamma, beta, mean, var, batches;
} graph_norm;
graph_value graph_batchnorm(graph *g, graph_value x, const graph_norm *norm, const braid_problem *options);

graph_value graph_act(graph *g, graph_value x, braid_activation activation);
graph_value graph_add(graph *g, graph_value x, graph_value z);
graph_value graph_maxpool(graph *g, graph_value x, const braid_problem *options);
graph_value graph_avgpool(graph *g, graph_value x, const braid_problem *options);   /* to out_size, 1x1 by default */
graph_value graph_linear(graph *g, graph_value x, graph_value w, graph_value bias); /* w[i] [K][C] */
graph_value graph_layernorm(graph *g, graph_value x, graph_value gamma, graph_value beta, double eps);
graph_value graph_rownorm(graph *g, graph_value x);                              /* a matrix, by rows */
graph_value graph_matmul(graph *g, graph_value x, graph_value w, int transpose); /* w [C][K]; transpose: [K][C] */
graph_value graph_fuse(graph *g, graph_value x, graph_value logits, braid_fusion fusion);
graph_value graph_dropout(graph *g, graph_value x, double rate);
graph_value graph_cast(graph *g, graph_value x); /* to the dtype of statistics */

#endif
