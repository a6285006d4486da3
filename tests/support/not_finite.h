/*
 * Data that is not finite: an output of a kernel of our own is finite exactly where the reference's is, with infinities
 * or NaN in the samples of some planes. What a kernel may multiply with the zeros of a padding stays finite
 * (parameters, which may also meet a sum over no sample, and the dy of a weight gradient with such a padding), and
 * kernels of Winograd's are left out, whose tiles share what their pixels hold.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_NOT_FINITE_H
#define BRAID_TESTS_NOT_FINITE_H

#include "core/rng.h"
#include "kernels/kernel.h"

/* One problem: the reference on the CPU, then every kernel of the device's kind that takes it on the same planes; a
 * difference fails the test. Returns how many took part. `only`: no other kernel; NULL: all. */
int not_finite_judge(const braid_problem *p, device *cpu, device *d, const kernel *only, rng *numbers);

#endif
