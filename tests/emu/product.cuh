/*
 * A kernel for tests of the building blocks of sm_90: one block multiplies two matrices of 16-bit numbers that the
 * copy engine brought, in every layout that wgmma takes, and stores the product through the copy engine.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_PRODUCT_CUH
#define BRAID_TESTS_EMU_PRODUCT_CUH

#include "kernels/cuda/ptx/barrier.cuh"
#include "kernels/cuda/ptx/matrix.cuh"
#include "kernels/cuda/ptx/pair.cuh"
#include "kernels/cuda/ptx/registers.cuh"
#include "kernels/cuda/ptx/shared.cuh"
#include "kernels/cuda/ptx/tma.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

#define PRODUCT_THREADS 256
#define PRODUCT_SHARED_BYTES (8192 + 16384 + 8192 + 64)

/* c[64][64] = a b, over 64 terms. a and b are [64][64], or [72][64] of which rows `shift` on count. */
struct product_args {
    cuda_tensor_map a, b, c;
    int32_t shift, rows_a, rows_b; /* rows of the boxes */
    int32_t is_im2col;             /* b comes by an im2col map: pixels from (0, -1, -1), read `shift` to the right */
};

template <class number, int transposed_a, int transposed_b>
static __device__ __forceinline__ void product(const product_args &args) {
    const uint32_t a = shared_address(shared_memory()), b = a + 8192 + 1024, c = b + 8192 + 7168;
    const uint32_t loaded = c + 8192;
    if (threadIdx.x == 0) {
        barrier_init(loaded, 1);
        barrier_publish();
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        registers_give<24>();
        if (threadIdx.x == 128) {
            barrier_expect(loaded, (uint32_t)(args.rows_a + args.rows_b) * 128);
            tma_load_2d(a, &args.a, loaded, 0, 0);
            if (args.is_im2col)
                tma_load_im2col_4d(b, &args.b, loaded, 0, -1, -1, 0, (uint16_t)args.shift, 1);
            else
                tma_load_2d(b, &args.b, loaded, 0, 0);
        }
        return;
    }
    registers_take<128>();
    const uint32_t first = args.is_im2col ? 0 : (uint32_t)args.shift * 128;
    const shared_matrix left = transposed_a ? matrix_down_rows(a, 0) : matrix_along_rows(a);
    const shared_matrix right = matrix_moved(transposed_b ? matrix_down_rows(b, 0) : matrix_along_rows(b), first);
    float sum[32];
    barrier_wait(loaded, 0);
    wgmma_hold(sum);
    wgmma_begin();
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        wgmma<number, 64, transposed_a, transposed_b>(sum, matrix_moved(left, k * (transposed_a ? 2048 : 32)),
                                                      matrix_moved(right, k * (transposed_b ? 2048 : 32)), k != 0);
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_hold(sum);
    const uint32_t lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane % 16;
#pragma unroll
    for (uint32_t j = 0; j < 4; j++) {
        uint32_t pairs[4];
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) pairs[i] = pair_made<number>(sum[8 * j + 2 * i], sum[8 * j + 2 * i + 1]);
        matrix_store_x4(c + row * 128 + (((2 * j + lane / 16) ^ (row % 8)) << 4), pairs);
    }
    fence_async();
    named_sync(1, 128);
    if (threadIdx.x == 0) {
        tma_store_2d(&args.c, c, 0, 0);
        tma_commit();
        tma_wait<0>();
    }
}

#endif
