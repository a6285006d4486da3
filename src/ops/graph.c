/*
 * Graphs: their planes, their growth and the ops that are added to them. The arithmetic of shapes is left to
 * the ops; what is checked here is what would make a graph meaningless at any size.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "ops/problem.h"

void graph_start(graph *g) {
    *g = (graph){0};
    for (int i = 0; i < BRAID_MAX_PLANES; i++) g->mask[i] = -1;
}

void graph_free(graph *g) {
    memory_free(g->planes);
    memory_free(g->nodes);
    graph_start(g);
}

braid_status graph_status(const graph *g) { return g->status ? fail(g->status, "%s", g->message) : BRAID_OK; }

graph_value graph_none(void) { return (graph_value){0}; }

graph_value graph_refuse(graph *g, braid_status status, const char *format, ...) {
    va_list arguments;
    if (g->status) return graph_none();
    g->status = status;
    va_start(arguments, format);
    real_format_list(g->message, sizeof g->message, format, arguments);
    va_end(arguments);
    return graph_none();
}

/* Room for one more element of an array. False: there is no memory, and the graph says so. */
static int grow(graph *g, void **array, int count, size_t *room, size_t bytes) {
    if (memory_grow(array, (size_t)count, room, bytes, "graph") == BRAID_OK) return 1;
    graph_refuse(g, BRAID_ERROR_MEMORY, "%s", braid_message());
    return 0;
}

static graph_value add_plane(graph *g, const graph_plane *what) {
    if (g->status || !grow(g, (void **)&g->planes, g->plane_count, &g->plane_room, sizeof *g->planes))
        return graph_none();
    g->planes[g->plane_count] = *what;
    return (graph_value){1, {g->plane_count++}};
}

/* A new value with the streams of x; channels[i] NULL: those of x. */
static graph_value add_value(graph *g, graph_value x, const int64_t *channels) {
    graph_value y = {0};
    for (int i = 0; i < x.count; i++) {
        graph_plane plane = {.kind = PLANE_VALUE, .stream = g->planes[x.plane[i]].stream, .view_of = -1};
        plane.channels = channels ? channels[i] : graph_channels(g, x, i);
        y.plane[i] = add_plane(g, &plane).plane[0];
        y.count++;
    }
    return g->status ? graph_none() : y;
}

int64_t plane_elements(const graph_plane *plane) {
    int64_t count = 1;
    for (int axis = 0; axis < plane->rank; axis++) count *= plane->dims[axis];
    return count;
}

int64_t graph_channels(const graph *g, graph_value x, int i) {
    if (i < 0 || i >= x.count) return 0;
    const graph_plane *plane = &g->planes[x.plane[i]];
    return plane->kind == PLANE_PARAMETER || plane->kind == PLANE_STATE ? plane->dims[plane->rank - 1]
                                                                        : plane->channels;
}

/* ---- Planes -------------------------------------------------------------------------------- */

static int name_is_taken(const graph *g, const char *name) {
    for (int j = 0; j < g->plane_count; j++) {
        if (g->planes[j].name[0] && strcmp(g->planes[j].name, name) == 0) return 1;
    }
    return 0;
}

/* A plane with a name; refuses names that are empty, too long or taken. */
static graph_value add_named(graph *g, const graph_plane *what, const char *name) {
    graph_plane plane = *what;
    if (g->status) return graph_none();
    if (!name || !name[0] || strlen(name) >= sizeof plane.name)
        return graph_refuse(g, BRAID_ERROR_ARGUMENT, "graph: expected a name of 1 to %d characters, got \"%.100s\"",
                            GRAPH_NAME - 1, name ? name : "");
    if (name_is_taken(g, name))
        return graph_refuse(g, BRAID_ERROR_ARGUMENT, "graph: expected every name once, got \"%s\" again", name);
    memmove(plane.name, name, strlen(name) + 1);
    plane.view_of = -1;
    return add_plane(g, &plane);
}

static void add_mask(graph *g, int i) {
    graph_plane mask = {.kind = PLANE_MASK, .stream = i < g->streams ? i : -1, .view_of = -1};
    graph_value made = add_plane(g, &mask);
    g->mask[i] = made.count ? made.plane[0] : -1;
}

