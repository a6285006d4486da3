/*
 * bn_apply, bn_act and bn_add_act forward: y = f(x * scale + shift + z), channel by channel. z may be missing, or have
 * a scale and a shift of its own. Zeros for blanked samples and for the lanes between the channels and the pitch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/bn_apply.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4) bn_apply_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel_act<bn_apply, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4) bn_apply_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel_act<bn_apply, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4) bn_apply_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel_act<bn_apply, bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4) bn_add_act_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<bn_add_act, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4) bn_add_act_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<bn_add_act, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4)
    bn_add_act_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<bn_add_act, bf16>(args);
}
