/*
 * The loops of lanes.h for any processor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_portable.h"

#include "kernels/cpu/tile/lanes_body.h"

const lanes lanes_portable = {"portable", 8e9, sums, scale_shift, gradient};
