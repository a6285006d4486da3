/*
 * Properties and situations of the losses over classes: see tests/support/cases.h and known.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_CLASS_PROPERTIES_H
#define BRAID_TESTS_CLASS_PROPERTIES_H

#include "tests/support/cases.h"
#include "tests/support/known.h"

/* The gradients of a row add up to 0: a constant added to all logits changes nothing. f32 and f64. */
outcome rows_add_up_to_zero(trial *t);

/* NaN in the rows of ignored samples changes no bit, and their gradients are exactly 0. */
outcome ignored_samples_do_not_leak(trial *t);

/* Sets logits and labels, runs, and expects loss and right answers. The tolerance is a share of the loss. */
void class_expect(known *k, const double *x, const double *labels, double loss, double correct);

/* Logits of +-1e4, ties, infinities, NaN, one class, samples that are ignored and labels that are no class: what both
 * losses agree in. `op` is the name; problems have default options. */
void class_scenarios(suite *s, const char *op);

#endif
