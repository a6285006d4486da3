/*
 * bias, one element: y = x + bias.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(bias_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[BIAS_X][i], *bias = b->plane[BIAS_BIAS][i];
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i], at = pixel * p->in_pitch[i] + c;
    if (mask_blanks(b->plane[BIAS_MASK][i], pixel / (p->size[0] * p->size[1]))) return (ref_value){0, 0};
    return (ref_value){x[at] + bias[c], fabs(x[at]) + fabs(bias[c])};
}