/* 1 for names that a plan's other tensors have. */
static int is_reserved(const char *name) {
    static const char *const reserved[] = {"output",     "labels", "target",        "loss", "correct",
                                           "loss_scale", "norm",   "class_weights", NULL};
    for (int j = 0; name && reserved[j]; j++) {
        if (strcmp(name, reserved[j]) == 0) return 1;
    }
    return 0;
}

graph_value graph_input(graph *g, const char *name, int64_t channels, int is_image) {
    if (is_reserved(name))
        return graph_refuse(g, BRAID_ERROR_ARGUMENT,
                            "graph: expected a name for the input stream that no other tensor of a plan has, got %s",
                            name);
    if (g->streams == BRAID_MAX_STREAMS)
        return graph_refuse(g, BRAID_ERROR_ARGUMENT, "graph: expected at most %d input streams, got another one, %.64s",
                            BRAID_MAX_STREAMS, name ? name : "");
    if (channels < 1)
        return graph_refuse(g, BRAID_ERROR_ARGUMENT, "graph: expected 1 channel or more for input %.64s, got %lld",
                            name ? name : "", (long long)channels);
    graph_plane plane = {.kind = PLANE_INPUT, .stream = g->streams, .channels = channels, .is_image = is_image};
    graph_value x = add_named(g, &plane, name);
    if (!x.count) return x;
    g->streams++;
    add_mask(g, g->streams - 1);
    return x;
}

graph_value graph_tensor(graph *g, const graph_plane *what) {
    if (strncmp(what->name, "braid.", 6) == 0)
        return graph_refuse(g, BRAID_ERROR_ARGUMENT,
                            "graph: expected a name that does not begin with braid., got %.96s", what->name);
    int fits = what->rank >= 1 && what->rank <= 4;
    for (int axis = 0; fits && axis < what->rank; axis++) fits = what->dims[axis] >= 0;
    if (!fits && !what->is_counter)
        return graph_refuse(g, BRAID_ERROR_ARGUMENT, "graph: expected 1 to 4 axes of 0 or more for %.96s", what->name);
    return add_named(g, what, what->name);
}

graph_value graph_select(graph *g, graph_value x, int first, int count) {
    graph_value y = {.count = count};
    if (g->status) return graph_none();
    if (first < 0 || count < 1 || first > x.count - count)
        return graph_refuse(g, BRAID_ERROR_ARGUMENT, "graph: expected planes of a value with %d, got %d from %d",
                            x.count, count, first);
    for (int i = 0; i < count; i++) y.plane[i] = x.plane[first + i];
    return y;
}

graph_value graph_join(graph *g, graph_value x, graph_value z) {
    if (g->status) return graph_none();
    if (x.count + z.count > BRAID_MAX_PLANES)
        return graph_refuse(g, BRAID_ERROR_ARGUMENT, "graph: expected at most %d planes side by side, got %d",
                            BRAID_MAX_PLANES, x.count + z.count);
    for (int i = 0; i < z.count; i++) x.plane[x.count++] = z.plane[i];
    return x;
}

/* ---- Nodes --------------------------------------------------------------------------------- */

/* The fields of shape, which come from the planes. */
#define SHAPE_FIELDS                                                                                                  \
    (FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(k) | FIELD_BIT(mask) | FIELD_BIT(phase) | \
     FIELD_BIT(bias) | FIELD_BIT(zi) | FIELD_BIT(zo) | FIELD_BIT(cp) | FIELD_BIT(kp))

static graph_node start_node(const graph *g, braid_op_id op, graph_value x, const braid_problem *options) {
    graph_node n = {.like = x.plane[0]};
    for (int j = 0; options && j < FIELD_COUNT; j++) {
        if (!(op_find(op)->fields & ~SHAPE_FIELDS & UINT64_C(1) << j)) continue;
        memcpy((char *)&n.problem + fields[j].offset, (const char *)options + fields[j].offset,
               field_bytes(fields[j].kind));
    }
    n.problem.op = op;
    n.problem.streams = x.count;
    for (int i = 0; i < x.count; i++) n.problem.in_channels[i] = graph_channels(g, x, i);
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        for (int i = 0; i < BRAID_MAX_PLANES; i++) n.plane[slot][i] = -1;
    }
    return n;
}

