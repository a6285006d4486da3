/*
 * The public builder: networks of the caller's own, value by value. A layer is checked as a problem of its op at a
 * size that is large enough, so that a mistake in an option is told where it is made, in the words of that op; what
 * depends on the true size is told when the network is planned.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "nets/parts.h"
#include "ops/problem.h"

/* ---- Values -------------------------------------------------------------------------------- */

/* True where the network can be built on. */
static int is_open(braid_net *net, const char *call) {
    if (!net) {
        (void)fail(BRAID_ERROR_ARGUMENT, "%s: expected a network, got NULL", call);
        return 0;
    }
    if (net->graph.status) return 0;
    if (!net->kind) return 1;
    graph_refuse(&net->graph, BRAID_ERROR_ARGUMENT,
                 "%s: expected a network that is being built (braid_net_create with NULL for its kind), got %s", call,
                 net->kind->name);
    return 0;
}

/* True where the network can grow: its output ends the building, for models are made of what is there. */
static int can_grow(braid_net *net, const char *call) {
    if (!is_open(net, call)) return 0;
    if (!net->graph.output.count) return 1;
    graph_refuse(&net->graph, BRAID_ERROR_ARGUMENT, "%s: expected a network without an output: it ends the building",
                 call);
    return 0;
}

/* The planes of a value; none, and a mistake, for one that does not exist. */
static graph_value take(braid_net *net, braid_value x, const char *call, const char *which) {
    if (net->graph.status) return graph_none();
    if (x.id >= 1 && x.id <= net->value_count) return net->values[x.id - 1];
    return graph_refuse(&net->graph, BRAID_ERROR_ARGUMENT,
                        "%s: expected %s to be a value that a call on this network returned, got %s%d", call, which,
                        x.id == 0 ? "no value, id " : "id ", x.id);
}

static braid_value keep(braid_net *net, graph_value y) {
    if (net->graph.status || !y.count) return (braid_value){0};
    if (net->value_count == NET_MAX_VALUES) {
        graph_refuse(&net->graph, BRAID_ERROR_ARGUMENT, "network: expected at most %d values, got another one",
                     NET_MAX_VALUES);
        return (braid_value){0};
    }
    net->values[net->value_count] = y;
    return (braid_value){++net->value_count};
}

braid_value braid_net_input(braid_net *net, const char *stream, int64_t channels) {
    if (!can_grow(net, "braid_net_input")) return (braid_value){0};
    if (!stream || !stream[0] || strlen(stream) >= GRAPH_MAX_STREAM_NAME)
        return keep(net, graph_refuse(&net->graph, BRAID_ERROR_ARGUMENT,
                                      "braid_net_input: expected a stream's name of 1 to %d characters, got \"%.64s\"",
                                      GRAPH_MAX_STREAM_NAME - 1, stream ? stream : ""));
    if (channels > INT32_MAX)
        return keep(net, graph_refuse(&net->graph, BRAID_ERROR_ARGUMENT,
                                      "braid_net_input: expected at most %d channels for %s, got %lld", INT32_MAX,
                                      stream, (long long)channels));
    return keep(net, graph_input(&net->graph, stream, channels, 1));
}

braid_value braid_net_select(braid_net *net, braid_value x, int first, int count) {
    if (!can_grow(net, "braid_net_select")) return (braid_value){0};
    graph_value value = take(net, x, "braid_net_select", "x");
    return keep(net, graph_select(&net->graph, value, first, count));
}

braid_value braid_net_join(braid_net *net, braid_value x, braid_value z) {
    if (!can_grow(net, "braid_net_join")) return (braid_value){0};
    graph_value first = take(net, x, "braid_net_join", "x"), second = take(net, z, "braid_net_join", "z");
    return keep(net, graph_join(&net->graph, first, second));
}

braid_value braid_net_reshape(braid_net *net, braid_value x, int64_t channels) {
    if (!can_grow(net, "braid_net_reshape")) return (braid_value){0};
    graph_value value = take(net, x, "braid_net_reshape", "x");
    if (channels < 1 || channels > INT32_MAX)
        return keep(net, graph_refuse(&net->graph, BRAID_ERROR_ARGUMENT,
                                      "braid_net_reshape: expected 1 to %d channels, got %lld", INT32_MAX,
                                      (long long)channels));
    return keep(net, graph_view(&net->graph, value, channels));
}

braid_value braid_net_add(braid_net *net, braid_value x, braid_value z) {
    if (!can_grow(net, "braid_net_add")) return (braid_value){0};
    graph_value first = take(net, x, "braid_net_add", "x"), second = take(net, z, "braid_net_add", "z");
    return keep(net, graph_add(&net->graph, first, second));
}

