/*
 * The logarithms of norms that balance compares.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_BALANCE_H
#define BRAID_KERNELS_REF_BALANCE_H

#include <math.h>

#include "kernels/ref/ref.h"

static inline double balance_log(double norm) { return log(norm + BALANCE_EPS); }

#endif
