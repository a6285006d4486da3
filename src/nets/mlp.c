/*
 * mlp: fully connected layers with relu between them. `mlp` takes its widths from the options; the others are the
 * configurations of a published suite of timings, whose batches are in their summaries.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "nets/parts.h"

enum { MOST = sizeof(((braid_net_options *)0)->layers) / sizeof(int64_t) };

/* By variant; none for `mlp` itself. */
static const int64_t widths[][MOST] = {
    {0},
    {784, 256, 256, 10},
    {512, 512, 512, 512, 128},
    {784, 512, 512, 512, 128},
    {1024, 512, 512, 512, 512, 256},
    {784, 2048, 2048, 2048, 2048, 1000},
    {2048, 2048, 2048, 2048, 2048, 1000},
    {1024, 4096, 4096, 4096, 4096, 4096, 4096, 1000},
};

/* Widths before the 0 that ends them. */
static int count_widths(const int64_t *layers) {
    int count = 0;
    while (count < MOST && layers[count] != 0) count++;
    return count;
}

static braid_status complete(const net_kind *kind, braid_net_options *options) {
    if (kind->variant) memcpy(options->layers, widths[kind->variant], sizeof options->layers);
    int count = count_widths(options->layers);
    if (count == 0)
        return fail(BRAID_ERROR_ARGUMENT,
                    "%s: layers: expected 2 to %d widths from the input to the output (784,256,10), got none",
                    kind->name, MOST);
    int64_t last = options->layers[count - 1];
    if (options->classes && options->classes != last)
        return fail(BRAID_ERROR_ARGUMENT, "%s: classes: expected %lld, the last of its layers, got %lld", kind->name,
                    (long long)last, (long long)options->classes);
    options->streams = 1;
    options->channels[0] = options->layers[0];
    options->classes = last;
    return BRAID_OK;
}

static void build(const net_kind *kind, const braid_net_options *options, graph *g) {
    int count = count_widths(options->layers);
    char name[GRAPH_NAME];
    (void)kind;
    graph_value x = graph_input(g, "features", options->layers[0], 0);
    for (int j = 0; j + 1 < count; j++) {
        snprintf(name, sizeof name, "layers.%d.fc", j);
        if (j > 0) x = graph_act(g, x, BRAID_ACTIVATION_RELU);
        x = part_linear(g, name, x, options->layers[j + 1]);
    }
    g->output = x;
}

const net_kind mlp_kinds[] = {
    {"mlp", "fully connected layers with relu between them, as wide as the option layers says", 0,
     NET_LAYERS | NET_CLASSES, complete, build},
    {"mlp-784-256x2-10", "784 in, 2 of 256, 10 out; timed with batches of 64 and 256", 1, 0, complete, build},
    {"mlp-512-512x3-128", "512 in, 3 of 512, 128 out; timed with batches of 128", 2, 0, complete, build},
    {"mlp-784-512x3-128", "784 in, 3 of 512, 128 out; timed with batches of 256", 3, 0, complete, build},
    {"mlp-1024-512x4-256", "1024 in, 4 of 512, 256 out; timed with batches of 256", 4, 0, complete, build},
    {"mlp-784-2048x4-1000", "784 in, 4 of 2048, 1000 out; timed with batches of 512 and 1024", 5, 0, complete, build},
    {"mlp-2048-2048x4-1000", "2048 in, 4 of 2048, 1000 out; timed with batches of 1024", 6, 0, complete, build},
    {"mlp-1024-4096x6-1000", "1024 in, 6 of 4096, 1000 out; timed with batches of 512", 7, 0, complete, build},
    {0},
};
