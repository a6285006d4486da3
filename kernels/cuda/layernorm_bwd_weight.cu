/*
 * layernorm weight gradients: dbeta = sum of dy and dgamma = sum of dy * xhat over all pixels, in two launches behind
 * the one that finds the statistics of the rows (rows.cu).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/columns.cuh"
#include "kernels/cuda/tile/gradients.cuh"

template <class number, int width> struct products : pixel_body<number, width> {
    typedef bn_gradients sum, part;
    struct inputs {
        pack<number, width> x, dy;
    };
    static const int ahead = 2;
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void begin(int64_t, const column_live &) const {}
    __device__ __forceinline__ part finish(const sum &all, const column_live &, int) const { return all; }
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

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    layernorm_bwd_weight_parts(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[BLOCK_THREADS];
    const column_work work = column_second(args);
    const bn_gradients sum = columns_add_parts(args, work, shared);
    if (!column_is_last(args, work)) return;
    args.plane[work.plane].dbeta[work.channel] = sum.shift;
    args.plane[work.plane].dgamma[work.channel] = sum.scale;
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    layernorm_bwd_weight_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f32>::width * BLOCK_THREADS];
    columns_kernel<products, f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    layernorm_bwd_weight_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f16>::width * BLOCK_THREADS];
    columns_kernel<products, f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    layernorm_bwd_weight_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<bf16>::width * BLOCK_THREADS];
    columns_kernel<products, bf16>(args, shared);
}