static void bind(graph_node *n, int slot, graph_value v) {
    for (int i = 0; i < v.count; i++) n->plane[slot][i] = v.plane[i];
}

/* The mask of every plane, where at least one of them belongs to a stream. */
static void bind_mask(graph *g, graph_node *n, int slot, graph_value x) {
    int belongs = 0;
    for (int i = 0; i < x.count; i++) belongs |= g->planes[x.plane[i]].stream >= 0;
    for (int i = 0; i < x.count && belongs; i++) {
        int stream = g->planes[x.plane[i]].stream, none = BRAID_MAX_PLANES - 1;
        if (stream < 0 && g->mask[none] < 0) add_mask(g, none);
        n->plane[slot][i] = g->mask[stream < 0 ? none : stream];
    }
}

static graph_value add_node(graph *g, const graph_node *n, graph_value y) {
    if (g->status || !grow(g, (void **)&g->nodes, g->node_count, &g->node_room, sizeof *g->nodes)) return graph_none();
    g->nodes[g->node_count++] = *n;
    return y;
}

/* True where the graph is sound and a value has planes, `count` of them where that is not 0. */
static int is_good(graph *g, graph_value x, int count, const char *op, const char *which) {
    if (g->status) return 0;
    if (x.count > 0 && (count == 0 || x.count == count)) return 1;
    graph_refuse(g, BRAID_ERROR_ARGUMENT, "%s: expected %s with %d plane%s, got %d", op, which, count ? count : 1,
                 count == 1 ? "" : "s", x.count);
    return 0;
}

static int is_good_or_none(graph *g, graph_value x, int count, const char *op, const char *which) {
    return x.count == 0 ? !g->status : is_good(g, x, count, op, which);
}

/* An op that gives every plane of x another one of its shape. */
static graph_value add_map(graph *g, braid_op_id op, graph_value x, const int slots[2], const braid_problem *options) {
    if (!is_good(g, x, 0, braid_op_id_name(op), "x")) return graph_none();
    graph_node n = start_node(g, op, x, options);
    graph_value y = add_value(g, x, NULL);
    bind(&n, slots[0], x);
    bind(&n, slots[1], y);
    return add_node(g, &n, y);
}

graph_value graph_view(graph *g, graph_value x, int64_t channels) {
    graph_value y = {0};
    if (!is_good(g, x, 0, "view", "x")) return y;
    for (int i = 0; i < x.count; i++) {
        graph_node n = start_node(g, BRAID_OP_ADD, graph_select(g, x, i, 1), NULL);
        graph_plane plane = {
            .kind = PLANE_VALUE, .stream = g->planes[x.plane[i]].stream, .channels = channels, .view_of = x.plane[i]};
        n.is_view = 1;
        n.plane[0][0] = x.plane[i];
        y = graph_join(g, y, add_plane(g, &plane));
        if (g->status) return graph_none();
        n.plane[1][0] = y.plane[i];
        add_node(g, &n, y);
    }
    return y;
}

/* ---- Ops ----------------------------------------------------------------------------------- */

/* The output channels of weights, whose first axis they are. */
static void first_axes(const graph *g, graph_value w, int64_t *channels) {
    for (int i = 0; i < w.count; i++) channels[i] = g->planes[w.plane[i]].dims[0];
}

