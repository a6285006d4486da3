/*
 * bn_finalize: scale, shift, center and rstd of every channel, and the running statistics. The
 * equations are in src/ops/bn_finalize.c. A thread has a channel, counted through all planes, and asks for all that it
 * needs before it writes anything. With avg=cumulative there is one block, because all planes read the count of
 * batches, which is moved on once they have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/tile/bn_finalize.cuh"

static __device__ __forceinline__ void finalize(const bn_finalize_means &all, int i, int64_t c, float factor) {
    const bn_finalize_args &args = all.norm;
    const bn_channel of = bn_channel_of(args.plane[i], c);
    const float mean = args.train ? all.mean[i][c] : of.running_mean, var = args.train ? all.var[i][c] : of.running_var;
    bn_finish(args, args.plane[i], c, of, mean, var, factor);
}

static __device__ __forceinline__ void finalize(const bn_finalize_means &all) {
    const bn_finalize_args &args = all.norm;
    const bool counts = blockIdx.x == 0 && threadIdx.x == 0 && args.train;
    const int64_t batches = args.cumulative || counts ? *args.batches : 0;
    int64_t c = (int64_t)blockIdx.x * BN_FINALIZE_THREADS + threadIdx.x;
    for (int i = 0; i < args.planes; c -= args.plane[i++].channels) {
        for (; c < args.plane[i].channels; c += (int64_t)gridDim.x * BN_FINALIZE_THREADS)
            finalize(all, i, c, bn_factor(args, i, batches));
    }
    __syncthreads();
    if (counts) *args.batches = batches + bn_counted(args);
}

ENTRY(bn_finalize, (BN_FINALIZE_THREADS), bn_finalize_means, finalize(args))
