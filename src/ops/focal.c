/*
 * focal: the focal loss of logits x [B][C] against labels, where p is the softmax of the label's class:
 *
 *   loss = mean over b of alpha (1 - p)^gamma (-log p)
 *
 * over the samples whose label is not negative; 0 where there is none. `correct` is that of softmax_xent.
 * Gradient: dx = dloss dloss/dx; ignored samples have 0.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/class_loss.h"

static void draw(rng *r, braid_problem *p) {
    static const double gammas[] = {0.5, 1, 1.5, 2, 3, 5};
    class_loss_draw(r, p);
    p->alpha = draw_chance(r, 50) ? 1 : (double)rng_between(r, 1, 40) / 20;
    p->gamma = draw_chance(r, 40) ? 2 : gammas[rng_between(r, 0, 5)];
}

const op_info op_focal = {
    .name = "focal",
    .summary = "focal loss of logits",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA,
    .fields = CLASS_LOSS_FIELDS | FIELD_BIT(alpha) | FIELD_BIT(gamma),
    .reals = {{FIELD_alpha, 1, 1000}, {FIELD_gamma, 2, 16}},
    .max_streams = 1,
    .operands = {CLASS_LOSS_OPERANDS},
    .check_table = class_loss_check_labels,
    .planes = class_loss_planes,
    .shape = class_loss_shape,
    .flops = class_loss_flops,
    .terms = class_loss_terms,
    .fill = class_loss_fill,
    .draw = draw,
    .shrink = shrink_rows,
};
