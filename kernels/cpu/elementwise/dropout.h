/*
 * The pass of dropout, for both directions: numbers of one operand, kept or dropped, become another.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ELEMENTWISE_DROPOUT_H
#define BRAID_KERNELS_CPU_ELEMENTWISE_DROPOUT_H

#include "kernels/kernel.h"

/* `state` is that of flat_parts_create; from and to are slots. */
void dropout_run(const braid_problem *p, const void *state, const buffers *b, int from, int to);

#endif
