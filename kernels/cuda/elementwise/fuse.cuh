/*
 * The share of a stream in fuse: softmax of the logits, of those of one sample where gated; in double, for they are
 * few.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_ELEMENTWISE_FUSE_CUH
#define BRAID_KERNELS_CUDA_ELEMENTWISE_FUSE_CUH

#include <math.h>

#include "kernels/cuda/elementwise/fuse.h"
#include "kernels/cuda/tile/pixels.cuh"

static __device__ __forceinline__ double fuse_share(const fuse_args &args, int i, int64_t sample) {
    const float *logits = args.logits + (args.fusion == BRAID_FUSION_GATED ? sample * args.planes : 0);
    double most = (double)logits[0], sum = 0;
    for (int j = 1; j < args.planes; j++) most = fmax(most, (double)logits[j]);
    for (int j = 0; j < args.planes; j++) sum += exp((double)logits[j] - most);
    return exp((double)logits[i] - most) / sum;
}

/* What the features of stream i are multiplied by. */
static __device__ __forceinline__ float fuse_factor(const fuse_args &args, int i, int64_t sample) {
    if (args.fusion == BRAID_FUSION_CONCAT) return 1;
    const double share = fuse_share(args, i, sample);
    return (float)(args.fusion == BRAID_FUSION_WEIGHTED ? args.planes * share : share);
}

#endif
