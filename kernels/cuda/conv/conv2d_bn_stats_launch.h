/*
 * What the launchers of conv2d_bn_stats share: one launch makes y, takes its statistics on the way and does what
 * bn_finalize does.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_CONV2D_BN_STATS_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV_CONV2D_BN_STATS_LAUNCH_H

#include "kernels/cuda/tile/bn_finalize.h"
#include "kernels/cuda/launch/launch.h"

/* The convolution of a problem of conv2d_bn_stats. */
braid_problem conv2d_bn_stats_conv(const braid_problem *p);

/* What bn_finalize is told of it; `b` are its operands. */
struct bn_finalize_args conv2d_bn_stats_norm(const braid_problem *p, const buffers *b);

/* Bytes of so many parts of the statistics of all streams. */
braid_status conv2d_bn_stats_bytes(const braid_problem *p, int64_t parts, size_t *bytes);

#endif
