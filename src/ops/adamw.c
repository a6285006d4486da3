/*
 * adamw: adam with the weight decay apart from the gradient. With lr, decay of the group of each element:
 *
 *   g = g * scale;  w = w * (1 - lr * decay)
 *   m = m + (1 - betam) * (g - m)
 *   v = betas * v + ((1 - betas) * g) * g
 *   d = sqrt(v) / sqrt(1 - betas^step) + eps
 *   w = w + (-lr / (1 - betam^step) * m) / d
 *
 * Operands are those of ops/update.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/adam.h"

static double flops(const braid_problem *p) { return 14 * (double)p->in_channels[0]; }

const op_info op_adamw = {
    .name = "adamw",
    .summary = "update of all parameters by Adam with decoupled weight decay",
    ADAM_OP,
    .flops = flops,
};
