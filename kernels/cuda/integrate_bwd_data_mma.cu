/*
 * integrate data gradients on panels, by the matrix instructions of a warp: tile/integrate_bwd_data.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/panel_mma.cuh"

#include "kernels/cuda/tile/integrate_bwd_data.cuh"

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_bwd_data_mma_f16_64(const __grid_constant__ integrate_panels_args args) {
    integrate_backward<f16, 64, 2>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_bwd_data_mma_f16_128(const __grid_constant__ integrate_panels_args args) {
    integrate_backward<f16, 128, 2>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_bwd_data_mma_bf16_64(const __grid_constant__ integrate_panels_args args) {
    integrate_backward<bf16, 64, 2>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_bwd_data_mma_bf16_128(const __grid_constant__ integrate_panels_args args) {
    integrate_backward<bf16, 128, 2>(args).run();
}
