/*
 * The kernels that a context has chosen lately, problem by problem: what the chain of a fused op runs
 * its steps with.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_RACE_CHOICES_H
#define BRAID_RACE_CHOICES_H

#include "race/context.h"

/* Remembers the choice for a checked problem; the oldest one is forgotten when there are many. */
void choices_remember(braid_context *context, const braid_problem *p, const kernel *k);

/* The choice for a checked problem: as remembered, else from wisdom; NULL: nothing is known, or the same bits are asked
 * for at any number of threads, whatever was measured. `context` is a braid_context: these two are the chooser of its
 * device. */
const kernel *choices_find(void *context, const braid_problem *p);
const char *choices_exclude(const void *context, const kernel *k);

#endif
