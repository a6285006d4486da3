/*
 * The data gradient of fuse: the columns of dy that belong to a stream, times its factor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/fuse.h"

ref_value REF(fuse_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    int64_t sample = index / p->in_channels[i], c = index % p->in_channels[i];
    const real *dy = b->plane[FUSE_Y][0];
    return fuse_value(p, b, i, sample, dy[sample * fuse_width(p) + fuse_column(p, i) + c]);
}
