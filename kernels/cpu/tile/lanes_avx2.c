/*
 * The loops of lanes.h for AVX2.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx2.h"

#include "kernels/cpu/tile/lanes_body.h"

const lanes lanes_avx2 = {"avx2", 14e9, sums, scale_shift, gradient};
