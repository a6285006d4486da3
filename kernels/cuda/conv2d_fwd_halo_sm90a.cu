/*
 * conv2d forward, 3x3 at stride 1, on the matrix units of sm_90a. tile/halo.cuh and tile/halo_rows.cuh say how; names
 * tell the output channels x pixels of a tile, or the pixels of a row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/halo.cuh"
#include "kernels/cuda/tile/halo_rows.cuh"

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_fwd_halo_128x192_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<f16, 192, 2, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_fwd_halo_128x192_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<bf16, 192, 2, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_fwd_halo_128x232_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<f16, 232, 2, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_fwd_halo_128x232_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<bf16, 232, 2, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_fwd_halo_64x240_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<f16, 120, 1, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_fwd_halo_64x240_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<bf16, 120, 1, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_fwd_halo_rows112_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<f16, 112, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_fwd_halo_rows112_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<bf16, 112, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_fwd_halo_rows136_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<f16, 136, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_fwd_halo_rows136_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<bf16, 136, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_prepare_halo_rows112_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<f16, 112, false, row_moments<f16>>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_prepare_halo_rows112_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<bf16, 112, false, row_moments<bf16>>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_prepare_halo_rows136_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<f16, 136, false, row_moments<f16>>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_prepare_halo_rows136_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<bf16, 136, false, row_moments<bf16>>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    bn_act_conv2d_halo_rows112_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<f16, 112, false, no_row_moments, halo_norm_relu<f16>>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    bn_act_conv2d_halo_rows112_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<bf16, 112, false, no_row_moments, halo_norm_relu<bf16>>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    bn_act_conv2d_halo_rows136_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<f16, 136, false, no_row_moments, halo_norm_relu<f16>>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    bn_act_conv2d_halo_rows136_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_rows<bf16, 136, false, no_row_moments, halo_norm_relu<bf16>>(args);
}
