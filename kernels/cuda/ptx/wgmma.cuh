/*
 * The matrix units of sm_90: a warpgroup (128 threads, four whole warps) adds the product of a 64 x 16 and a 16 x
 * columns matrix, both in shared memory under the 128-byte swizzle, or the first in registers (wgmma_held), to float
 * accumulators in registers.
 *
 * Accumulator 4 j + i of thread t of the warpgroup is row 16 (t / 32) + t % 32 / 4 + 8 (i / 2), column
 * 8 j + 2 (t % 4) + i % 2.
 *
 * The products run on their own: wgmma_begin before the first, wgmma_commit closes a group of them, wgmma_wait waits
 * for groups; until then nobody touches accumulators or reuses the shared memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_WGMMA_CUH
#define BRAID_KERNELS_CUDA_PTX_WGMMA_CUH

#include <stdint.h>

#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/ptx/wgmma_shapes.cuh"

/* Where a matrix lies: the two halves of the hardware's descriptor. */
struct shared_matrix {
    uint32_t low, high;
};

/* The swizzle works on address bits, so a matrix may begin at any row of 128 bytes, and inside it at any multiple of
 * 16: matrix_moved. */
static __device__ __forceinline__ shared_matrix matrix_described(uint32_t address, uint32_t leading, uint32_t stride) {
    const shared_matrix made = {((address & 0x3FFFFu) >> 4) | leading >> 4 << 16, stride >> 4 | 1u << 30};
    return made;
}

/* The sum runs along the rows ("K-major"): row i of the matrix (of the transposed one for b) is 128 bytes at
 * address + 128 i. The next 16 terms of the sum are 32 bytes on. */
static __device__ __forceinline__ shared_matrix matrix_along_rows(uint32_t address) {
    return matrix_described(address, 16, 1024);
}

/* The sum runs down the rows ("MN-major", transposed = 1): term k of the sum is 128 bytes, 64 elements, at
 * address + 128 k; each further 64 elements lie `leading` bytes on. The next 16 terms are 2048 bytes on. */
static __device__ __forceinline__ shared_matrix matrix_down_rows(uint32_t address, uint32_t leading) {
    return matrix_described(address, leading, 1024);
}

/* The matrix that begins `bytes` (a multiple of 16) further. */
static __device__ __forceinline__ shared_matrix matrix_moved(shared_matrix from, uint32_t bytes) {
    const shared_matrix moved = {from.low + (bytes >> 4), from.high};
    return moved;
}

static __device__ __forceinline__ uint64_t matrix_word(shared_matrix from) {
    uint64_t word;
    asm("mov.b64 %0, {%1, %2};" : "=l"(word) : "r"(from.low), "r"(from.high));
    return word;
}

/* sum = a b + (add ? sum : 0), in f16 or bf16. `transposed` says which operands lie down the rows. */
template <class number, int columns, int transposed_a = 0, int transposed_b = 0>
static __device__ __forceinline__ void wgmma(float (&sum)[columns / 2], shared_matrix a, shared_matrix b, int add) {
    wgmma_shape<columns>::template run<transposed_a, transposed_b>(sum, matrix_word(a), matrix_word(b), add, number());
}

/* The same with a in registers, and 56 or 64 columns: word i of thread t holds columns 2 (t % 4) + 8 (i / 2) and the
 * next of row 16 (t / 32) + t % 32 / 4 + 8 (i % 2). */
template <class number, int columns, int transposed_b = 0>
static __device__ __forceinline__ void wgmma_held(float (&sum)[columns / 2], const uint32_t (&a)[4], shared_matrix b,
                                                  int add) {
    wgmma_held_shape<columns>::template run<transposed_b>(sum, a, matrix_word(b), add, number());
}

/* Before the first product, after accumulators or shared memory were written. */
static __device__ __forceinline__ void wgmma_begin(void) { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }

static __device__ __forceinline__ void wgmma_commit(void) {
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}

/* Waits for all groups but the last `left`. */
template <int left> static __device__ __forceinline__ void wgmma_wait(void) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(left) : "memory");
}

/* Keeps the compiler from moving accumulators across this place: stands before wgmma_begin and behind wgmma_wait. */
template <int count> static __device__ __forceinline__ void wgmma_hold(float (&sum)[count]) {
#pragma unroll
    for (int i = 0; i < count; i++) asm volatile("" : "+f"(sum[i]) : : "memory");
}

#endif
