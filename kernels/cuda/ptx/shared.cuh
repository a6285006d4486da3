/*
 * Dynamic shared memory and its addresses. The hardware's own units (copy engine, barriers, matrix units)
 * name shared memory by 32-bit addresses, so kernels that use them compute with those.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_SHARED_CUH
#define BRAID_KERNELS_CUDA_PTX_SHARED_CUH

#include <stdint.h>

/* The dynamic shared memory of the block; it begins at a multiple of 1024 where the kernel has no other. */
static __device__ __forceinline__ void *shared_memory(void) {
    extern __shared__ __align__(1024) unsigned char memory[];
    return memory;
}

static __device__ __forceinline__ uint32_t shared_address(const void *at) {
    return (uint32_t)__cvta_generic_to_shared(at);
}

/* Four words at an address that is a multiple of 16. */
static __device__ __forceinline__ void shared_read(uint32_t (&to)[4], uint32_t from) {
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

static __device__ __forceinline__ void shared_write(uint32_t to, const uint32_t (&from)[4]) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(to), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}

/* 16 bytes of zeros. */
static __device__ __forceinline__ void shared_clear(uint32_t to) {
    const uint32_t zeros[4] = {0, 0, 0, 0};
    shared_write(to, zeros);
}

static __device__ __forceinline__ uint32_t shared_read_word(uint32_t from) {
    uint32_t word;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
    return word;
}

static __device__ __forceinline__ void shared_write_word(uint32_t to, uint32_t word) {
    asm volatile("st.shared.b32 [%0], %1;" : : "r"(to), "r"(word) : "memory");
}

static __device__ __forceinline__ float shared_read_f32(uint32_t from) {
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(from) : "memory");
    return value;
}

/* Two floats at an address that is a multiple of 8. */
static __device__ __forceinline__ void shared_read_pair(float (&to)[2], uint32_t from) {
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(to[0]), "=f"(to[1]) : "r"(from) : "memory");
}

static __device__ __forceinline__ void shared_write_f32(uint32_t to, float value) {
    asm volatile("st.shared.f32 [%0], %1;" : : "r"(to), "f"(value) : "memory");
}

#endif
