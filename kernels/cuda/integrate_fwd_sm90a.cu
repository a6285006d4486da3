/*
 * integrate forward on Hopper's matrix units (tile/integrate_fwd.cuh); results go to memory from the registers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/integrate_fwd.cuh"

template <class number> struct direct_results {
    template <int count>
    __device__ __forceinline__ void write(const float (&sum)[count], const integrate_tma_args &args,
                                          int32_t first_pixel, int32_t first_column) const {
        const integrate_panels_args &all = args.all;
#pragma unroll
        for (int second = 0; second < 2; second++) {
            const int32_t pixel = first_pixel + panel_sum_row() + 8 * second;
#pragma unroll
            for (int j = 0; j < count / 16; j++) {
                const int32_t column = first_column + 32 * j + panel_run_column();
                uint32_t run[4];
                panel_run<number>(run, sum, second, j);
                if (pixel < all.pixels && column < all.outputs)
                    write_bytes<16>((number *)all.y + (int64_t)pixel * all.outputs + column, run);
            }
        }
    }
};

template <class number, int columns, int row_groups>
static __device__ __forceinline__ void integrate_fwd(const integrate_tma_args &args) {
    const ring_cursor at = open_ring(args, 2);
    if (is_consumer(2)) {
        consume<number, columns, row_groups>(args, at, direct_results<number>());
    } else if (is_producer(2)) {
        produce<columns, row_groups>(args, at);
    }
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 2)
    integrate_fwd_wgmma_f16_64(const __grid_constant__ integrate_tma_args args) {
    integrate_fwd<f16, 64, 2>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 1)
    integrate_fwd_wgmma_f16_128(const __grid_constant__ integrate_tma_args args) {
    integrate_fwd<f16, 128, 2>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 1)
    integrate_fwd_wgmma_f16_128_staying(const __grid_constant__ integrate_tma_args args) {
    integrate_fwd<f16, 128, 1>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 1)
    integrate_fwd_wgmma_f16_256(const __grid_constant__ integrate_tma_args args) {
    integrate_fwd<f16, 256, 2>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 2)
    integrate_fwd_wgmma_bf16_64(const __grid_constant__ integrate_tma_args args) {
    integrate_fwd<bf16, 64, 2>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 1)
    integrate_fwd_wgmma_bf16_128(const __grid_constant__ integrate_tma_args args) {
    integrate_fwd<bf16, 128, 2>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 1)
    integrate_fwd_wgmma_bf16_128_staying(const __grid_constant__ integrate_tma_args args) {
    integrate_fwd<bf16, 128, 1>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 1)
    integrate_fwd_wgmma_bf16_256(const __grid_constant__ integrate_tma_args args) {
    integrate_fwd<bf16, 256, 2>(args);
}
