/*
 * integrate weight gradients on panels, by the matrix instructions of a warp: tile/integrate_bwd_weight.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/panel_mma.cuh"

#include "kernels/cuda/tile/integrate_bwd_weight.cuh"

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_bwd_weight_mma_f16_64(const __grid_constant__ integrate_panels_args args) {
    integrate_weights<f16, 64, 256, 1>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_bwd_weight_mma_f16_128(const __grid_constant__ integrate_panels_args args) {
    integrate_weights<f16, 128, 128, 2>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_bwd_weight_mma_bf16_64(const __grid_constant__ integrate_panels_args args) {
    integrate_weights<bf16, 64, 256, 1>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_bwd_weight_mma_bf16_128(const __grid_constant__ integrate_panels_args args) {
    integrate_weights<bf16, 128, 128, 2>(args).run();
}