void braid_net_output(braid_net *net, braid_value y) {
    if (!is_open(net, "braid_net_output")) return;
    graph_value value = take(net, y, "braid_net_output", "y");
    if (net->graph.status) return;
    if (value.count != 1) {
        graph_refuse(&net->graph, BRAID_ERROR_ARGUMENT,
                     "braid_net_output: expected a value of one stream, got %d: fuse or select them first",
                     value.count);
    } else if (net->graph.output.count) {
        graph_refuse(&net->graph, BRAID_ERROR_ARGUMENT, "braid_net_output: expected one output, got a second one");
    } else {
        net->graph.output = value;
    }
}

/* ---- Checks of a layer --------------------------------------------------------------------- */

/* A layer that is being added. */
typedef struct site {
    graph *g;
    const char *name;
    graph_value x;
} site;

static graph_value refuse(const site *s, braid_status status, const char *what) {
    return graph_refuse(s->g, status, "layer %.*s: %s", GRAPH_NAME, s->name, what);
}

/* What a layer takes from its x, and from the plan. */
#define FROM_X (FIELD_BIT(n) | FIELD_BIT(c) | FIELD_BIT(cp) | FIELD_BIT(kp) | FIELD_BIT(zi))
#define FROM_PLAN (FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(mask) | FIELD_BIT(phase))

/* True where the fields that do not belong to a layer were left out. */
static int has_no_shape(const site *s, const braid_problem *layer) {
    static const char zeros[sizeof(int64_t[BRAID_MAX_PLANES])];
    for (int j = 0; j < FIELD_COUNT; j++) {
        const uint64_t bit = UINT64_C(1) << j;
        if (!((FROM_X | FROM_PLAN) & bit)) continue;
        if (memcmp((const char *)layer + fields[j].offset, zeros, field_bytes(fields[j].kind)) == 0) continue;
        graph_refuse(s->g, BRAID_ERROR_ARGUMENT,
                     "layer %.*s: expected %s to be left out, it comes from %s; got a value", GRAPH_NAME, s->name,
                     fields[j].meaning, FROM_X & bit ? "what goes in" : "the plan");
        return 0;
    }
    if (layer->pass == BRAID_PASS_FWD && layer->dtype == BRAID_DTYPE_F32) return 1;
    refuse(s, BRAID_ERROR_ARGUMENT, "expected pass and dtype to be left out, they come from the plan; got a value");
    return 0;
}

/* A height or width in which the window of a layer fits, where there is one. */
static int64_t roomy(const braid_problem *layer, int axis) {
    const int64_t most = 1 << 15;
    int64_t window = layer->filter[axis], apart = layer->dilation[axis] ? layer->dilation[axis] : 1;
    int64_t beside = layer->padding[axis];
    if (window < 0 || window > most || apart < 0 || apart > most || beside < 0 || beside > most) return most;
    int64_t size = window * apart + beside + 1;
    return size < most ? size : most;
}

/* True where the options of a layer can be meant for the planes of x. Batchnorm has those of bn_finalize, but each. */
static int is_sound(const site *s, const braid_problem *layer, int64_t integrated_in) {
    braid_problem trial = *layer;
    if (!has_no_shape(s, layer)) return 0;
    if (layer->op == BRAID_OP_BATCHNORM) {
        trial.op = BRAID_OP_BN_FINALIZE;
        if (layer->each) return refuse(s, BRAID_ERROR_ARGUMENT, "batchnorm has no field each").count;
    }
    trial.batch = 2;
    trial.streams = s->x.count;
    trial.integrated_in = integrated_in;
    for (int i = 0; i < s->x.count; i++) trial.in_channels[i] = graph_channels(s->g, s->x, i);
    for (int axis = 0; axis < 2 && op_of(&trial)->fields & FIELD_BIT(hw); axis++) trial.size[axis] = roomy(layer, axis);
    braid_status status = braid_problem_check(&trial);
    if (status != BRAID_OK) refuse(s, status, braid_message());
    return status == BRAID_OK;
}

/* ---- Layers -------------------------------------------------------------------------------- */

/* A tensor of plane i of x: name.what, with .i behind where there are several planes. */
static graph_value add_tensor(const site *s, int i, const char *what, graph_plane plane) {
    plane.stream = s->g->planes[s->x.plane[i]].stream;
    plane.role = plane.kind == PLANE_PARAMETER && plane.stream >= 0 ? PARAMETER_STREAM : PARAMETER_OTHER;
    if (s->x.count == 1) return part_tensor(s->g, &plane, "%s.%s", s->name, what);
    return part_tensor(s->g, &plane, "%s.%s.%d", s->name, what, i);
}

