/*
 * linear and linear_act forward on small and skinny matrices: y = f(x w^T + bias), all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/skinny_rows.cuh"

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_fwd_skinny16_f32(const __grid_constant__ skinny_args args) {
    skinny_rows<f32, 16, true>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_fwd_skinny32_f32(const __grid_constant__ skinny_args args) {
    skinny_rows<f32, 32, true>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_fwd_skinny64_f32(const __grid_constant__ skinny_args args) {
    skinny_rows<f32, 64, true>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_fwd_skinny16_f16(const __grid_constant__ skinny_args args) {
    skinny_rows<f16, 16, true>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_fwd_skinny32_f16(const __grid_constant__ skinny_args args) {
    skinny_rows<f16, 32, true>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_fwd_skinny64_f16(const __grid_constant__ skinny_args args) {
    skinny_rows<f16, 64, true>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_fwd_skinny16_bf16(const __grid_constant__ skinny_args args) {
    skinny_rows<bf16, 16, true>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_fwd_skinny32_bf16(const __grid_constant__ skinny_args args) {
    skinny_rows<bf16, 32, true>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_fwd_skinny64_bf16(const __grid_constant__ skinny_args args) {
    skinny_rows<bf16, 64, true>(args);
}
