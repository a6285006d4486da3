/*
 * clip_norm: the norm of all gradients and the factor that limits it. Few are added by one block, many by some that sum
 * the squares of parts of the arena in double, of which the last makes what follows from all of them. Gradients in half
 * precision are cast to f32 on the way. The equations are in src/ops/clip_norm.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/tile/arrive.cuh"
#include "kernels/cuda/tile/pack.cuh"
#include "kernels/cuda/tile/rows.cuh"
#include "kernels/cuda/update/update.h"
#include "ops/scaling.h"

template <int width> static __device__ __forceinline__ double square_sum(const clip_norm_args &args, int64_t first) {
    float g[width];
    double sum = 0;
    pack_channels(g, args.g + first, args.count - first);
#pragma unroll
    for (int j = 0; j < width; j++) sum += (double)g[j] * (double)g[j];
    return sum;
}

/* This thread's share of a sum by `blocks` blocks. */
static __device__ __forceinline__ double share(const clip_norm_args &args) {
    double mine = 0;
    for (int64_t pack = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; 4 * pack < args.count;
         pack += args.blocks * blockDim.x) {
        if (args.vector) {
            mine += square_sum<4>(args, 4 * pack);
        } else {
            for (int64_t at = 4 * pack; at < 4 * pack + 4 && at < args.count; at++) mine += square_sum<1>(args, at);
        }
    }
    return mine;
}

#define HALVES_AHEAD 8 /* packs that a thread has on their way from memory */

/* Casts some gradients in half precision, `first` and on; the sum of their squares. */
template <int width, class number>
static __device__ __forceinline__ double cast_sum(const clip_norm_args &args, const pack<number, width> &from,
                                                  int64_t first) {
    float value[width];
    double sum = 0;
    pack_open(value, from);
    write_bytes<width * 4>(args.y + first, value);
#pragma unroll
    for (int j = 0; j < width; j++) sum += (double)value[j] * (double)value[j];
    return sum;
}

/* This thread's share of the sum over gradients in half precision. */
template <class number> static __device__ __forceinline__ double share_halves(const clip_norm_args &args) {
    const int wide = 4; /* so that one access writes them, and those of a warp side by side */
    const number *const h = (const number *)args.h;
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, step = args.blocks * blockDim.x;
    const int64_t packs = args.vector ? args.halves / wide : 0;
    double mine = 0;
    for (int64_t at = thread; at < packs; at += HALVES_AHEAD * step) {
        pack<number, wide> in[HALVES_AHEAD];
#pragma unroll
        for (int j = 0; j < HALVES_AHEAD; j++) {
            if (at + j * step < packs) in[j] = pack_read<wide>(h + (at + j * step) * wide);
        }
#pragma unroll
        for (int j = 0; j < HALVES_AHEAD; j++) {
            if (at + j * step < packs) mine += cast_sum(args, in[j], (at + j * step) * wide);
        }
    }
    for (int64_t at = packs * wide + thread; at < args.halves; at += step)
        mine += cast_sum(args, pack_read<1>(h + at), at);
    return mine;
}

/* What follows from the sum of all squares, by one thread. */
static __device__ __forceinline__ void finish(const clip_norm_args &args, double squares) {
    const double loss_scale = (double)*args.loss_scale;
    const double divisor = loss_scale * (double)args.scaling[SCALING_BATCHES], norm = sqrt(squares) / divisor;
    const double factor = args.limit > 0 ? fmin(1.0, args.limit / (norm + 1e-6)) : 1;
    const float scale = (float)(factor / divisor);
    const bool loss_is_finite = isfinite(*args.loss);
    const bool finite = isfinite((float)norm) && isfinite(scale) && loss_is_finite;
    *args.norm = (float)norm;
    *args.scale = finite ? scale : NAN;
    if (finite) *args.step += 1;
    *args.loss_scale = (float)scaling_next(loss_scale, finite, loss_is_finite, args.scaling);
}

/* Few parameters: one block does it all. */
ENTRY(clip_norm_alone, (CLIP_NORM_ALONE_THREADS), clip_norm_args, __shared__ double shared[CLIP_NORM_ALONE_THREADS];
      const double squares = row_sum(shared, share(args), CLIP_NORM_ALONE_THREADS);
      if (threadIdx.x == 0) finish(args, squares))

/* `mine`: of this thread. */
static __device__ __forceinline__ void join(const clip_norm_args &args, double mine, double *shared) {
    mine = row_sum(shared, mine, BLOCK_THREADS);
    if (threadIdx.x == 0) args.workspace[blockIdx.x] = mine;
    if (!arrives_last(args.counters, (int32_t)args.blocks)) return;
    mine = 0;
    for (int64_t block = threadIdx.x; block < args.blocks; block += BLOCK_THREADS) mine += args.workspace[block];
    mine = row_sum(shared, mine, BLOCK_THREADS);
    if (threadIdx.x == 0) finish(args, mine);
}

ENTRY(clip_norm, (BLOCK_THREADS), clip_norm_args, __shared__ double shared[BLOCK_THREADS];
      join(args, share(args), shared))
ENTRY_FORMATS(clip_norm, (BLOCK_THREADS), clip_norm_args, __shared__ double shared[BLOCK_THREADS];
              join(args, share_halves<number>(args) + share(args), shared))
