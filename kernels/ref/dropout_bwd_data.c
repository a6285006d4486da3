/*
 * dropout gradient, one element: what was kept, with the bits made again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/dropout.h"

ref_value REF(dropout_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    return dropout_at(p, b, DROPOUT_Y, i, index);
}
