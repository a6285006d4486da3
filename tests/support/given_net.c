/*
 * Networks as text.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "tests/support/given_net.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "tests/support/fail_nth.h"

#define ROW 512

braid_net *given_net(const char *kind, const braid_net_options *options) {
    braid_net *net = NULL;
    if (braid_net_create(kind, options, &net)) fail_msg("%s: %s", kind ? kind : "empty network", braid_message());
    return net;
}

const graph_plane *given_plane(const braid_net *net, const char *name) {
    for (int j = 0; j < net->graph.plane_count; j++) {
        if (strcmp(net->graph.planes[j].name, name) == 0) return &net->graph.planes[j];
    }
    fail_msg("expected a plane %s, got none", name);
    return NULL;
}

/* Adds printf-style text to a row. */
static void __attribute__((format(printf, 2, 3))) add(char row[ROW], const char *format, ...) {
    size_t used = strlen(row);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row + used, ROW - used, format, arguments);
    va_end(arguments);
}

static void assert_row(int index, const char *got, const char *expected) {
    if (!expected) fail_msg("row %d: expected no more, got \"%s\"", index, got);
    if (strcmp(got, expected) != 0) fail_msg("row %d: expected \"%s\", got \"%s\"", index, expected, got);
}

void assert_tensors(const braid_net *net, const char *const *rows) {
    int count = braid_net_tensor_count(net);
    for (int j = 0; j < count; j++) {
        braid_tensor_info info;
        char row[ROW] = "";
        assert_int_equal(braid_net_tensor(net, j, &info), BRAID_OK);
        add(row, "%s", info.name);
        for (int axis = 0; axis < info.rank; axis++) add(row, "%s%lld", axis ? "x" : " ", (long long)info.dims[axis]);
        assert_row(j, row, rows[j]);
    }
    if (rows[count]) fail_msg("expected a tensor \"%s\", got the end after %d", rows[count], count);
}

/* Values by their number; *known is how many were seen before. */
static void add_plane(const graph *g, int index, int *known, int seen[], char row[ROW]) {
    const graph_plane *plane = &g->planes[index];
    int number = 0;
    if (plane->kind == PLANE_MASK) {
        if (plane->stream < 0)
            add(row, " mask-");
        else
            add(row, " mask%d", plane->stream);
    } else if (plane->kind != PLANE_VALUE) {
        add(row, " %s", plane->name);
    } else {
        while (number < *known && seen[number] != index) number++;
        add(row, " #%d", number + 1);
        if (number < *known) return;
        add(row, ":%lld", (long long)plane->channels);
        seen[(*known)++] = index;
    }
}

void assert_nodes(const braid_net *net, const char *const *rows) {
    const graph *g = &net->graph;
    int known = 0, seen[256];
    for (int j = 0; j < g->node_count; j++) {
        const graph_node *n = &g->nodes[j];
        char row[ROW] = "";
        add(row, "%s", n->is_view ? "view" : braid_op_id_name(n->problem.op));
        for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
            for (int i = 0; i < BRAID_MAX_PLANES && known < 256; i++) {
                if (n->plane[slot][i] >= 0) add_plane(g, n->plane[slot][i], &known, seen, row);
            }
        }
        assert_row(j, row, rows[j]);
    }
    if (rows[g->node_count]) fail_msg("expected a node \"%s\", got the end", rows[g->node_count]);
}

void assert_survives_allocations(braid_status (*make)(void), int64_t fewest) {
    int64_t nth = 1;
    fail_alloc_install();
    for (;; nth++) {
        fail_alloc_arm(nth, nth % 2 ? FAIL_ONCE : FAIL_PERSISTENT);
        braid_status status = make();
        int64_t failures = fail_alloc_disarm();
        assert_int_equal(memory_live(), 0);
        if (failures == 0) {
            assert_int_equal(status, BRAID_OK);
            break;
        }
        assert_int_equal(status, BRAID_ERROR_MEMORY);
    }
    fail_alloc_remove();
    assert_true(nth > fewest);
}