graph_value graph_conv2d(graph *g, graph_value x, graph_value w, graph_value bias, const braid_problem *options) {
    if (!is_good(g, x, 0, "conv2d", "x") || !is_good(g, w, x.count, "conv2d", "w") ||
        !is_good_or_none(g, bias, x.count, "conv2d", "bias"))
        return graph_none();
    graph_node n = start_node(g, BRAID_OP_CONV2D, x, options);
    first_axes(g, w, n.problem.out_channels);
    for (int i = 0; i < w.count; i++) {
        const graph_plane *plane = &g->planes[w.plane[i]];
        int64_t groups = n.problem.groups ? n.problem.groups : 1;
        if (plane->rank != 4 || plane->dims[1] * groups != n.problem.in_channels[i] ||
            plane->dims[2] != g->planes[w.plane[0]].dims[2] || plane->dims[3] != g->planes[w.plane[0]].dims[3])
            return graph_refuse(g, BRAID_ERROR_ARGUMENT,
                                "conv2d: expected %s of [K][%lld][R][S], R and S as in the first stream", plane->name,
                                (long long)(n.problem.in_channels[i] / groups));
        n.problem.filter[0] = plane->dims[2];
        n.problem.filter[1] = plane->dims[3];
    }
    n.problem.bias = bias.count > 0;
    graph_value y = add_value(g, x, n.problem.out_channels);
    bind(&n, CONV2D_X, x);
    bind(&n, CONV2D_W, w);
    bind(&n, CONV2D_BIAS, bias);
    bind_mask(g, &n, CONV2D_MASK, x);
    bind(&n, CONV2D_Y, y);
    return add_node(g, &n, y);
}

graph_value graph_integrate(graph *g, graph_value r, graph_value z, const graph_value mix[3], const int64_t stride[2]) {
    graph_value v = mix[0], w = mix[1], bias = mix[2];
    if (!is_good(g, r, 0, "integrate", "r") || !is_good(g, v, r.count, "integrate", "v") ||
        !is_good_or_none(g, z, 1, "integrate", "z") || !is_good_or_none(g, bias, 1, "integrate", "bias") ||
        (z.count && !is_good(g, w, 1, "integrate", "w")))
        return graph_none();
    graph_node n = start_node(g, BRAID_OP_INTEGRATE, r, NULL);
    const graph_plane *first = &g->planes[v.plane[0]];
    graph_plane plane = {.kind = PLANE_VALUE, .stream = -1, .view_of = -1, .channels = first->dims[0]};
    n.problem.integrated_out = plane.channels;
    n.problem.bias = bias.count > 0;
    if (z.count) {
        n.like = z.plane[0];
        n.problem.integrated_in = graph_channels(g, z, 0);
        n.problem.stride[0] = stride[0];
        n.problem.stride[1] = stride[1];
    }
    graph_value y = add_plane(g, &plane);
    bind(&n, INTEGRATE_R, r);
    bind(&n, INTEGRATE_Z, z);
    bind(&n, INTEGRATE_V, v);
    if (z.count) bind(&n, INTEGRATE_W, w);
    bind(&n, INTEGRATE_BIAS, bias);
    bind_mask(g, &n, INTEGRATE_MASK, r);
    bind(&n, INTEGRATE_Y, y);
    return add_node(g, &n, y);
}

static void add_finalize(graph *g, graph_value x, const graph_norm *norm, const graph_value made[6],
                         const braid_problem *options) {
    graph_node n = start_node(g, BRAID_OP_BN_FINALIZE, x, options);
    bind_mask(g, &n, BN_FINALIZE_MASK, x);
    bind(&n, BN_FINALIZE_MEAN, made[0]);
    bind(&n, BN_FINALIZE_VAR, made[1]);
    bind(&n, BN_FINALIZE_GAMMA, norm->gamma);
    bind(&n, BN_FINALIZE_BETA, norm->beta);
    bind(&n, BN_FINALIZE_RUNNING_MEAN, norm->mean);
    bind(&n, BN_FINALIZE_RUNNING_VAR, norm->var);
    bind(&n, BN_FINALIZE_BATCHES, norm->batches);
    bind(&n, BN_FINALIZE_SCALE, made[2]);
    bind(&n, BN_FINALIZE_SHIFT, made[3]);
    bind(&n, BN_FINALIZE_CENTER, made[4]);
    bind(&n, BN_FINALIZE_RSTD, made[5]);
    add_node(g, &n, x);
}

