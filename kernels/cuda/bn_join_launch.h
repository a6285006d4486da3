/*
 * What the launchers of bn_prepare and of the kernels that take its statistics on their way share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_JOIN_LAUNCH_H
#define BRAID_KERNELS_CUDA_BN_JOIN_LAUNCH_H

#include "kernels/cuda/bn_finalize.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/sums.h"

/* What bn_finalize is told of a problem of bn_prepare; `b` are that op's operands. */
void bn_prepare_norm(struct bn_finalize_args *args, const braid_problem *p, const buffers *b);

/* The problems of an op that is made of another (0) and of bn_prepare (1). */
braid_problem bn_join_step(const braid_problem *p, int index);

/* Where plane i of a problem of bn_prepare starts in a part; of the plane behind the last: how long a part is. */
int64_t bn_join_first(const braid_problem *p, int i);

/* Those operands of bn_prepare that an op made of it has from slot `gamma` on; and its masks, of `masked` planes. */
buffers bn_join_operands(const buffers *b, int gamma, int mask, int masked);

/* Bytes of so many parts. */
braid_status bn_join_bytes(const braid_problem *p, int64_t parts, size_t *bytes);

/* Adds the parts that another kernel left, parts[i] of plane i, and does what bn_finalize does. */
braid_status bn_join_launch(const braid_problem *p, device *d, const buffers *b, const struct bn_moments *moments,
                            const int32_t parts[BRAID_MAX_PLANES]);

#endif
