/*
 * The sizes of trees of sums, for kernels and their launchers alike: see sum_tree.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SUM_TREE_H
#define BRAID_KERNELS_CUDA_TILE_SUM_TREE_H

#define SUM_TREE_GROUP 128 /* threads that have one part together, four whole warps */
#define SUM_TREE_SLICES 4  /* counters of a group and part */

/* Parts up to which the tree is faster than a second launch. Measured on an H200 with parts of 147 KB: a level of it
 * takes 3 us and more, a second launch 5 to 8 us in all. */
#define SUM_TREE_FEW 4

#endif
