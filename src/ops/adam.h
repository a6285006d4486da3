/*
 * What adam and adamw share: fields, state and random problems. They differ in where the weight decay goes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_ADAM_H
#define BRAID_OPS_ADAM_H

#include "ops/update.h"

/* What op_info holds of both. */
#define ADAM_OP                                                                                                      \
    UPDATE_OP, .fields = UPDATE_FIELDS | FIELD_BIT(betam) | FIELD_BIT(betas) | FIELD_BIT(eps),                       \
               .reals = {{FIELD_betam, 0.9, 1}, {FIELD_betas, 0.999, 1}, {FIELD_eps, 1e-8, 1}}, .check = adam_check, \
               .planes = adam_planes, .draw = adam_draw

int adam_planes(const braid_problem *p, int slot);
braid_status adam_check(const braid_problem *p); /* a memory of 1 never learns */
void adam_draw(rng *r, braid_problem *p);

#endif
