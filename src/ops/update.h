/*
 * What the optimisers share. One call updates all parameters: they lie in one arena of c elements, with
 * gradients and state in twins of it, and a table cuts it into segments, each of one group.
 *
 *   w         [c]      inout  the master weights
 *   g         [c]      in     their gradients, multiplied by `scale` before anything else
 *   m, v      [c]      inout  the state, where the optimiser has it
 *   segments  [seg][2] in     {first element, group}, sorted; the first begins at 0, each ends where the next begins
 *   hyper     [g][3]   in     {learning rate, weight decay, active}: a group with active = 0 does not change
 *   step      [1]      in     the number of this update, 1 for the first; less counts as 1
 *   scale     [1]      in     where it is not finite the update is skipped: w, m and v stay as they are
 *   half      [c]      out    the copy of w in f16 or bf16, where that is the dtype; written in any case
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_UPDATE_H
#define BRAID_OPS_UPDATE_H

#include "ops/op.h"
#include "ops/shapes.h"

#define UPDATE_FIELDS (FIELD_BIT(n) | FIELD_BIT(c) | FIELD_BIT(g) | FIELD_BIT(seg))

/* The rows of op_info.operands. An optimiser without m or v has no planes of them. */
#define UPDATE_OPERANDS                                                                                     \
    [UPDATE_W] = {"w", FILL_SIGNED, {ROLE_INOUT}}, [UPDATE_G] = {"g", FILL_SIGNED, {ROLE_IN}},              \
    [UPDATE_M] = {"m", FILL_SIGNED, {ROLE_INOUT}}, [UPDATE_V] = {"v", FILL_POSITIVE, {ROLE_INOUT}},         \
    [UPDATE_SEGMENTS] = {"segments", FILL_OWN, {ROLE_IN}}, [UPDATE_HYPER] = {"hyper", FILL_OWN, {ROLE_IN}}, \
    [UPDATE_STEP] = {"step", FILL_OWN, {ROLE_IN}}, [UPDATE_SCALE] = {"scale", FILL_OWN, {ROLE_IN}},         \
    [UPDATE_HALF] = {"half", FILL_SIGNED, {ROLE_OUT}}

/* What op_info holds of every optimiser. */
#define UPDATE_OP                                                                                         \
    .passes = 1u << BRAID_PASS_FWD, .single_pass = 1, .max_streams = 1, .operands = {UPDATE_OPERANDS},    \
    .check_table = update_check_table, .shape = update_shape, .terms = update_terms, .fill = update_fill, \
    .shrink = update_shrink

/* The planes of an optimiser with the given state. */
int update_planes(const braid_problem *p, int slot, int has_m, int has_v);
void update_shape(const braid_problem *p, int slot, int i, plane_shape *out);
int64_t update_terms(const braid_problem *p);
void update_fill(const braid_problem *p, int slot, int i, rng *r, void *data);

/* Refuses segments that are not sorted or leave the arena, and groups that do not exist. */
braid_status update_check_table(const braid_problem *p, int slot, int i, const void *data);

/* Arena, segments and groups of a random problem; a share for a memory of gradients, `usual` in half of the draws. */
void update_draw(rng *r, braid_problem *p);
double update_draw_share(rng *r, double usual);
double update_draw_eps(rng *r);
void update_shrink(braid_problem *p);

/* The size of the arena of a random problem of an op that passes over one, and its shrinking. */
void parameters_draw(rng *r, braid_problem *p);
void parameters_shrink(braid_problem *p);

#endif