graph_value graph_batchnorm(graph *g, graph_value x, const graph_norm *norm, const braid_problem *options) {
    graph_value made[6]; /* mean, var, scale, shift, center, rstd */
    if (!is_good(g, x, 0, "batchnorm", "x") || !is_good(g, norm->gamma, x.count, "batchnorm", "gamma") ||
        !is_good(g, norm->beta, x.count, "batchnorm", "beta") ||
        !is_good(g, norm->mean, x.count, "batchnorm", "mean") || !is_good(g, norm->var, x.count, "batchnorm", "var") ||
        !is_good(g, norm->batches, 1, "batchnorm", "batches"))
        return graph_none();
    for (int j = 0; j < 6; j++) made[j] = add_value(g, x, NULL);
    graph_node stats = start_node(g, BRAID_OP_BN_STATS, x, NULL);
    bind(&stats, BN_STATS_X, x);
    bind_mask(g, &stats, BN_STATS_MASK, x);
    bind(&stats, BN_STATS_MEAN, made[0]);
    bind(&stats, BN_STATS_VAR, made[1]);
    add_node(g, &stats, x);
    add_finalize(g, x, norm, made, options);
    if (g->status) return graph_none();
    graph_node n = start_node(g, BRAID_OP_BN_APPLY, x, NULL);
    graph_value y = add_value(g, x, NULL);
    bind(&n, BN_APPLY_X, x);
    bind(&n, BN_APPLY_SCALE, made[2]);
    bind(&n, BN_APPLY_SHIFT, made[3]);
    bind_mask(g, &n, BN_APPLY_MASK, x);
    bind(&n, BN_APPLY_Y, y);
    return add_node(g, &n, y);
}

graph_value graph_act(graph *g, graph_value x, braid_activation activation) {
    return add_map(g, BRAID_OP_ACT, x, (int[2]){ACT_X, ACT_Y}, &(braid_problem){.activation = activation});
}

graph_value graph_maxpool(graph *g, graph_value x, const braid_problem *options) {
    return add_map(g, BRAID_OP_MAXPOOL, x, (int[2]){MAXPOOL_X, MAXPOOL_Y}, options);
}

graph_value graph_avgpool(graph *g, graph_value x, const braid_problem *options) {
    return add_map(g, BRAID_OP_AVGPOOL, x, (int[2]){AVGPOOL_X, AVGPOOL_Y}, options);
}

graph_value graph_rownorm(graph *g, graph_value x) {
    return add_map(g, BRAID_OP_ROWNORM, x, (int[2]){ROWNORM_X, ROWNORM_Y}, NULL);
}

graph_value graph_cast(graph *g, graph_value x) { return add_map(g, BRAID_OP_CAST, x, (int[2]){CAST_X, CAST_Y}, NULL); }

graph_value graph_add(graph *g, graph_value x, graph_value z) {
    if (!is_good(g, x, 0, "add", "x") || !is_good(g, z, x.count, "add", "z")) return graph_none();
    for (int i = 0; i < x.count; i++) {
        if (graph_channels(g, x, i) != graph_channels(g, z, i))
            return graph_refuse(g, BRAID_ERROR_ARGUMENT, "add: expected equal channels, got %lld and %lld in plane %d",
                                (long long)graph_channels(g, x, i), (long long)graph_channels(g, z, i), i);
    }
    graph_node n = start_node(g, BRAID_OP_ADD, x, NULL);
    graph_value y = add_value(g, x, NULL);
    bind(&n, ADD_X, x);
    bind(&n, ADD_Z, z);
    bind(&n, ADD_Y, y);
    return add_node(g, &n, y);
}

graph_value graph_linear(graph *g, graph_value x, graph_value w, graph_value bias) {
    if (!is_good(g, x, 0, "linear", "x") || !is_good(g, w, x.count, "linear", "w") ||
        !is_good_or_none(g, bias, x.count, "linear", "bias"))
        return graph_none();
    graph_node n = start_node(g, BRAID_OP_LINEAR, x, NULL);
    first_axes(g, w, n.problem.out_channels);
    n.problem.bias = bias.count > 0;
    graph_value y = add_value(g, x, n.problem.out_channels);
    bind(&n, LINEAR_X, x);
    bind(&n, LINEAR_W, w);
    bind(&n, LINEAR_BIAS, bias);
    bind_mask(g, &n, LINEAR_MASK, x);
    bind(&n, LINEAR_Y, y);
    return add_node(g, &n, y);
}

