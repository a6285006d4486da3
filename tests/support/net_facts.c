/*
 * Facts about networks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "tests/support/net_facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/given.h"
#include "tests/support/given_net.h"

void assert_tensor(const braid_net *net, const char *name, const char *shape) {
    int count = braid_net_tensor_count(net);
    for (int j = 0; j < count; j++) {
        braid_tensor_info info;
        char got[96] = "";
        assert_int_equal(braid_net_tensor(net, j, &info), BRAID_OK);
        if (strcmp(info.name, name) != 0) continue;
        for (int axis = 0; axis < info.rank; axis++) {
            size_t used = strlen(got);
            snprintf(got + used, sizeof got - used, "%s%lld", axis ? "x" : "", (long long)info.dims[axis]);
        }
        if (strcmp(got, shape) != 0) fail_msg("%s: expected %s, got %s", name, shape, got);
        assert_int_equal(info.dtype, shape[0] ? BRAID_DTYPE_F32 : BRAID_DTYPE_I64);
        assert_int_equal(info.is_parameter, shape[0] && !strstr(name, "_running_"));
        return;
    }
    fail_msg("there is no %s", name);
}

void assert_begins(const braid_net *net, const char *name, init_kind kind, double value) {
    const graph_plane *plane = given_plane(net, name);
    if (plane->init.kind != kind || !(fabs(plane->init.value - value) <= 1e-15))
        fail_msg("%s: expected init %d of %g, got %d of %g", name, kind, value, plane->init.kind, plane->init.value);
}

int count_ops(const braid_net *net, braid_op_id op) {
    int count = 0;
    for (int j = 0; j < net->graph.node_count; j++) count += net->graph.nodes[j].problem.op == op;
    return count;
}

const graph_node *last_node(const braid_net *net, braid_op_id op) {
    for (int j = net->graph.node_count - 1; j >= 0; j--) {
        if (net->graph.nodes[j].problem.op == op) return &net->graph.nodes[j];
    }
    fail_msg("there is no %s", braid_op_id_name(op));
    return NULL;
}

static int reads(const graph_node *n, int plane) {
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        for (int i = 0; i < BRAID_MAX_PLANES; i++) {
            if (n->plane[slot][i] == plane) return 1;
        }
    }
    return 0;
}

const graph_node *reader(const braid_net *net, const char *name) {
    int plane = (int)(given_plane(net, name) - net->graph.planes);
    for (int j = 0; j < net->graph.node_count; j++) {
        if (reads(&net->graph.nodes[j], plane)) return &net->graph.nodes[j];
    }
    fail_msg("nothing reads %s", name);
    return NULL;
}

const graph_node *follower(const braid_net *net, braid_op_id op, int slot, int x) {
    for (int j = 0; j < net->graph.node_count; j++) {
        const graph_node *n = &net->graph.nodes[j];
        if (n->problem.op == op && n->plane[slot][0] == x) return n;
    }
    fail_msg("no %s reads plane %d", braid_op_id_name(op), x);
    return NULL;
}

void assert_option_refused(const char *kind, const braid_net_options *options, const char *words) {
    braid_net *net = (braid_net *)(uintptr_t)1;
    assert_refused(braid_net_create(kind, options, &net), BRAID_ERROR_ARGUMENT, words);
    assert_null(net);
}
