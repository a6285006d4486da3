/*
 * The loops of lanes.h for AVX-512.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx512.h"

#include "kernels/cpu/tile/lanes_body.h"

const lanes lanes_avx512 = {"avx512", 16e9, sums, scale_shift, gradient};
