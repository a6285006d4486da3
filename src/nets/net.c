/*
 * Networks: the list of braid's own, their creation, and what the public interface tells about the tensors and
 * streams of any network. Options and their JSON are options.c; the caller's own networks are builder.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "nets/net.h"

#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"

/* A family is a line here and a file beside this one. */
static const net_kind *const families[] = {
    linet_kinds, mcresnet_kinds, lenet_kinds, ssae_kinds, mlp_kinds, NULL,
};

const net_kind *net_kind_at(int index) {
    for (int f = 0; families[f] && index >= 0; f++) {
        for (const net_kind *kind = families[f]; kind->name; kind++) {
            if (index-- == 0) return kind;
        }
    }
    return NULL;
}

const char *braid_net_name(int index) {
    const net_kind *kind = net_kind_at(index);
    return kind ? kind->name : NULL;
}

const char *braid_net_summary(int index) {
    const net_kind *kind = net_kind_at(index);
    return kind ? kind->summary : NULL;
}

const net_kind *net_kind_find(const char *name) {
    const net_kind *kind;
    for (int index = 0; (kind = net_kind_at(index)); index++) {
        if (strcmp(kind->name, name) == 0) return kind;
    }
    fail(BRAID_ERROR_ARGUMENT, "net: expected the name of a network (braid_net_name lists them), got \"%.64s\"", name);
    return NULL;
}

/* ---- Life ---------------------------------------------------------------------------------- */

/* A network without a graph yet. */
static braid_status start(braid_net **net) {
    void *memory;
    TRY(memory_calloc(1, sizeof **net, "network", &memory));
    *net = memory;
    graph_start(&(*net)->graph);
    return BRAID_OK;
}

/* A network of braid's own from complete options. */
static braid_status build(const net_kind *kind, const braid_net_options *options, braid_net **net) {
    braid_net *made = NULL;
    TRY(start(&made));
    made->kind = kind;
    made->options = *options;
    kind->build(kind, &made->options, &made->graph);
    braid_status status = braid_net_check(made);
    if (status == BRAID_OK) status = options_describe(kind, &made->options, &made->description);
    if (status == BRAID_OK)
        *net = made;
    else
        braid_net_destroy(made);
    return status;
}

braid_status braid_net_create(const char *kind, const braid_net_options *options, braid_net **net) {
    if (!net) return fail(BRAID_ERROR_ARGUMENT, "net: expected a place for the network, got NULL");
    *net = NULL;
    if (!kind && options)
        return fail(BRAID_ERROR_ARGUMENT, "net: expected no options for a network that is to be built, got some");
    if (!kind) return start(net);
    const net_kind *found = net_kind_find(kind);
    if (!found) return BRAID_ERROR_ARGUMENT;
    braid_net_options complete = options ? *options : (braid_net_options){0};
    TRY(options_complete(found, &complete));
    return build(found, &complete, net);
}

braid_status braid_net_from_description(const char *text, size_t bytes, braid_net **net) {
    const net_kind *kind = NULL;
    braid_net_options options = {0};
    int counted = 0;
    if (!net) return fail(BRAID_ERROR_ARGUMENT, "net: expected a place for the network, got NULL");
    *net = NULL;
    TRY(options_read(text, bytes, &kind, &options, &counted));
    braid_status status = options_complete(kind, &options);
    if (status == BRAID_OK && counted && counted != options.streams)
        return fail(BRAID_ERROR_MODEL, "description of %s: channels: expected %d, one for each stream, got %d",
                    kind->name, options.streams, counted);
    if (status == BRAID_OK) status = build(kind, &options, net);
    if (status != BRAID_ERROR_ARGUMENT) return status;
    return fail(BRAID_ERROR_MODEL, "description of %s", braid_message());
}

void braid_net_destroy(braid_net *net) {
    if (!net) return;
    graph_free(&net->graph);
    memory_free(net->description);
    memory_free(net);
}

const char *braid_net_describe(const braid_net *net) { return net ? net->description : NULL; }

braid_status braid_net_check(const braid_net *net) {
    if (!net) return fail(BRAID_ERROR_ARGUMENT, "net: expected a network, got NULL");
    TRY(graph_status(&net->graph));
    if (net->graph.streams == 0)
        return fail(BRAID_ERROR_ARGUMENT, "net: expected at least one input, got a network without");
    if (net->graph.output.count != 1)
        return fail(BRAID_ERROR_ARGUMENT, "net: expected an output of one plane, got %d", net->graph.output.count);
    return BRAID_OK;
}

/* ---- Tensors and streams ------------------------------------------------------------------- */

/* A counter with axes is the key of a dropout. */
const graph *graph_of_net(const braid_net *net) { return &net->graph; }

int net_is_tensor(const graph_plane *plane) {
    if (plane->kind == PLANE_STATE) return !(plane->is_counter && plane->rank > 0);
    return plane->kind == PLANE_PARAMETER;
}

int braid_net_tensor_count(const braid_net *net) {
    int count = 0;
    for (int j = 0; net && j < net->graph.plane_count; j++) count += net_is_tensor(&net->graph.planes[j]);
    return count;
}

static const graph_plane *find_tensor(const braid_net *net, int index) {
    for (int j = 0; j < net->graph.plane_count && index >= 0; j++) {
        if (net_is_tensor(&net->graph.planes[j]) && index-- == 0) return &net->graph.planes[j];
    }
    return NULL;
}

braid_status braid_net_tensor(const braid_net *net, int index, braid_tensor_info *info) {
    if (!net || !info)
        return fail(BRAID_ERROR_ARGUMENT, "net: expected a network and a place for a tensor's description, got NULL");
    const graph_plane *plane = find_tensor(net, index);
    if (!plane)
        return fail(BRAID_ERROR_ARGUMENT, "net: expected the index of a tensor, 0 to %d, got %d",
                    braid_net_tensor_count(net) - 1, index);
    *info = (braid_tensor_info){.name = plane->name,
                                .dtype = plane->is_counter ? BRAID_DTYPE_I64 : BRAID_DTYPE_F32,
                                .rank = plane->flat ? 2 : plane->rank,
                                .is_parameter = plane->kind == PLANE_PARAMETER,
                                .stream = plane->stream};
    for (int axis = 0; axis < info->rank; axis++) info->dims[axis] = plane->dims[axis];
    if (plane->flat) return size_elements(plane->dims + 1, plane->rank - 1, plane->name, &info->dims[1]);
    return BRAID_OK;
}

/* -1: more than fits. */
int64_t braid_net_parameter_count(const braid_net *net) {
    int64_t total = 0, elements = 0;
    for (int j = 0; net && j < net->graph.plane_count; j++) {
        const graph_plane *plane = &net->graph.planes[j];
        if (plane->kind != PLANE_PARAMETER) continue;
        if (size_elements(plane->dims, plane->rank, plane->name, &elements) != BRAID_OK) return -1;
        if (total > INT64_MAX - elements) return -1;
        total += elements;
    }
    return total;
}

int braid_net_stream_count(const braid_net *net) { return net ? net->graph.streams : 0; }

const char *braid_net_stream(const braid_net *net, int index, int64_t *channels) {
    for (int j = 0; net && j < net->graph.plane_count; j++) {
        const graph_plane *plane = &net->graph.planes[j];
        if (plane->kind != PLANE_INPUT || plane->stream != index) continue;
        if (channels) *channels = plane->channels;
        return plane->name;
    }
    return NULL;
}

int64_t braid_net_output_channels(const braid_net *net) {
    return net ? graph_channels(&net->graph, net->graph.output, 0) : 0;
}
