/*
 * The sizes of panels, for kernels and their launchers alike: see panel.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_PANEL_H
#define BRAID_KERNELS_CUDA_TILE_PANEL_H

#define PANEL_COLUMNS 64
#define PANEL_ROW_BYTES 128
#define PANEL_PIECES 8          /* of 16 bytes, in a row */
#define PANEL_GROUP 128         /* threads that make a product together */
#define PANEL_SQUARE_BYTES 8192 /* of 64 rows */

#endif
