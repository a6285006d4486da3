/*
 * Statistics of numbers whose mean is a thousand times their deviation, where a sum of squares would lose the variance,
 * and of numbers that are all alike, whose variance is 0 and must not be less.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_LARGE_MEAN_H
#define BRAID_TESTS_EMU_LARGE_MEAN_H

#include "kernels/kernel.h"

/* Runs a kernel of conv2d_bn_stats or integrate_bn_stats with filters that hand on the first channel of what they are
 * given; in bf16 on pixels that are all alike, for which there is no padding. `failure` says in words what its
 * statistics miss; it stays empty where they hold. */
braid_status large_mean_loses(const kernel *k, device *d, const braid_problem *p, char *failure, size_t size);

#endif
