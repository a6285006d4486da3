/*
 * A call of one op through the public interface, for tests that state a rule and look whether it holds: an op, memory
 * for every operand, values by plain index, and a run on any candidate. Whatever fails, fails the test.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_CALLS_H
#define BRAID_TESTS_CALLS_H

#include "braid.h"
#include "tests/support/given.h"

#define CALL_MAX_KERNELS 32

typedef struct call {
    braid_context *context;
    braid_op *op;
    given_memory memory;
    const char *kernels[CALL_MAX_KERNELS]; /* the candidates that can do it */
    int kernel_count;
} call;

/* The problem is a printf-style text. Every operand is zero. */
__attribute__((format(printf, 2, 3))) call call_open(braid_context *context, const char *format, ...);
void call_close(call *c);

/* Plane i of an operand: its elements and their values, in order; the planes are dense. */
int64_t call_count(const call *c, const char *name, int i);
double call_get(call *c, const char *name, int i, int64_t index);
void call_set(call *c, const char *name, int i, int64_t index, double value); /* rounded once */
void call_set_all(call *c, const char *name, double value);

/* Values from -1 to 1 in every plane of an operand. */
void call_fill(call *c, const char *name, uint64_t seed);

/* All planes of an operand from those of another call's, which must be of the same size. */
void call_copy(call *to, const char *name, call *from, const char *from_name);

/* Blanks sample b of stream i. */
void call_blank(call *c, int i, int64_t b);

/* Poisons the outputs (not those that are also inputs) and runs a candidate; NULL: the one that a plan by estimate
 * takes. */
void call_run(call *c, const char *kernel);

/* got is want but for `share` of the largest magnitude of want; NaN is not. */
void assert_near(call *got, const char *kernel, const char *name, int i, const double *want, double share);

#endif
