/*
 * maxpool forward, one element: the value that the window takes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/maxpool.h"

ref_value REF(maxpool_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[MAXPOOL_X][i];
    int64_t height = maxpool_out_size(p, 0), width = maxpool_out_size(p, 1);
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    int64_t taken = maxpool_taken(p, x, i, c, pixel / width / height, pixel / width % height, pixel % width);
    return (ref_value){taken < 0 ? -INFINITY : (double)x[taken * p->in_pitch[i] + c], 0};
}
