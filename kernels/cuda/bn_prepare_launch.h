/*
 * What the launchers of bn_prepare and of the kernels that take its statistics on their way share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_PREPARE_LAUNCH_H
#define BRAID_KERNELS_CUDA_BN_PREPARE_LAUNCH_H

#include "kernels/cuda/bn_finalize.h"
#include "kernels/cuda/launch.h"

/* What bn_finalize is told of a problem of bn_prepare; `b` are that op's operands. */
void bn_prepare_norm(struct bn_finalize_args *args, const braid_problem *p, const buffers *b);

#endif
