/*
 * Kernels that make every output value from the input values at its own place: the walk over the chunks of
 * all streams, once for all of them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_POINTWISE_H
#define BRAID_KERNELS_CPU_TILE_POINTWISE_H

#include "kernels/cpu/tile/chunks.h"

#define POINTWISE_NONE (-1) /* in place of a slot */

/* One launch. Blanked samples and lanes behind the channels become zero. Slot 0 is never y or also. */
typedef struct pointwise {
    const chunks *k; /* the state */
    const buffers *b;
    channel_kind kind;
    int x, z, out, mask; /* slots; z and mask may be POINTWISE_NONE */
    const float *coefficient[BRAID_MAX_PLANES][CHANNEL_COEFFICIENTS];
    int y, also; /* slots of the kinds that have them; 0 in others */
} pointwise;

/* Outputs that do not fit the last cache of the device are stored past it. */
void pointwise_run(const pointwise *a, const device *d);

#endif
