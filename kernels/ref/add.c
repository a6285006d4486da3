/*
 * add, one element: y = x + z.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(add)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[ADD_X][i], *z = b->plane[ADD_Z][i];
    int64_t at = index / p->in_channels[i] * p->in_pitch[i] + index % p->in_channels[i];
    return (ref_value){x[at] + z[at], fabs(x[at]) + fabs(z[at])};
}
