/*
 * fuse weight gradient, in two launches: t_i = the sum of x_i * dy_i for every sample and stream, a block to a sample;
 * and dlogits from them, by one block. The equation is in kernels/ref/fuse_bwd_weight.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/elementwise/fuse.cuh"
#include "kernels/cuda/tile/rows.cuh"

template <class number> static __device__ __forceinline__ void fuse_products(const fuse_args &args, double *shared) {
    const int64_t sample = blockIdx.x;
    for (int i = 0; i < args.planes; i++) {
        const auto &plane = args.plane[i];
        const number *x = (const number *)plane.x + sample * plane.pitch;
        const number *dy = (const number *)args.dy + sample * args.width + args.column[i];
        double sum = 0;
        for (int64_t c = threadIdx.x; c < plane.channels; c += BLOCK_THREADS)
            sum += (double)load(x + c) * (double)load(dy + c);
        sum = row_sum(shared, sum, BLOCK_THREADS);
        if (threadIdx.x == 0) args.products[sample * args.planes + i] = sum;
    }
}

/* The logits of one softmax: from t, its products. */
static __device__ __forceinline__ void fuse_logits(const fuse_args &args, const double *t, int64_t sample,
                                                   double scale) {
    double mean = 0;
    for (int i = 0; i < args.planes; i++) mean += fuse_share(args, i, sample) * t[i];
    for (int i = 0; i < args.planes; i++) {
        const double value = scale * fuse_share(args, i, sample) * (t[i] - mean);
        args.dlogits[sample * args.planes + i] = (float)value;
    }
}

ENTRY(
    fuse_dlogits, (BLOCK_THREADS), fuse_args, __shared__ double shared[BLOCK_THREADS];
    if (args.fusion == BRAID_FUSION_GATED) {
        for (int64_t sample = threadIdx.x; sample < args.map.batch; sample += BLOCK_THREADS)
            fuse_logits(args, args.products + sample * args.planes, sample, 1);
        return;
    } double t[BRAID_MAX_PLANES];
    for (int i = 0; i < args.planes; i++) {
        double sum = 0;
        for (int64_t sample = threadIdx.x; sample < args.map.batch; sample += BLOCK_THREADS)
            sum += args.products[sample * args.planes + i];
        t[i] = row_sum(shared, sum, BLOCK_THREADS);
    } if (threadIdx.x == 0) fuse_logits(args, t, 0, args.planes))
ENTRY_FORMATS(fuse_products, (BLOCK_THREADS), fuse_args, __shared__ double shared[BLOCK_THREADS];
              fuse_products<number>(args, shared))
