/*
 * A network: a graph and the words that describe it. One file per family builds its graph from options and
 * exports its rows; the table of families in net.c lists them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_NETS_NET_H
#define BRAID_NETS_NET_H

#include "ops/graph.h"

#define NET_MAX_VALUES 1024

struct braid_net {
    const struct net_kind *kind; /* NULL: built by the caller */
    braid_net_options options;   /* complete: defaults filled in */
    graph graph;
    graph_value values[NET_MAX_VALUES]; /* of the public builder; braid_value.id - 1 is the index */
    int value_count;
    char *description; /* JSON; NULL where there is none */
};

/* The options of braid_net_options, as bits. */
typedef enum net_option {
    NET_STREAMS = 1 << 0,
    NET_CHANNELS = 1 << 1,
    NET_CLASSES = 1 << 2,
    NET_WIDTH = 1 << 3,
    NET_DROPOUT = 1 << 4,
    NET_ZERO_INIT_RESIDUAL = 1 << 5,
    NET_DILATE = 1 << 6,
    NET_INIT = 1 << 7,
    NET_FUSION = 1 << 8,
    NET_LAYERS = 1 << 9,
    NET_STREAM_NAMES = 1 << 10,
} net_option;

/* A network of braid's own. */
typedef struct net_kind {
    const char *name; /* "linet18" */
    const char *summary;
    int64_t variant; /* depth, size or row of a table, as its family understands it */
    unsigned has;    /* the options it has; others are refused by name and left out of its description */
    /* Fills in the defaults that are its own: streams and their channels (of every network), classes, layers.
     * Whatever is set is an option it has and lies within limits; a default of width 1 and init "head" is there. */
    braid_status (*complete)(const struct net_kind *kind, braid_net_options *options);
    void (*build)(const struct net_kind *kind, const braid_net_options *options, graph *g);
} net_kind;

/* The rows of each family; a row without a name ends them. */
extern const net_kind linet_kinds[], mcresnet_kinds[], lenet_kinds[], ssae_kinds[], mlp_kinds[];

/* The list; NULL beyond the last. */
const net_kind *net_kind_at(int index);

/* The network of that name; NULL, with a message, where there is none. */
const net_kind *net_kind_find(const char *name);

/* Refuses options that the kind has not or that lie outside of limits, naming the option, what was expected and what
 * came; fills in the defaults. */
braid_status options_complete(const net_kind *kind, braid_net_options *options);

/* The name of an input stream of a linet or mcresnet. */
const char *options_stream_name(const braid_net_options *options, int stream);

/* Complete options as JSON; returns memory for memory_free. */
braid_status options_describe(const net_kind *kind, const braid_net_options *options, char **text);

/* The kind and the options of a description, which may be hostile; options that are not there stay zero. `counted`
 * is set to the channels that were listed, 0: none. */
braid_status options_read(const char *text, size_t bytes, const net_kind **kind, braid_net_options *options,
                          int *counted);

/* True for planes that files have: parameters and states, but not the keys of random numbers. */
int net_is_tensor(const graph_plane *plane);

#endif
