/*
 * dropout forward, one element.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/dropout.h"

ref_value REF(dropout_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    return dropout_at(p, b, DROPOUT_X, i, index);
}
