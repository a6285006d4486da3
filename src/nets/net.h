/*
 * A network: a graph and the words that describe it. One file per family builds its graph from options;
 * nets.def lists them by name.
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

/* A network of braid's own. */
typedef struct net_kind {
    const char *name; /* "linet18" */
    const char *summary;
    int64_t variant; /* depth, size or row of a table, as its family understands it */
    /* Fills in the defaults of the options it has and refuses those it has not, naming the option, what was expected
     * and what came. */
    braid_status (*complete)(const struct net_kind *kind, braid_net_options *options);
    void (*build)(const struct net_kind *kind, const braid_net_options *options, graph *g);
} net_kind;

/* The list; NULL beyond the last. */
const net_kind *net_kind_at(int index);

#endif
