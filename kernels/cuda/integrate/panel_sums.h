/*
 * The sizes of sums over the rows of panels, for kernels and their launchers alike: see panel_sums.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_PANEL_SUMS_H
#define BRAID_KERNELS_CUDA_INTEGRATE_PANEL_SUMS_H

/* In shared memory, of 64 columns: two sums of eight columns for each lane, origins, and counts of each lane. */
#define PANEL_SUMS_SQUARE_AT 1024
#define PANEL_SUMS_ORIGIN_AT 2048
#define PANEL_SUMS_COUNT_AT 2304
#define PANEL_SUMS_BYTES 2432

#endif
