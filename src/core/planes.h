/*
 * Planes: the memory of one activation of all streams. Stream i is an NHWC tensor [B][H][W][C_i]
 * whose pixels lie pitch_i elements apart, at its own 256-byte aligned offset in one allocation.
 * A view [first, count) of planes is planes again, so a convolution can see the n streams of a
 * value whose last plane is the integrated pathway.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_PLANES_H
#define BRAID_CORE_PLANES_H

#include "core/status.h"

typedef struct planes {
    int count;
    braid_dtype dtype;
    int64_t batch, height, width;
    int64_t channels[BRAID_MAX_PLANES];
    int64_t pitch[BRAID_MAX_PLANES]; /* elements between pixels, >= channels */
    size_t offset[BRAID_MAX_PLANES]; /* bytes from the base */
    size_t bytes;                    /* of all planes, alignment included */
} planes;

/* Lays `count` planes side by side. pitch may be NULL: equal to the channels. */
braid_status planes_lay(planes *out, braid_dtype dtype, const int64_t shape_bhw[3], int count, const int64_t *channels,
                        const int64_t *pitch);

/* The smallest pitch that starts every pixel on a 16-byte boundary. */
int64_t planes_pitch16(int64_t channels, braid_dtype dtype);

/* Planes [first, first + count) of `from`: same base pointer, same offsets. */
braid_status planes_view(planes *out, const planes *from, int first, int count);

/* Where plane i starts, given the base of the allocation. */
void *planes_at(const planes *p, void *base, int i);

#endif
