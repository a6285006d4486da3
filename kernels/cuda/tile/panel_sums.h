/*
 * The sizes of sums over the rows of panels, for kernels and their launchers alike: see panel_sums.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_PANEL_SUMS_H
#define BRAID_KERNELS_CUDA_TILE_PANEL_SUMS_H

/* In shared memory, of 64 columns: two sums of each column, origins, and counts of pairs of columns. */
#define PANEL_SUMS_ORIGIN_AT 512
#define PANEL_SUMS_COUNT_AT 768
#define PANEL_SUMS_BYTES 896

#endif
