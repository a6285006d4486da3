/*
 * conv2d_dsums, 3x3 at stride 1, on the matrix units of sm_90a: the data gradient with its sums (tile/halo_dsums.cuh).
 * `_x`: what x gets from elsewhere is added, and the ReLU is read off x.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/halo_dsums.cuh"

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_dsums_halo_rows112_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_dsums<f16, 112, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_dsums_halo_rows112_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_dsums<bf16, 112, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_dsums_x_halo_rows112_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_dsums<f16, 112, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_dsums_x_halo_rows112_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_dsums<bf16, 112, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_dsums_halo_rows136_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_dsums<f16, 136, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_dsums_halo_rows136_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_dsums<bf16, 136, false>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_dsums_x_halo_rows136_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_dsums<f16, 136, true>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_dsums_x_halo_rows136_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_dsums<bf16, 136, true>(args);
}
