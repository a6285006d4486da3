/*
 * Properties of the ops that multiply data by weights: conv2d, linear, matmul and, where it is said, integrate.
 * The slots of x and w have the same numbers. All are equalities: the inputs are small integers, or the sums have one
 * term.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_PRODUCT_PROPERTIES_H
#define BRAID_TESTS_PRODUCT_PROPERTIES_H

#include "tests/support/cases.h"

/* <forward(x, w), y> = <x, bwd_data(y, w)> = <w, bwd_weight(x, y)>; of integrate, x is all data and w all weights. */
outcome passes_are_adjoint(trial *t);

/* f(u + v) + f(0) = f(u) + f(v), in the data and in the weights. */
outcome outputs_are_linear(trial *t);

/* With `add`, which the problem has not, outputs are what they are without it and their addends: `count` pairs of an
 * output's slot and an addend's. */
outcome addends_are_added(trial *t, int add, const int (*pairs)[2], int count);

/* The same bits come out where each output lies in the memory of its addend. Of kernels of the CPU. */
outcome addends_may_be_outputs(trial *t, int add, const int (*pairs)[2], int count);

#endif
