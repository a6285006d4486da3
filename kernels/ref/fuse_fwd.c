/*
 * fuse forward: column by column, the feature of the stream that it belongs to times that stream's factor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/fuse.h"

ref_value REF(fuse_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    (void)i;
    int64_t sample = index / fuse_width(p), c = index % fuse_width(p);
    int stream = 0;
    while (c >= p->in_channels[stream]) c -= p->in_channels[stream++];
    const real *x = b->plane[FUSE_X][stream];
    return fuse_value(p, b, stream, sample, x[sample * p->in_pitch[stream] + c]);
}
