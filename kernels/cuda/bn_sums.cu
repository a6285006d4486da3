/*
 * bn_sums: dbeta = sum of g and dgamma = sum of g * (x - center) * rstd over the active pixels of every channel, added
 * in an order that depends on the problem alone, for g = dy and for the gradients behind the activations of the fused
 * ops. rstd is the same for all pixels, so it multiplies the finished sum.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/bn.cuh"
#include "kernels/cuda/tile/columns.cuh"
#include "kernels/cuda/tile/gradients.cuh"

template <template <class, int> class gradient> struct sums_of {
    template <class number, int width> struct body : gradient<number, width> {
        typedef bn_gradients sum;
        typedef typename gradient<number, width>::inputs inputs;
        static const int ahead = gradient<number, width>::ahead;
        float center[width];
        __device__ __forceinline__ body(const pixel_args &all, int i) : gradient<number, width>(all, i) {}
        __device__ __forceinline__ void begin(int64_t c) {
            gradient<number, width>::begin(c);
            pack_channels(center, this->plane.center + c, this->plane.channels - c);
        }
        __device__ __forceinline__ void include(sum (&mine)[width], const inputs (&in)[ahead],
                                                const bool (&live)[ahead], int64_t pixel, int32_t step,
                                                int64_t c) const {
#pragma unroll
            for (int p = 0; p < ahead; p++) {
                float g[width], x[width];
                if (!live[p]) continue;
                this->gradient_at(g, x, in[p], pixel + p * step, c);
#pragma unroll
                for (int j = 0; j < width; j++) {
                    mine[j].shift += g[j];
                    mine[j].scale += g[j] * (x[j] - center[j]);
                }
            }
        }
    };
};

/* The second launch, of all kinds. */
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_sums_parts(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[BLOCK_THREADS];
    const column_work work = column_second(args);
    const pixel_plane &plane = args.plane[work.plane];
    const bn_gradients sum = columns_add_parts(args, work, shared);
    if (!column_is_last(args, work)) return;
    plane.dbeta[work.channel] = sum.shift;
    plane.dgamma[work.channel] = sum.scale * plane.rstd[work.channel];
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_sums_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f32>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_plain>::body, f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_sums_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_plain>::body, f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_sums_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<bf16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_plain>::body, bf16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_act_sums_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f32>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_act>::body, f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_act_sums_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_act>::body, f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_act_sums_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<bf16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_act>::body, bf16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_add_act_sums_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f32>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_add_act>::body, f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_add_act_sums_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_add_act>::body, f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_add_act_sums_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<bf16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_add_act>::body, bf16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_sums_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f32>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_pool>::body, f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_sums_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_pool>::body, f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_sums_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<bf16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_pool>::body, bf16>(args, shared);
}
