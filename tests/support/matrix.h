/*
 * What the support matrices of the CPU (tests/plan/support.c) and of CUDA (tests/emu/support.c) share: the problems
 * that an op, pass and dtype is asked, and what a fast path is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_SUPPORT_MATRIX_H
#define BRAID_TESTS_SUPPORT_MATRIX_H

#include "kernels/kernel.h"

#define MATRIX_DRAWN 48 /* random problems of an op, pass and dtype, beside those of its case file */

/* Those of the case file and random ones. The caller frees them. */
braid_problem *matrix_problems(braid_op_id op, braid_pass pass, braid_dtype dtype, int *count);

/* 1 where a kernel of ours does a problem on a device, or a chain whose steps each have a fast path there. Vendor
 * libraries may be missing and do not count. */
int matrix_has_fast_path(const braid_problem *p, const device *d);

#endif
