/*
 * sgd, adam, adamw and rmsprop: all parameters in one launch, their copies in f16 or bf16 written by it. The equations
 * are in src/ops/sgd.c, adam.c, adamw.c and rmsprop.c. An element finds its group by halves in the sorted segments.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "braid.h"
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/tile/pack.cuh"
#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/update/update.h"

/* What is the same for all elements. */
struct update_factors {
    float scale;
    float mean, root; /* adam: 1 / (1 - beta_mean^step), sqrt(1 - beta_square^step) */
};

struct update_element {
    float w, g, m, v, rate, decay;
};

struct sgd_rule {
    static __device__ __forceinline__ void apply(update_element &e, const update_args &args, const update_factors &) {
        float g = e.g + e.decay * e.w;
        if (args.momentum > 0) {
            e.m = args.momentum * e.m + g;
            g = args.nesterov ? g + args.momentum * e.m : e.m;
        }
        e.w += -e.rate * g;
    }
};

/* The step of adam and adamw once the decay has gone into g or w. */
static __device__ __forceinline__ void adam_step(update_element &e, float g, const update_args &args,
                                                 const update_factors &factors) {
    e.m += (float)(1 - args.beta_mean) * (g - e.m);
    e.v = (float)args.beta_square * e.v + (float)(1 - args.beta_square) * g * g;
    e.w += -e.rate * factors.mean * e.m / (sqrtf(e.v) / factors.root + args.eps);
}

struct adam_rule {
    static __device__ __forceinline__ void apply(update_element &e, const update_args &args,
                                                 const update_factors &factors) {
        adam_step(e, e.g + e.decay * e.w, args, factors);
    }
};

struct adamw_rule {
    static __device__ __forceinline__ void apply(update_element &e, const update_args &args,
                                                 const update_factors &factors) {
        e.w *= 1 - e.rate * e.decay;
        adam_step(e, e.g, args, factors);
    }
};

struct rmsprop_rule {
    static __device__ __forceinline__ void apply(update_element &e, const update_args &args, const update_factors &) {
        const float g = e.g + e.decay * e.w;
        e.v = args.alpha * e.v + (1 - args.alpha) * g * g;
        const float divisor = sqrtf(e.v) + args.eps;
        if (args.momentum > 0) {
            e.m = args.momentum * e.m + g / divisor;
            e.w += -e.rate * e.m;
        } else {
            e.w += -e.rate * g / divisor;
        }
    }
};

/* The last segment that begins at the element or before it; the first begins at 0. */
static __device__ __forceinline__ int64_t find_segment(const update_args &args, int64_t element) {
    int64_t low = 0, high = args.segment_count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (args.segments[2 * middle] <= element) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

template <int width>
static __device__ __forceinline__ void write_half(const update_args &args, int64_t first, const float (&w)[width],
                                                  int64_t inside) {
    if (!args.half) return;
    if (args.half_dtype == BRAID_DTYPE_F16) {
        pack_put((f16 *)args.half + first, w, inside);
    } else {
        pack_put((bf16 *)args.half + first, w, inside);
    }
}

template <class rule, int width>
static __device__ __forceinline__ void update_pack(const update_args &args, const update_factors &factors,
                                                   int64_t first) {
    const int64_t inside = args.count - first;
    int64_t segment = find_segment(args, first);
    float w[width], g[width], m[width], v[width];
    pack_channels(w, args.w + first, inside);
    pack_channels(g, args.g + first, inside);
    pack_channels(m, args.m ? args.m + first : nullptr, inside);
    pack_channels(v, args.v ? args.v + first : nullptr, inside);
#pragma unroll
    for (int j = 0; j < width; j++) {
        while (segment + 1 < args.segment_count && args.segments[2 * segment + 2] <= first + j) segment++;
        const float *hyper = args.hyper + 3 * args.segments[2 * segment + 1];
        if (hyper[2] == 0 || !isfinite(factors.scale)) continue; /* frozen, or the whole update is skipped */
        update_element e = {w[j], g[j] * factors.scale, m[j], v[j], hyper[0], hyper[1]};
        rule::apply(e, args, factors);
        w[j] = e.w;
        m[j] = e.m;
        v[j] = e.v;
    }
    pack_put((f32 *)args.w + first, w, inside);
    if (args.m) pack_put((f32 *)args.m + first, m, inside);
    if (args.v) pack_put((f32 *)args.v + first, v, inside);
    write_half(args, first, w, inside);
}

template <class rule> static __device__ __forceinline__ void update(const update_args &args, update_factors *shared) {
    const double step = *args.step < 1 ? 1 : (double)*args.step; /* 1 - beta^step: slow, so one thread has each */
    if (threadIdx.x == 0) shared->mean = (float)(-1 / expm1(step * args.log_mean));
    if (threadIdx.x == 32) shared->root = (float)sqrt(-expm1(step * args.log_square));
    if (threadIdx.x == 64) shared->scale = *args.scale;
    __syncthreads();
    const update_factors factors = *shared;
    for (int j = 0; j < args.packs; j++) {
        const int64_t pack = ((int64_t)blockIdx.x * args.packs + j) * BLOCK_THREADS + threadIdx.x;
        if (4 * pack >= args.count) break;
        if (args.vector) {
            update_pack<rule, 4>(args, factors, 4 * pack);
        } else {
            for (int64_t at = 4 * pack; at < 4 * pack + 4 && at < args.count; at++)
                update_pack<rule, 1>(args, factors, at);
        }
    }
}

ENTRY(sgd, (BLOCK_THREADS), update_args, __shared__ update_factors shared; update<sgd_rule>(args, &shared))
ENTRY(adam, (BLOCK_THREADS), update_args, __shared__ update_factors shared; update<adam_rule>(args, &shared))
ENTRY(adamw, (BLOCK_THREADS), update_args, __shared__ update_factors shared; update<adamw_rule>(args, &shared))
ENTRY(rmsprop, (BLOCK_THREADS), update_args, __shared__ update_factors shared; update<rmsprop_rule>(args, &shared))
