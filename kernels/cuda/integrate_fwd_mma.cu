/*
 * integrate forward on panels, by the matrix instructions of a warp: tile/integrate_fwd.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/panel_mma.cuh"

#include "kernels/cuda/tile/integrate_fwd.cuh"

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_fwd_mma_f16_64(const __grid_constant__ integrate_panels_args args) {
    integrate_forward<f16, 64, 2>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_fwd_mma_f16_128(const __grid_constant__ integrate_panels_args args) {
    integrate_forward<f16, 128, 2>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_fwd_mma_bf16_64(const __grid_constant__ integrate_panels_args args) {
    integrate_forward<bf16, 64, 2>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_fwd_mma_bf16_128(const __grid_constant__ integrate_panels_args args) {
    integrate_forward<bf16, 128, 2>(args).run();
}