graph_value graph_layernorm(graph *g, graph_value x, graph_value gamma, graph_value beta, double eps) {
    if (!is_good(g, x, 0, "layernorm", "x") || !is_good(g, gamma, x.count, "layernorm", "gamma") ||
        !is_good(g, beta, x.count, "layernorm", "beta"))
        return graph_none();
    graph_node n = start_node(g, BRAID_OP_LAYERNORM, x, &(braid_problem){.eps = eps});
    graph_value y = add_value(g, x, NULL);
    bind(&n, LAYERNORM_X, x);
    bind(&n, LAYERNORM_GAMMA, gamma);
    bind(&n, LAYERNORM_BETA, beta);
    bind(&n, LAYERNORM_Y, y);
    return add_node(g, &n, y);
}

graph_value graph_matmul(graph *g, graph_value x, graph_value w, int transpose) {
    int64_t rows = 0;
    if (!is_good(g, x, 1, "matmul", "x") || !is_good(g, w, 1, "matmul", "w")) return graph_none();
    graph_node n = start_node(g, BRAID_OP_MATMUL, x, &(braid_problem){.transpose = transpose});
    for (int j = 0; j < g->node_count && !rows;
         j++) { /* a computed matrix: its rows are those of what it was made of */
        if (!g->nodes[j].is_view && g->nodes[j].problem.op == BRAID_OP_ROWNORM &&
            g->nodes[j].plane[ROWNORM_Y][0] == w.plane[0])
            rows = g->planes[g->nodes[j].plane[ROWNORM_X][0]].dims[0];
    }
    if (g->planes[w.plane[0]].kind == PLANE_PARAMETER) rows = g->planes[w.plane[0]].dims[0];
    if (!rows) return graph_refuse(g, BRAID_ERROR_ARGUMENT, "matmul: expected w to be a parameter or a rownorm of one");
    n.problem.out_channels[0] = transpose ? rows : graph_channels(g, w, 0);
    graph_value y = add_value(g, x, n.problem.out_channels);
    bind(&n, MATMUL_X, x);
    bind(&n, MATMUL_W, w);
    bind(&n, MATMUL_Y, y);
    return add_node(g, &n, y);
}

graph_value graph_fuse(graph *g, graph_value x, graph_value logits, braid_fusion fusion) {
    int64_t width = 0;
    if (!is_good(g, x, 0, "fuse", "x")) return graph_none();
    if (fusion != BRAID_FUSION_CONCAT && !is_good(g, logits, 1, "fuse", "logits")) return graph_none();
    graph_node n = start_node(g, BRAID_OP_FUSE, x, &(braid_problem){.fusion = fusion});
    for (int i = 0; i < x.count; i++) width += graph_channels(g, x, i);
    graph_plane plane = {.kind = PLANE_VALUE, .stream = -1, .view_of = -1, .channels = width};
    graph_value y = add_plane(g, &plane);
    bind(&n, FUSE_X, x);
    bind(&n, FUSE_LOGITS, fusion == BRAID_FUSION_CONCAT ? graph_none() : logits);
    bind(&n, FUSE_Y, y);
    return add_node(g, &n, y);
}

graph_value graph_dropout(graph *g, graph_value x, double rate) {
    char name[GRAPH_NAME];
    if (!is_good(g, x, 0, "dropout", "x")) return graph_none();
    snprintf(name, sizeof name, "braid.dropout.%d", g->node_count);
    graph_plane key = {.kind = PLANE_STATE, .stream = -1, .rank = 1, .dims = {2}, .is_counter = 1};
    graph_node n = start_node(g, BRAID_OP_DROPOUT, x, &(braid_problem){.rate = rate});
    bind(&n, DROPOUT_KEY, add_named(g, &key, name));
    graph_value y = add_value(g, x, NULL);
    bind(&n, DROPOUT_X, x);
    bind(&n, DROPOUT_Y, y);
    return add_node(g, &n, y);
}
