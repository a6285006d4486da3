/*
 * integrate forward on Hopper's matrix units (integrate_fwd.cuh); results go to memory from the registers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/integrate/integrate_fwd.cuh"

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
    const pipeline at = open_ring(args, 2);
    if (is_consumer(2)) {
        consume<number, columns, row_groups>(args, at, direct_results<number>());
    } else if (is_producer(2)) {
        produce<columns, row_groups>(args, at);
    }
}

ENTRY_HALVES(integrate_fwd_wgmma_64, (INTEGRATE_TMA_THREADS, 2), integrate_tma_args, integrate_fwd<number, 64, 2>(args))
ENTRY_HALVES(integrate_fwd_wgmma_128, (INTEGRATE_TMA_THREADS, 1), integrate_tma_args,
             integrate_fwd<number, 128, 2>(args))
ENTRY_HALVES(integrate_fwd_wgmma_128_staying, (INTEGRATE_TMA_THREADS, 1), integrate_tma_args,
             integrate_fwd<number, 128, 1>(args))
ENTRY_HALVES(integrate_fwd_wgmma_256, (INTEGRATE_TMA_THREADS, 1), integrate_tma_args,
             integrate_fwd<number, 256, 2>(args))
