/*
 * conv2d data gradient, 3x3 at stride 1, on the matrix units of sm_90a: a convolution of dy with the filters turned
 * around, which are read as they lie in memory (tile/halo.cuh, tile/halo_rows.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/halo.cuh"
#include "kernels/cuda/tile/halo_rows.cuh"

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_halo_128x192_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<f16, 192, 2, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_halo_128x192_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<bf16, 192, 2, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_halo_128x232_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<f16, 232, 2, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_halo_128x232_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<bf16, 232, 2, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_halo_64x240_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<f16, 120, 1, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_halo_64x240_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<bf16, 120, 1, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_halo_rows112_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<f16, 112, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_halo_rows112_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<bf16, 112, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_halo_rows136_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<f16, 136, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_halo_rows136_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<bf16, 136, true>(args);
}
