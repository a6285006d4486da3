/*
 * layernorm weight gradients: dbeta = sum of dy and dgamma = sum of dy * xhat over all pixels. Of wide rows, a launch
 * before this finds the statistics (rows.cu).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/tile/columns.cuh"
#include "kernels/cuda/tile/gradients.cuh"
#include "kernels/cuda/tile/rows.cuh"

static __device__ __forceinline__ column_nothing column_ask(const pixel_args &, int, int32_t, const bn_gradients *) {
    return column_nothing();
}

static __device__ __forceinline__ void column_write(const pixel_args &args, int plane, int32_t channel,
                                                    const bn_gradients &all, const column_nothing &) {
    args.plane[plane].dbeta[channel] = all.shift;
    args.plane[plane].dgamma[channel] = all.scale;
}

template <class number, int width> struct products : pixel_body<number, width> {
    typedef bn_gradients sum, part;
    struct inputs {
        pack<number, width> x, dy;
    };
    static const int ahead = 2;
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void begin(int64_t, const column_live &) const {}
    __device__ __forceinline__ float origin_of(int) const { return 0; }
    __device__ __forceinline__ part finish(const sum &all, const column_live &, float) const { return all; }
    __device__ __forceinline__ void fetch(inputs &in, int64_t at) const {
        in.x = this->take(this->plane.x, at);
        in.dy = this->take(this->plane.dy, at);
    }
    __device__ __forceinline__ void include(sum (&mine)[width], const inputs (&in)[ahead], const bool (&live)[ahead],
                                            int64_t pixel, int32_t step, int64_t) const {
#pragma unroll
        for (int p = 0; p < ahead; p++) {
            float x[width], dy[width];
            if (!live[p]) continue;
            const float mean = this->plane.mean[pixel + p * step], rstd = this->plane.var[pixel + p * step];
            pack_open(x, in[p].x);
            pack_open(dy, in[p].dy);
#pragma unroll
            for (int j = 0; j < width; j++) {
                mine[j].shift += dy[j];
                mine[j].scale += dy[j] * ((x[j] - mean) * rstd);
            }
        }
    }
};

/* Rows of at most 32 * many channels: a warp finds the statistics of a row and adds its products, so that one launch
 * makes the sums of the parts. */
template <class number, int many> struct row_values {
    float x[many], dy[many];
    __device__ __forceinline__ void fetch(const pixel_plane &plane, int64_t row, bool live) {
#pragma unroll
        for (int k = 0; k < many; k++) {
            const int32_t c = (int32_t)threadIdx.x % 32 + 32 * k;
            const int64_t at = row * plane.pitch + c;
            x[k] = live && c < plane.channels ? load((const number *)plane.x + at) : 0;
            dy[k] = live && c < plane.channels ? load((const number *)plane.dy + at) : 0;
        }
    }
};

template <class number, int many>
static __device__ __forceinline__ void row_include(bn_gradients (&sums)[many], const row_values<number, many> &row,
                                                   int64_t channels, double eps, double *shared) {
    const int32_t lane = (int32_t)threadIdx.x % 32;
    double sum = 0, squares = 0;
#pragma unroll
    for (int k = 0; k < many; k++) sum += (double)row.x[k];
    const double share = row_inverse((double)channels), mean = row_sum(shared, sum, 32) * share;
#pragma unroll
    for (int k = 0; k < many; k++) {
        const double away = (double)row.x[k] - mean;
        if (lane + 32 * k < channels) squares += away * away;
    }
    const double rstd = row_inverse_root(row_sum(shared, squares, 32) * share + eps);
#pragma unroll
    for (int k = 0; k < many; k++) {
        sums[k].shift += row.dy[k];
        sums[k].scale += row.dy[k] * (float)(((double)row.x[k] - mean) * rstd);
    }
}

template <class number, int many>
static __device__ __forceinline__ void layernorm_rows(const pixel_args &args, bn_gradients *shared) {
    const int warps = BLOCK_THREADS / 32;
    const column_work work = column_first(args, widest<number>::width);
    const pixel_plane &plane = args.plane[work.plane];
    const int32_t lane = (int32_t)threadIdx.x % 32, warp = (int32_t)threadIdx.x / 32;
    bn_gradients sums[many] = {};
    row_values<number, many> now, next;
    const int64_t begin = work.part * args.columns.part_pixels;
    now.fetch(plane, begin + warp, begin + warp < work.end);
    for (int64_t row = begin; row < work.end; row += warps) { /* all warps in step */
        next.fetch(plane, row + warps + warp, row + warps + warp < work.end);
        row_include(sums, now, plane.channels, args.eps, (double *)NULL);
        now = next;
    }
#pragma unroll
    for (int k = 0; k < many; k++) shared[warp * LAYERNORM_WARP_CHANNELS + lane + 32 * k] = sums[k];
    __syncthreads();
    const int32_t c = (int32_t)threadIdx.x;
    if (c >= plane.channels) return;
    bn_gradients all = shared[c];
    for (int w = 1; w < warps; w++) all = add(all, shared[w * LAYERNORM_WARP_CHANNELS + c]);
    ((bn_gradients *)args.columns.workspace)[work.part * args.columns.first_channel[BRAID_MAX_PLANES] +
                                             args.columns.first_channel[work.plane] + c] = all;
}

template <class number>
static __device__ __forceinline__ void layernorm_rows_of_plane(const pixel_args &args, bn_gradients *shared) {
    const int plane = schedule_plane(args.columns.first_block, args.planes);
    if (args.plane[plane].channels <= 64) {
        layernorm_rows<number, 2>(args, shared);
    } else {
        layernorm_rows<number, LAYERNORM_WARP_CHANNELS / 32>(args, shared);
    }
}

ENTRY(layernorm_bwd_weight_parts, (BLOCK_THREADS), pixel_args, __shared__ bn_gradients shared[BLOCK_THREADS];
      columns_second(args, shared))
ENTRY_FORMATS(layernorm_bwd_weight, (BLOCK_THREADS), pixel_args,
              __shared__ bn_gradients shared[widest<number>::width * BLOCK_THREADS];
              columns_kernel<products, number>(args, shared))
ENTRY_FORMATS(layernorm_bwd_weight_rows, (BLOCK_THREADS), pixel_args,
              __shared__ bn_gradients shared[BLOCK_THREADS / 32 * LAYERNORM_WARP_CHANNELS];
              layernorm_rows_of_plane<number>(args, shared))
