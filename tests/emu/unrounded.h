/*
 * What a kernel of TF32 makes of numbers that are not TF32: the same as of the rounded ones. Checks against the
 * reference give it rounded numbers only, so that its products are exact there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_UNROUNDED_H
#define BRAID_TESTS_EMU_UNROUNDED_H

#include "kernels/kernel.h"

/* Runs the kernel on real numbers and on the same ones rounded to TF32. `failure` says in words what differs; it stays
 * empty where nothing does. */
braid_status unrounded_differs(const kernel *k, device *d, const braid_problem *p, char *failure, size_t size);

#endif
