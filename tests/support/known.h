/*
 * Situations with known answers for ops of a forward pass and a data gradient (activations, pooling): a small
 * problem, inputs typed in, every kernel that can do it, and outputs compared to the bit or within a tolerance.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_KNOWN_H
#define BRAID_TESTS_KNOWN_H

#include "tests/support/cases.h"
#include "tests/support/rig.h"

typedef struct known {
    suite *s;
    const char *text; /* of the problem */
    rig rig;
} known;

/* Plays with every kernel that can do the problem; it is a failure when there is none. */
void known_each(suite *s, const char *text, void (*play)(known *k));

/* Sets the first values of plane 0 of an operand, runs, and compares its outputs. NaN equals NaN, and the sign of zero
 * counts; a tolerance of 0 wants equality. */
void known_set(known *k, int slot, const double *values, int count);
int known_run(known *k);
void known_expect(known *k, int slot, const double *values, int count, double tolerance);

/* The gradient of x by finite differences: `text` is the forward problem in f64, and `spread` moves x away from places
 * without a derivative (NULL: there are none). Slots: x and y of the forward pass, dx of the data gradient. */
void known_gradient(suite *s, const char *text, const int slots[3], void (*spread)(rig *r));

/* A problem that must be refused in these words. */
void known_refused(suite *s, const char *text, const char *words);

#endif
