/*
 * What the losses over classes (softmax_xent, focal) share: logits x [B][C] of one stream, a label for every
 * sample, the loss of the batch and the number of samples that the largest logit gets right.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_CLASS_LOSS_H
#define BRAID_OPS_CLASS_LOSS_H

#include "ops/shapes.h"

#define CLASS_LOSS_FIELDS (FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(c) | FIELD_BIT(cp))

/* The operands of both, in the slots CLASS_X to CLASS_DX. */
#define CLASS_LOSS_OPERANDS                                                                                        \
    [CLASS_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_IN}}, [CLASS_LABELS] = {"labels", FILL_OWN, {ROLE_IN, ROLE_IN}}, \
    [CLASS_LOSS] = {"loss", FILL_SIGNED, {ROLE_OUT, ROLE_DIN}},                                                    \
    [CLASS_CORRECT] = {"correct", FILL_COUNTER, {ROLE_OUT}}, [CLASS_DX] = {"dx", FILL_SIGNED, {ROLE_NONE, ROLE_OUT}}

int class_loss_planes(const braid_problem *p, int slot);
void class_loss_shape(const braid_problem *p, int slot, int i, plane_shape *out);
double class_loss_flops(const braid_problem *p);
int64_t class_loss_terms(const braid_problem *p);
void class_loss_fill(const braid_problem *p, int slot, int i, rng *r, void *data);
braid_status class_loss_check_labels(const braid_problem *p, int slot, int i, const void *data);
void class_loss_draw(rng *r, braid_problem *p);

#endif
