/*
 * bn_dapply: the gradient of the input of batch normalisation, for g = dy and for the gradients behind the activations
 * of the fused ops. The equations are in src/ops/bn_dapply.c; with everything that is the same for all pixels of a
 * channel gathered they read
 *
 *     dx = g * of_g + x * of_x + rest
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/bn_dapply.cuh"
#include "kernels/cuda/tile/pool_rule.cuh"
#include "kernels/cuda/tile/slide.cuh"

/* bn_act_pool in training, with a ReLU and windows as tile/slide.cuh has them. */
template <class number, int width> struct pool_dapply : pixel_body<number, width>, pool_rule<number, width> {
    typedef typename pool_rule<number, width>::factors factors;
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void begin(factors *all, int64_t first, int32_t packs) const {
        const float share = bn_share(this->args, this->plane);
        for (int32_t j = (int32_t)threadIdx.x; j < packs * width; j += BLOCK_THREADS)
            all[j / width].set(j % width, this->plane, first + j, share);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
};

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3) bn_dapply_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_plain>::body, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3) bn_dapply_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_plain>::body, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3) bn_dapply_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_plain>::body, bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_dapply_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<act_dapply<false>::body, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_dapply_curved_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<act_dapply<true>::body, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_dapply_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<act_dapply<false>::body, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_dapply_curved_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<act_dapply<true>::body, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_dapply_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<act_dapply<false>::body, bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_dapply_curved_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<act_dapply<true>::body, bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_add_act_dapply_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_add_act>::body, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_add_act_dapply_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_add_act>::body, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_add_act_dapply_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_add_act>::body, bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_dapply_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_pool>::body, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_dapply_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_pool>::body, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_dapply_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_pool>::body, bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_pool_slide_f32(const __grid_constant__ pixel_args args) {
    __shared__ slide_shared shared;
    __shared__ pool_dapply<f32, widest<f32>::width>::factors factors[SLIDE_LANES];
    slide_kernel<pool_dapply, f32>(args, shared, factors);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_pool_slide_f16(const __grid_constant__ pixel_args args) {
    __shared__ slide_shared shared;
    __shared__ pool_dapply<f16, widest<f16>::width>::factors factors[SLIDE_LANES];
    slide_kernel<pool_dapply, f16>(args, shared, factors);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_pool_slide_bf16(const __grid_constant__ pixel_args args) {
    __shared__ slide_shared shared;
    __shared__ pool_dapply<bf16, widest<bf16>::width>::factors factors[SLIDE_LANES];
    slide_kernel<pool_dapply, bf16>(args, shared, factors);
}
