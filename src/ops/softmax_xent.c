/*
 * softmax_xent: cross-entropy of logits x [B][C] against labels, with class weights w and label smoothing s.
 * With lp_c = x_c - log sum over k of e^x_k, the loss of a sample of label y is
 *
 *   loss_b = (1 - s) w_y (-lp_y) + s/C sum over c of w_c (-lp_c)
 *   loss   = sum over b of loss_b / sum over b of w_y
 *
 * over the samples whose label is not negative; w is 1 without class weights. Where the weights of all
 * samples add up to 0, the loss and its gradient are 0. `correct` counts the samples whose largest logit (the first of
 * equal ones) is that of the label. Gradient: dx = dloss dloss_b/dx / sum over b of w_y; ignored samples have 0.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/class_loss.h"

static void draw(rng *r, braid_problem *p) {
    class_loss_draw(r, p);
    p->class_weights = draw_chance(r, 40);
    p->smoothing = draw_chance(r, 50) ? 0 : (double)rng_between(r, 1, 20) / 20;
}

const op_info op_softmax_xent = {
    .name = "softmax_xent",
    .summary = "cross-entropy of logits, class weights, label smoothing",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA,
    .fields = CLASS_LOSS_FIELDS | FIELD_BIT(smooth) | FIELD_BIT(cw),
    .reals = {{FIELD_smooth, 0, 1}},
    .max_streams = 1,
    .operands = {CLASS_LOSS_OPERANDS, [CLASS_WEIGHTS] = {"weights", FILL_POSITIVE, {ROLE_IN, ROLE_IN}}},
    .check_table = class_loss_check_labels,
    .planes = class_loss_planes,
    .shape = class_loss_shape,
    .flops = class_loss_flops,
    .terms = class_loss_terms,
    .fill = class_loss_fill,
    .draw = draw,
    .shrink = shrink_rows,
};
