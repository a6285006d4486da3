/*
 * What the launchers of bn_stats_finalize and of the kernels that take its statistics on their way share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LAUNCH_BN_STATS_FINALIZE_LAUNCH_H
#define BRAID_KERNELS_CUDA_LAUNCH_BN_STATS_FINALIZE_LAUNCH_H

#include "kernels/cuda/tile/bn_finalize.h"
#include "kernels/cuda/launch/launch.h"

/* What bn_finalize is told of a problem of bn_stats_finalize; `b` are that op's operands. */
void bn_stats_finalize_norm(struct bn_finalize_args *args, const braid_problem *p, const buffers *b);

#endif
