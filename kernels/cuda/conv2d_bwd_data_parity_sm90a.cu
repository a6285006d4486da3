/*
 * conv2d data gradient, 3x3 at stride 2, on the matrix units of sm_90a: dy is loaded once for the four classes of
 * pixels. A row of a strip at a time where all weights stay in shared memory (tile/halo_parity.cuh), else tiles of
 * 64 channels x 128 or 160 pixels of dy (tile/halo.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/halo_parity.cuh"

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_parity_rows72_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_parity<f16, 72>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_parity_rows72_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_parity<bf16, 72>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_parity_128_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<f16, 64, 1, true, 4>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_parity_128_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<bf16, 64, 1, true, 4>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_parity_160_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<f16, 80, 1, true, 4>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_parity_160_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo<bf16, 80, 1, true, 4>(args);
}
