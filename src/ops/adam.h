/*
 * What adam and adamw share: fields, state and random problems. They differ in where the weight decay goes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_ADAM_H
#define BRAID_OPS_ADAM_H

#include "ops/update.h"

#define ADAM_FIELDS (UPDATE_FIELDS | FIELD_BIT(betam) | FIELD_BIT(betas) | FIELD_BIT(eps))
#define ADAM_REALS \
    {FIELD_betam, 0.9, 1}, {FIELD_betas, 0.999, 1}, { FIELD_eps, 1e-8, 1 }

int adam_planes(const braid_problem *p, int slot);
braid_status adam_check(const braid_problem *p); /* a memory of 1 never learns */
void adam_draw(rng *r, braid_problem *p);

#endif
