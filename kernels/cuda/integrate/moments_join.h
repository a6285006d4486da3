/*
 * How the parts of statistics are grouped, for kernels and their launchers alike: see moments_join.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_MOMENTS_JOIN_H
#define BRAID_KERNELS_CUDA_INTEGRATE_MOMENTS_JOIN_H

#include <stdint.h>

struct bn_moments;

/* Parts of which `columns` blocks made one each, in the order of the blocks: [part][pitch], the channels of all planes
 * one after the other. A block has the same channels in all parts, those of its column. */
struct moments_parts {
    struct bn_moments *moments;
    uint32_t *counters; /* for each column one for the groups and one for each of them; then one for the columns */
    int32_t pitch, parts, columns;
    int32_t group; /* parts of a group */
};

/* How many groups there are. */
#define MOMENTS_GROUPS(all) (((all).parts + (all).group - 1) / (all).group)

#define MOMENTS_COUNTERS(all) ((all).columns * (1 + MOMENTS_GROUPS(all)) + 1)

#endif
