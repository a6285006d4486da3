/*
 * 8x8 matrices of 16-bit numbers between registers and shared memory. Lane l of a warp gives the address of row
 * l % 8 of matrix l / 8: 16 bytes, at a multiple of 16. Thread l holds elements (l / 4, 2 (l % 4)) and the next of
 * each matrix in one register; `transposed` it holds (2 (l % 4), l / 4) and the row below.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_MATRIX_CUH
#define BRAID_KERNELS_CUDA_PTX_MATRIX_CUH

#include <stdint.h>

static __device__ __forceinline__ void matrix_store_x4(uint32_t to, const uint32_t (&from)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(to), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}

static __device__ __forceinline__ void matrix_store_x2(uint32_t to, const uint32_t (&from)[2]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
                 :
                 : "r"(to), "r"(from[0]), "r"(from[1])
                 : "memory");
}

static __device__ __forceinline__ void matrix_store_x4_transposed(uint32_t to, const uint32_t (&from)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(to), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}

static __device__ __forceinline__ void matrix_store_x2_transposed(uint32_t to, const uint32_t (&from)[2]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                 :
                 : "r"(to), "r"(from[0]), "r"(from[1])
                 : "memory");
}

static __device__ __forceinline__ void matrix_load_x4(uint32_t (&to)[4], uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

static __device__ __forceinline__ void matrix_load_x2(uint32_t (&to)[2], uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(from)
                 : "memory");
}

static __device__ __forceinline__ void matrix_load_x4_transposed(uint32_t (&to)[4], uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

static __device__ __forceinline__ void matrix_load_x2_transposed(uint32_t (&to)[2], uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(from)
                 : "memory");
}

#endif
