/*
 * Parts of networks. Names are put together in one place, where one that is too long is refused, not cut.
 *
 * SPDX-License-Identifier: MIT
 */
#include "nets/parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Tensors and layers -------------------------------------------------------------------- */

graph_value part_tensor(graph *g, const graph_plane *what, const char *format, ...) {
    graph_plane plane = *what;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(plane.name, sizeof plane.name, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= GRAPH_NAME)
        return graph_refuse(g, BRAID_ERROR_ARGUMENT, "graph: expected a name of at most %d characters, got %d: %s...",
                            GRAPH_NAME - 1, length, plane.name);
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

/* ---- Options ------------------------------------------------------------------------------- */

static braid_status refuse(const net_kind *kind, const char *option) {
    return fail(BRAID_ERROR_ARGUMENT, "%s has no option %s: expected it to be left out, got a value", kind->name,
                option);
}

braid_status part_refuse_others(const net_kind *kind, const braid_net_options *o, unsigned has) {
    if (!(has & OPTION_WIDTH) && o->width != 0) return refuse(kind, "width");
    if (!(has & OPTION_DROPOUT) && o->dropout != 0) return refuse(kind, "dropout");
    if (!(has & OPTION_ZERO_INIT_RESIDUAL) && o->zero_init_residual) return refuse(kind, "zero_init_residual");
    if (!(has & OPTION_DILATE) && (o->dilate[0] || o->dilate[1] || o->dilate[2])) return refuse(kind, "dilate");
    if (!(has & OPTION_INIT) && o->init) return refuse(kind, "init");
    if (!(has & OPTION_FUSION) && o->fusion != BRAID_FUSION_CONCAT) return refuse(kind, "fusion");
    for (int j = 0; j < 16 && !(has & OPTION_LAYERS); j++) {
        if (o->layers[j]) return refuse(kind, "layers");
    }
    return BRAID_OK;
}

/* Zero becomes `value`; anything else must be it. */
static braid_status settle(const net_kind *kind, const char *option, int64_t *at, int64_t value) {
    if (*at == 0) *at = value;
    if (*at == value) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%s: expected %s %lld or left out, got %lld", kind->name, option,
                (long long)value, (long long)*at);
}

braid_status part_one_stream(const net_kind *kind, braid_net_options *options, int64_t channels, int64_t classes) {
    int64_t streams = options->streams;
    TRY(settle(kind, "streams", &streams, 1));
    TRY(settle(kind, "channels", &options->channels[0], channels));
    for (int i = 1; i < BRAID_MAX_STREAMS; i++) {
        if (options->channels[i])
            return fail(BRAID_ERROR_ARGUMENT, "%s: expected channels of 1 stream, got %lld for stream %d", kind->name,
                        (long long)options->channels[i], i);
    }
    options->streams = 1;
    return settle(kind, "classes", &options->classes, classes);
}
