/*
 * Gradients by finite differences, in double through the reference kernels: of L = <forward(inputs), v> with
 * a random v, every element of an input is moved by h both ways, and (L+ - L-) / 2h is held against
 * what the backward ops give for dy = v.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_GRADIENTS_H
#define BRAID_TESTS_GRADIENTS_H

#include "tests/support/cases.h"
#include "tests/support/rig.h"

#define GRADIENT_STEP 1e-6

/* 1 where an analytic and a numeric derivative agree: |a - n| <= 1e-5 + 1e-3 |n|. */
int gradient_agrees(double analytic, double numeric);

/* Checks every element of one operand against its gradient, which is of the same shape: `gradient` in rig `of`. value
 * gives L from the context. Counts one case in the suite. */
typedef double (*loss_function)(void *context);
void check_gradient(suite *s, const char *what, rig *inputs, int slot, const rig *of, int gradient, loss_function value,
                    void *context);

/* Every gradient that the passes of an op with one output give. `text` is the forward problem in f64. */
void check_all_gradients(suite *s, const char *text);

#endif
