/*
 * What tests of networks begin with: a network that must exist, and its tensors and its graph as text, so that a
 * test can hold them against a list.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_GIVEN_NET_H
#define BRAID_TESTS_GIVEN_NET_H

#include "nets/net.h"

/* A network that must exist; kind NULL: an empty one. */
braid_net *given_net(const char *kind, const braid_net_options *options);

/* The tensors of a network, in order and all of them, are these rows ("conv1.weight 4x1x7x7"; a counter has no axes). A
 * NULL ends them. */
void assert_tensors(const braid_net *net, const char *const *rows);

/*
 * The nodes of a network, in order and all of them, are these rows; a NULL ends them. A row is the op (or view) and
 * its planes slot by slot: inputs, parameters and states by name, masks as mask0, mask1, ... by stream (mask- blanks
 * nothing), values as #1, #2, ... in the order in which they first appear, there with their channels ("#1:64").
 */
void assert_nodes(const braid_net *net, const char *const *rows);

/* The plane of that name; the test fails where there is none. */
const graph_plane *given_plane(const braid_net *net, const char *name);

/* Runs `make`, which must clean up after itself, with every single allocation failing in turn: each time it must
 * report that there is no memory, nothing may be left, and at least `fewest` allocations must have had their turn. */
void assert_survives_allocations(braid_status (*make)(void), int64_t fewest);

#endif
