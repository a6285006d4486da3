/*
 * What the launchers of normalisation share: the division of the pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_LAUNCH_H
#define BRAID_KERNELS_CUDA_BN_LAUNCH_H

#include "kernels/cuda/bn.h"
#include "kernels/cuda/launch.h"

/* Both return 0 where the blocks are too many for one launch. */
int bn_fill_columns(struct bn_columns *columns, const braid_problem *p);
int bn_fill_pixels(struct bn_pixels *pixels, const braid_problem *p);

/* `supports` of the sums and of the kernels that make every element. */
const char *bn_refuses_columns(const braid_problem *p, const device *d);
const char *bn_refuses_pixels(const braid_problem *p, const device *d);

/* Bytes of the workspace of a sum of `element_bytes` per channel and part. */
braid_status bn_workspace(const braid_problem *p, size_t element_bytes, size_t *bytes);

/* `destroy` of the sums, which keep nothing. */
void bn_destroy(device *d, void *state);

#endif
