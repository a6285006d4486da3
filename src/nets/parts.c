/*
 * Parts of networks. Names are put together in one place, where one that is too long is refused, not cut;
 * so is a tensor that does not fit in 64 bits.
 *
 * SPDX-License-Identifier: MIT
 */
#include "nets/parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/reals.h"
#include "core/sizes.h"

graph_value part_tensor(graph *g, const graph_plane *what, const char *format, ...) {
    graph_plane plane = *what;
    int64_t elements;
    va_list arguments;
    va_start(arguments, format);
    int length = real_format_list(plane.name, sizeof plane.name, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= GRAPH_NAME)
        return graph_refuse(g, BRAID_ERROR_ARGUMENT, "graph: expected a name of at most %d characters, got %d: %s...",
                            GRAPH_NAME - 1, length, plane.name);
    braid_status status = size_elements(plane.dims, plane.rank, plane.name, &elements);
    if (status != BRAID_OK) return graph_refuse(g, status, "%s", braid_message());
    return graph_tensor(g, &plane);
}

plane_init part_fan_in(int64_t fan_in) { return (plane_init){INIT_UNIFORM, fan_in > 0 ? 1 / sqrt((double)fan_in) : 0}; }

graph_value part_linear(graph *g, const char *name, graph_value x, int64_t out) {
    int64_t in = graph_channels(g, x, 0);
    graph_plane weight = {.kind = PLANE_PARAMETER, .stream = -1, .rank = 2, .dims = {out, in}, .init = part_fan_in(in)};
    graph_plane bias = {.kind = PLANE_PARAMETER, .stream = -1, .rank = 1, .dims = {out}, .init = part_fan_in(in)};
    graph_value w = part_tensor(g, &weight, "%s.weight", name), b = part_tensor(g, &bias, "%s.bias", name);
    return graph_linear(g, x, w, b);
}

graph_value part_gate(graph *g, const char *name, graph_value x) {
    char layer[GRAPH_NAME + 16];
    graph_value all = graph_fuse(g, x, graph_none(), BRAID_FUSION_CONCAT);
    if (!all.count) return all;
    snprintf(layer, sizeof layer, "%s.gate_network.0", name);
    int64_t hidden = graph_channels(g, all, 0) / x.count;
    graph_value h = graph_act(g, part_linear(g, layer, all, hidden > 0 ? hidden : 1), BRAID_ACTIVATION_RELU);
    snprintf(layer, sizeof layer, "%s.gate_network.2", name);
    return graph_cast(g, part_linear(g, layer, h, x.count));
}
