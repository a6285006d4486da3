/*
 * How the parts of sums that warpgroups leave are grouped, for kernels and their launchers alike: see row_parts.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_ROW_PARTS_H
#define BRAID_KERNELS_CUDA_TILE_ROW_PARTS_H

#define ROW_PARTS_CHANNELS 64 /* that a warpgroup adds up */
#define ROW_PARTS_GROUP 16    /* parts that are added at once */

/* For every 64 channels: one for the groups of parts, and one for each of them. */
#define ROW_PARTS_GROUPS(parts) (((parts) + ROW_PARTS_GROUP - 1) / ROW_PARTS_GROUP)
#define ROW_PARTS_COUNTERS(parts) (1 + ROW_PARTS_GROUPS(parts))

#endif
