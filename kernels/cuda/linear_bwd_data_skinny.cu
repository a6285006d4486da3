/*
 * linear and linear_act data gradient on small and skinny matrices: dx = (dy f'(u)) w, all streams in one launch. The
 * gradient before the activation is made in shared memory, on the way from dy and u to the product.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/skinny_rows.cuh"

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_bwd_data_skinny16_f32(const __grid_constant__ skinny_args args) {
    skinny_rows<f32, 16, false>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_bwd_data_skinny32_f32(const __grid_constant__ skinny_args args) {
    skinny_rows<f32, 32, false>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_bwd_data_skinny64_f32(const __grid_constant__ skinny_args args) {
    skinny_rows<f32, 64, false>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_bwd_data_skinny16_f16(const __grid_constant__ skinny_args args) {
    skinny_rows<f16, 16, false>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_bwd_data_skinny32_f16(const __grid_constant__ skinny_args args) {
    skinny_rows<f16, 32, false>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_bwd_data_skinny64_f16(const __grid_constant__ skinny_args args) {
    skinny_rows<f16, 64, false>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_bwd_data_skinny16_bf16(const __grid_constant__ skinny_args args) {
    skinny_rows<bf16, 16, false>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_bwd_data_skinny32_bf16(const __grid_constant__ skinny_args args) {
    skinny_rows<bf16, 32, false>(args);
}

extern "C" __global__ void __launch_bounds__(SKINNY_THREADS)
    linear_bwd_data_skinny64_bf16(const __grid_constant__ skinny_args args) {
    skinny_rows<bf16, 64, false>(args);
}
