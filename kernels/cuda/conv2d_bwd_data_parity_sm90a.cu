/*
 * conv2d data gradient, 3x3 at stride 2, on the matrix units of sm_90a: dy is loaded once for the four classes of
 * pixels (tile/halo_parity.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/halo_parity.cuh"

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_parity72_f16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_parity<f16, 72>(args);
}

extern "C" __global__ void __launch_bounds__(HALO_THREADS, 1)
    conv2d_bwd_data_parity72_bf16(const __grid_constant__ conv2d_halo_args args) {
    conv2d_halo_parity<bf16, 72>(args);
}
