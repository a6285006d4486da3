/*
 * Sums over all elements in double: those of blocks, and by the last of these what follows from all of them: the mean
 * of (x - t)^2 of mse, and the norms of the streams of balance with the variance of their logarithms.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/loss/totals.h"
#include "kernels/cuda/tile/arrive.cuh"
#include "kernels/cuda/tile/pixels.cuh"
#include "kernels/cuda/tile/rows.cuh"

/* In what the squares of one pack are added: those of halves have few digits. */
template <class number> struct pack_total { typedef float type; };
template <> struct pack_total<f32> { typedef double type; };

/* Bodies that add up what they see and write nothing. */
template <class number, int width> struct squares : pixel_body<number, width, balance_fwd_args> {
    typedef pack<number, width> inputs;
    double sum;
    __device__ __forceinline__ squares(const balance_fwd_args &all, int i)
        : pixel_body<number, width, balance_fwd_args>(all, i), sum(0) {}
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
    __device__ __forceinline__ void make(const inputs &x, int64_t, int64_t c, int64_t) {
        typedef typename pack_total<number>::type total;
        float value[width];
        total mine = 0;
        pack_open(value, x);
#pragma unroll
        for (int j = 0; j < width; j++) {
            if (c + j < this->plane.channels) mine += (total)value[j] * (total)value[j];
        }
        sum += (double)mine;
    }
    __device__ __forceinline__ void blank(int64_t) const {}
};

template <class number, int width> struct distances : pixel_body<number, width, mse_fwd_args> {
    struct inputs {
        pack<number, width> x, t;
    };
    double sum;
    __device__ __forceinline__ distances(const mse_fwd_args &all, int i)
        : pixel_body<number, width, mse_fwd_args>(all, i), sum(0) {}
    __device__ __forceinline__ void fetch(inputs &in, int64_t at) const {
        in.x = this->take(this->plane.x, at);
        in.t = this->take(this->plane.t, at);
    }
    __device__ __forceinline__ void make(const inputs &in, int64_t, int64_t c, int64_t) {
        typedef typename pack_total<number>::type total;
        float x[width], t[width];
        total mine = 0;
        pack_open(x, in.x);
        pack_open(t, in.t);
#pragma unroll
        for (int j = 0; j < width; j++) {
            const total away = (total)x[j] - (total)t[j];
            if (c + j < this->plane.channels) mine += away * away;
        }
        sum += (double)mine;
    }
    __device__ __forceinline__ void blank(int64_t) const {}
};

template <template <class, int> class body, class number, class argument>
static __device__ __forceinline__ double totals_of_block(const argument &args, double *shared) {
    const pixel_work work = pixel_work_find(args);
    double sum;
    if (args.map.vector[work.plane]) {
        body<number, widest<number>::width> of(args, work.plane);
        pixels_run(of, work);
        sum = of.sum;
    } else {
        body<number, 1> of(args, work.plane);
        pixels_run(of, work);
        sum = of.sum;
    }
    return row_sum(shared, sum, BLOCK_THREADS);
}

/* True in the block that comes last, to which all sums are known. Without an element there is one block. */
template <template <class, int> class body, class number, class argument>
static __device__ __forceinline__ bool totals_kernel(const argument &args, double *shared) {
    if (args.map.first_block[BRAID_MAX_PLANES] > 0) {
        const double sum = totals_of_block<body, number>(args, shared);
        if (threadIdx.x == 0) args.totals[blockIdx.x] = sum;
    }
    return arrives_last(args.counters, (int32_t)gridDim.x);
}

/* The sum of the blocks of a plane, by one block. */
template <class argument>
static __device__ __forceinline__ double totals_of(const argument &args, int i, double *shared) {
    double mine = 0;
    for (int64_t block = args.map.first_block[i] + (int32_t)threadIdx.x; block < args.map.first_block[i + 1];
         block += BLOCK_THREADS)
        mine += args.totals[block];
    return row_sum(shared, mine, BLOCK_THREADS);
}

static __device__ __forceinline__ void mse_mean(const mse_fwd_args &args, double *shared) {
    const double sum = totals_of(args, 0, shared),
                 count = (double)args.map.sample_pixels * (double)args.plane[0].channels;
    if (threadIdx.x == 0) *args.loss = count > 0 ? (float)(sum / count) : 0;
}

static __device__ __forceinline__ void balance_variance(const balance_fwd_args &args, double *shared) {
    double logs[BRAID_MAX_PLANES], mean = 0, variance = 0;
    for (int i = 0; i < args.planes; i++) {
        const double norm = sqrt(totals_of(args, i, shared));
        if (threadIdx.x == 0) args.norms[i] = (float)norm;
        logs[i] = log(norm + args.eps);
        mean += (logs[i] - logs[0]) / args.planes; /* about the first, so that equal streams give exactly 0 */
    }
    for (int i = 0; i < args.planes; i++) {
        const double away = logs[i] - logs[0] - mean;
        variance += away * away / (args.planes - 1);
    }
    if (threadIdx.x == 0) *args.loss = (float)variance;
}

ENTRY_FORMATS(mse_distances, (BLOCK_THREADS), mse_fwd_args, __shared__ double shared[BLOCK_THREADS];
              if (totals_kernel<distances, number>(args, shared)) mse_mean(args, shared))
ENTRY_FORMATS(balance_squares, (BLOCK_THREADS), balance_fwd_args, __shared__ double shared[BLOCK_THREADS];
              if (totals_kernel<squares, number>(args, shared)) balance_variance(args, shared))
