/*
 * Single facts about a network, for networks too large to be held against a list: a tensor, how a parameter begins,
 * the node that reads it, the node that reads what another gives.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_NET_FACTS_H
#define BRAID_TESTS_NET_FACTS_H

#include "nets/net.h"

/* The network has a tensor of that name and shape ("64x3x7x7"; "" for a counter), and tells its kind rightly. */
void assert_tensor(const braid_net *net, const char *name, const char *shape);

void assert_begins(const braid_net *net, const char *name, init_kind kind, double value);

int count_ops(const braid_net *net, braid_op_id op);

/* The last node of an op. */
const graph_node *last_node(const braid_net *net, braid_op_id op);

/* The first node that reads the parameter of that name. */
const graph_node *reader(const braid_net *net, const char *name);

/* The node of an op whose `slot` begins with plane x. */
const graph_node *follower(const braid_net *net, braid_op_id op, int slot, int x);

/* Options that the network must refuse as an argument, leaving no network, with these words ("a|b"). */
void assert_option_refused(const char *kind, const braid_net_options *options, const char *words);

#endif
