/*
 * conv2d weight gradient, one element: dw[k][r][s][c] sums x * dy over all output pixels of all active
 * samples; dbias[k] sums dy.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/conv2d.h"

ref_value REF(conv2d_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == CONV2D_BIAS) return conv2d_dbias(p, b, i, index, conv2d_given);
    return conv2d_dw(p, b, i, index, conv2d_given);
}
