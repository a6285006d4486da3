/*
 * integrate forward on panels, by the matrix units of sm_90: tile/integrate_fwd.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/panel_wgmma.cuh"

#include "kernels/cuda/tile/integrate_fwd.cuh"

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_fwd_wgmma_f16_64(const __grid_constant__ integrate_panels_args args) {
    integrate_forward<f16, 64, 2>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_fwd_wgmma_f16_128(const __grid_constant__ integrate_panels_args args) {
    integrate_forward<f16, 128, 1>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_fwd_wgmma_bf16_64(const __grid_constant__ integrate_panels_args args) {
    integrate_forward<bf16, 64, 2>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 2)
    integrate_fwd_wgmma_bf16_128(const __grid_constant__ integrate_panels_args args) {
    integrate_forward<bf16, 128, 1>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 1)
    integrate_fwd_wgmma_f16_128_staying(const __grid_constant__ integrate_panels_args args) {
    integrate_forward<f16, 128, 3>(args).run();
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_THREADS, 1)
    integrate_fwd_wgmma_bf16_128_staying(const __grid_constant__ integrate_panels_args args) {
    integrate_forward<bf16, 128, 3>(args).run();
}
