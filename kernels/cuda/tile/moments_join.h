/*
 * How the parts of statistics are grouped, for kernels and their launchers alike: see moments_join.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_MOMENTS_JOIN_H
#define BRAID_KERNELS_CUDA_TILE_MOMENTS_JOIN_H

#define MOMENTS_GROUP_PARTS 16

/* One for the groups, and one for each of them. */
#define MOMENTS_JOIN_COUNTERS(parts) (1 + ((parts) + MOMENTS_GROUP_PARTS - 1) / MOMENTS_GROUP_PARTS)

#endif
