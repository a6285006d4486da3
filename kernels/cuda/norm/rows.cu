/*
 * layernorm and rownorm, forward and data gradient: a row, the channels of a pixel, belongs to some lanes of a block.
 * Sums are made in double and in two passes, so that neither a mean far from zero nor a large value costs digits. The
 * equations are in kernels/ref/layernorm_*.c and kernels/ref/rownorm_*.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/norm/rows.h"
#include "kernels/cuda/tile/pixels.cuh"
#include "kernels/cuda/tile/rows.cuh"

/* The row of this thread. */
template <class number, class argument> struct row_work {
    decltype(((const argument *)0)->plane[0]) plane; /* a reference */
    int64_t row;
    int32_t lane, lanes;
    bool live; /* not beyond the last row */
    double *shared;
    __device__ __forceinline__ row_work(const argument &args, double *room)
        : row_work(args, schedule_plane(args.map.first_block, args.planes), room) {}
    __device__ __forceinline__ row_work(const argument &args, int i, double *room)
        : plane(args.plane[i]), lanes(args.map.lanes[i]), shared(room) {
        const int32_t block = (int32_t)blockIdx.x - args.map.first_block[i];
        lane = (int32_t)threadIdx.x % lanes;
        row = (int64_t)block * (BLOCK_THREADS / lanes) + (int32_t)threadIdx.x / lanes;
        live = row < args.map.batch * args.map.sample_pixels;
    }
    __device__ __forceinline__ int64_t end() const { return live ? plane.channels : 0; }
    __device__ __forceinline__ double x(int64_t c) const {
        return (double)load((const number *)plane.x + row * plane.pitch + c);
    }
    __device__ __forceinline__ double dy(int64_t c) const {
        return (double)load((const number *)plane.dy + row * plane.pitch + c);
    }
    __device__ __forceinline__ void put(void *to, int64_t c, double value) const {
        store((number *)to + row * plane.pitch + c, c < plane.channels ? (float)value : 0);
    }
    __device__ __forceinline__ double sum(double mine) const { return row_sum(shared, mine, lanes); }
};

struct row_statistics {
    double mean, rstd;
};

template <class work_of>
static __device__ __forceinline__ row_statistics layernorm_statistics(const work_of &work, double eps) {
    row_statistics found;
    double sum = 0, squares = 0;
    for (int64_t c = work.lane; c < work.end(); c += work.lanes) sum += work.x(c);
    const double share = row_inverse((double)work.plane.channels);
    found.mean = work.sum(sum) * share;
    for (int64_t c = work.lane; c < work.end(); c += work.lanes)
        squares += (work.x(c) - found.mean) * (work.x(c) - found.mean);
    found.rstd = row_inverse_root(work.sum(squares) * share + eps);
    return found;
}

template <class number>
static __device__ __forceinline__ void layernorm_fwd(const layernorm_fwd_args &args, double *shared) {
    const row_work<number, layernorm_fwd_args> work(args, shared);
    const auto &plane = work.plane;
    const row_statistics row = layernorm_statistics(work, args.eps);
    for (int64_t c = work.lane; c < plane.pitch && work.live; c += work.lanes) {
        double value = 0;
        if (c < plane.channels)
            value = (work.x(c) - row.mean) * row.rstd * (double)plane.gamma[c] + (double)plane.beta[c];
        work.put(plane.y, c, value);
    }
}

template <class number>
static __device__ __forceinline__ void layernorm_bwd_data(const layernorm_bwd_data_args &args, double *shared) {
    const row_work<number, layernorm_bwd_data_args> work(args, shared);
    const auto &plane = work.plane;
    const row_statistics row = layernorm_statistics(work, args.eps);
    const double share = row_inverse((double)plane.channels);
    double sum = 0, product = 0;
    for (int64_t c = work.lane; c < work.end(); c += work.lanes) {
        const double g = work.dy(c) * (double)plane.gamma[c];
        sum += g;
        product += g * (work.x(c) - row.mean) * row.rstd;
    }
    sum = work.sum(sum) * share;
    product = work.sum(product) * share;
    for (int64_t c = work.lane; c < plane.pitch && work.live; c += work.lanes) {
        double value = 0;
        if (c < plane.channels) {
            const double xhat = (work.x(c) - row.mean) * row.rstd;
            value = row.rstd * (work.dy(c) * (double)plane.gamma[c] - sum - xhat * product);
        }
        work.put(plane.dx, c, value);
    }
}

/* Mean and 1 / deviation of every row, which the gradients of gamma and beta read. */
template <class number>
static __device__ __forceinline__ void layernorm_rows(const layernorm_rows_args &args, double *shared) {
    const row_work<number, layernorm_rows_args> work(args, shared);
    const row_statistics row = layernorm_statistics(work, args.eps);
    if (!work.live || work.lane != 0) return;
    work.plane.mean[work.row] = (float)row.mean;
    work.plane.rstd[work.row] = (float)row.rstd;
}

template <class work_of> static __device__ __forceinline__ double rownorm_norm(const work_of &work) {
    double squares = 0;
    for (int64_t c = work.lane; c < work.end(); c += work.lanes) squares += work.x(c) * work.x(c);
    return sqrt(work.sum(squares));
}

template <class number>
static __device__ __forceinline__ void rownorm_fwd(const rownorm_fwd_args &args, double *shared) {
    const row_work<number, rownorm_fwd_args> work(args, shared);
    const double norm = rownorm_norm(work), divisor = norm < args.eps ? args.eps : norm;
    for (int64_t c = work.lane; c < work.plane.pitch && work.live; c += work.lanes)
        work.put(work.plane.y, c, c < work.plane.channels ? work.x(c) / divisor : 0);
}

template <class number>
static __device__ __forceinline__ void rownorm_bwd_data(const rownorm_bwd_data_args &args, double *shared) {
    const row_work<number, rownorm_bwd_data_args> work(args, shared);
    const double norm = rownorm_norm(work);
    const bool small = norm < args.eps;
    double dot = 0;
    for (int64_t c = work.lane; c < work.end() && !small; c += work.lanes) dot += work.x(c) / norm * work.dy(c);
    dot = work.sum(dot);
    for (int64_t c = work.lane; c < work.plane.pitch && work.live; c += work.lanes) {
        double value = 0;
        if (c < work.plane.channels)
            value = small ? work.dy(c) / args.eps : (work.dy(c) - work.x(c) / norm * dot) / norm;
        work.put(work.plane.dx, c, value);
    }
}

ENTRY_FORMATS(layernorm_fwd, (BLOCK_THREADS), layernorm_fwd_args, __shared__ double shared[BLOCK_THREADS];
              layernorm_fwd<number>(args, shared))
ENTRY_FORMATS(layernorm_bwd_data, (BLOCK_THREADS), layernorm_bwd_data_args, __shared__ double shared[BLOCK_THREADS];
              layernorm_bwd_data<number>(args, shared))
ENTRY_FORMATS(layernorm_rows, (BLOCK_THREADS), layernorm_rows_args, __shared__ double shared[BLOCK_THREADS];
              layernorm_rows<number>(args, shared))
ENTRY_FORMATS(rownorm_fwd, (BLOCK_THREADS), rownorm_fwd_args, __shared__ double shared[BLOCK_THREADS];
              rownorm_fwd<number>(args, shared))
ENTRY_FORMATS(rownorm_bwd_data, (BLOCK_THREADS), rownorm_bwd_data_args, __shared__ double shared[BLOCK_THREADS];
              rownorm_bwd_data<number>(args, shared))
