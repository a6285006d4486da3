/*
 * Kernels that make every output value from the input values at its own place: the walk over the chunks of
 * all streams, once for all of them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_POINTS_H
#define BRAID_KERNELS_CPU_TILE_POINTS_H

#include "kernels/cpu/tile/chunks.h"

#define POINTS_NONE (-1) /* in place of a slot */

/* One launch. Blanked samples and lanes behind the channels become zero. Slot 0 is never y or also. */
typedef struct points {
    const chunks *k; /* the state */
    const buffers *b;
    lanes_kind kind;
    int x, z, out, mask; /* slots; z and mask may be POINTS_NONE */
    const float *coefficient[BRAID_MAX_PLANES][LANES_COEFFICIENTS];
    int y, also; /* slots of the kinds that have them; 0 in others */
} points;

/* Outputs that do not fit the last cache of the device are stored past it. */
void points_run(const points *a, const device *d);

#endif