/* A vector as long as plane i has channels, for every plane of x. */
static graph_value add_vectors(const site *s, const char *what, plane_kind kind, double value) {
    graph_value all = {0};
    for (int i = 0; i < s->x.count; i++) {
        graph_plane plane = {
            .kind = kind, .rank = 1, .dims = {graph_channels(s->g, s->x, i)}, .init = {INIT_CONSTANT, value}};
        all = graph_join(s->g, all, add_tensor(s, i, what, plane));
    }
    return all;
}

/* conv2d and linear. */
static graph_value add_product(const site *s, const braid_problem *layer) {
    graph_value w = {0}, b = {0};
    const int is_conv = layer->op == BRAID_OP_CONV2D;
    const int64_t groups = is_conv && layer->groups ? layer->groups : 1, taps = layer->filter[0] * layer->filter[1];
    for (int i = 0; i < s->x.count; i++) {
        int64_t out = layer->out_channels[i], in = graph_channels(s->g, s->x, i) / groups;
        graph_plane weight = {.kind = PLANE_PARAMETER, .rank = is_conv ? 4 : 2, .dims = {out, in}};
        weight.init = part_fan_in(is_conv ? in * taps : in);
        graph_plane bias = {.kind = PLANE_PARAMETER, .rank = 1, .dims = {out}, .init = weight.init};
        if (is_conv) memcpy(&weight.dims[2], layer->filter, sizeof layer->filter);
        w = graph_join(s->g, w, add_tensor(s, i, "weight", weight));
        if (layer->bias) b = graph_join(s->g, b, add_tensor(s, i, "bias", bias));
    }
    return is_conv ? graph_conv2d(s->g, s->x, w, b, layer) : graph_linear(s->g, s->x, w, b);
}

static graph_value add_batchnorm(const site *s, const braid_problem *layer) {
    graph_plane count = {.kind = PLANE_STATE, .stream = -1, .is_counter = 1};
    graph_norm norm;
    norm.gamma = add_vectors(s, "weight", PLANE_PARAMETER, 1);
    norm.beta = add_vectors(s, "bias", PLANE_PARAMETER, 0);
    norm.mean = add_vectors(s, "running_mean", PLANE_STATE, 0);
    norm.var = add_vectors(s, "running_var", PLANE_STATE, 1);
    norm.batches = part_tensor(s->g, &count, "%s.num_batches_tracked", s->name);
    return graph_batchnorm(s->g, s->x, &norm, layer);
}

static graph_value add_layernorm(const site *s, const braid_problem *layer) {
    graph_value gamma = add_vectors(s, "weight", PLANE_PARAMETER, 1);
    return graph_layernorm(s->g, s->x, gamma, add_vectors(s, "bias", PLANE_PARAMETER, 0), layer->eps);
}

static graph_value add_fuse(const site *s, const braid_problem *layer) {
    graph_value logits = {0};
    graph_plane weights = {.kind = PLANE_PARAMETER, .stream = -1, .rank = 1, .dims = {s->x.count}};
    if (layer->fusion == BRAID_FUSION_WEIGHTED) logits = part_tensor(s->g, &weights, "%s.logits", s->name);
    if (layer->fusion == BRAID_FUSION_GATED) logits = part_gate(s->g, s->name, s->x);
    return graph_fuse(s->g, s->x, logits, layer->fusion);
}

/* The ops that braid_net_layer knows, and whether their layers have tensors of their own, and so a name. */
static int is_layer(braid_op_id op) {
    switch (op) {
        case BRAID_OP_CONV2D:
        case BRAID_OP_LINEAR:
        case BRAID_OP_BATCHNORM:
        case BRAID_OP_LAYERNORM:
        case BRAID_OP_FUSE:
        case BRAID_OP_ACT:
        case BRAID_OP_MAXPOOL:
        case BRAID_OP_AVGPOOL:
        case BRAID_OP_DROPOUT: return 1;
        default: return 0;
    }
}

static int has_tensors(const braid_problem *layer) {
    switch (layer->op) {
        case BRAID_OP_ACT:
        case BRAID_OP_MAXPOOL:
        case BRAID_OP_AVGPOOL:
        case BRAID_OP_DROPOUT: return 0;
        case BRAID_OP_FUSE: return layer->fusion != BRAID_FUSION_CONCAT;
        default: return 1;
    }
}

