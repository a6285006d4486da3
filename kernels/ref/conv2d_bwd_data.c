/*
 * conv2d data gradient, one element: dx[b][h][w][c] gathers every output that read this input.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/conv2d.h"

ref_value REF(conv2d_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    return conv2d_dx(p, b, i, index, conv2d_given);
}