static graph_value add_layer(const site *s, const braid_problem *layer) {
    switch (layer->op) {
        case BRAID_OP_CONV2D:
        case BRAID_OP_LINEAR: return add_product(s, layer);
        case BRAID_OP_BATCHNORM: return add_batchnorm(s, layer);
        case BRAID_OP_LAYERNORM: return add_layernorm(s, layer);
        case BRAID_OP_FUSE: return add_fuse(s, layer);
        case BRAID_OP_ACT: return graph_act(s->g, s->x, layer->activation);
        case BRAID_OP_MAXPOOL: return graph_maxpool(s->g, s->x, layer);
        case BRAID_OP_AVGPOOL: return graph_avgpool(s->g, s->x, layer);
        default: return graph_dropout(s->g, s->x, layer->rate);
    }
}

braid_value braid_net_layer(braid_net *net, const char *name, braid_value x, const braid_problem *layer) {
    if (!can_grow(net, "braid_net_layer")) return (braid_value){0};
    site s = {.g = &net->graph, .name = name && name[0] ? name : "without a name"};
    if (!layer) return keep(net, refuse(&s, BRAID_ERROR_ARGUMENT, "expected a problem that says what it is, got NULL"));
    if (!is_layer(layer->op))
        return keep(net,
                    graph_refuse(s.g, BRAID_ERROR_ARGUMENT,
                                 "layer %.*s: expected op conv2d, linear, batchnorm, layernorm, act, maxpool, "
                                 "avgpool, dropout or fuse, got %s (%d)",
                                 GRAPH_NAME, s.name,
                                 braid_op_id_name(layer->op) ? braid_op_id_name(layer->op) : "no op", (int)layer->op));
    if (has_tensors(layer) && !(name && name[0]))
        return keep(net, refuse(&s, BRAID_ERROR_ARGUMENT, "expected a name for its parameters, got none"));
    s.x = take(net, x, s.name, "x");
    if (!s.x.count || !is_sound(&s, layer, 0)) return (braid_value){0};
    return keep(net, add_layer(&s, layer));
}

/* ---- The learned mix ----------------------------------------------------------------------- */

/* A matrix [out][in] of the mix; it belongs to the integrated pathway. */
static graph_plane mix_matrix(int64_t out, int64_t in) {
    return (graph_plane){.kind = PLANE_PARAMETER,
                         .stream = -1,
                         .rank = 4,
                         .dims = {out, in, 1, 1},
                         .role = PARAMETER_INTEGRATION,
                         .init = part_fan_in(in)};
}

static graph_value add_mix(const site *s, graph_value z, const braid_problem *layer) {
    graph_value mix[3] = {{0}, {0}, {0}};
    const int64_t out = layer->integrated_out;
    for (int i = 0; i < s->x.count; i++) {
        graph_plane v = mix_matrix(out, graph_channels(s->g, s->x, i));
        mix[0] = graph_join(s->g, mix[0], part_tensor(s->g, &v, "%s.integration_from_streams.%d", s->name, i));
    }
    graph_plane w = mix_matrix(out, graph_channels(s->g, z, 0));
    graph_plane bias = {.kind = PLANE_PARAMETER, .stream = -1, .rank = 1, .dims = {out}};
    if (z.count) mix[1] = part_tensor(s->g, &w, "%s.integrated_weight", s->name);
    if (layer->bias) mix[2] = part_tensor(s->g, &bias, "%s.integrated_bias", s->name);
    return graph_integrate(s->g, s->x, z, mix, layer->stride);
}

braid_value braid_net_integrate(braid_net *net, const char *name, braid_value r, braid_value z,
                                const braid_problem *layer) {
    if (!can_grow(net, "braid_net_integrate")) return (braid_value){0};
    site s = {.g = &net->graph, .name = name && name[0] ? name : "without a name"};
    graph_value before = z.id ? take(net, z, s.name, "z") : graph_none();
    s.x = take(net, r, s.name, "r");
    if (s.g->status) return (braid_value){0};
    if (!layer) return keep(net, refuse(&s, BRAID_ERROR_ARGUMENT, "expected a problem with integrated_out, got NULL"));
    if (!(name && name[0]))
        return keep(net, refuse(&s, BRAID_ERROR_ARGUMENT, "expected a name for its parameters, got none"));
    if (before.count > 1)
        return keep(net, graph_refuse(s.g, BRAID_ERROR_ARGUMENT, "layer %.*s: expected z of one stream, got %d",
                                      GRAPH_NAME, s.name, before.count));
    braid_problem problem = *layer;
    problem.op = BRAID_OP_INTEGRATE;
    if (!is_sound(&s, &problem, graph_channels(s.g, before, 0))) return (braid_value){0};
    return keep(net, add_mix(&s, before, &problem));
}
