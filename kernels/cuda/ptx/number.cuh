/*
 * Numbers as they lie in memory and as kernels compute with them: every format is loaded to float
 * and stored with one rounding, to nearest even. bf16 flushes denormals in both directions and f16
 * keeps them, as src/core/dtype.h says.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_NUMBER_CUH
#define BRAID_KERNELS_CUDA_PTX_NUMBER_CUH

#include <stdint.h>

struct f32 {
    float value;
};
struct tf32 { /* lies as f32; products round it to 11 significant bits */
    float value;
};
struct f16 {
    uint16_t bits;
};
struct bf16 {
    uint16_t bits;
};

/* Reads and writes some bytes of global memory at once, 16 at most; the address is a multiple of that. The host version
 * of this file stops where it is not. */
template <int bytes> static __device__ __forceinline__ void read_bytes(void *to, const void *from) {
    if (bytes % 16 == 0) {
#pragma unroll
        for (int j = 0; j < bytes / 16; j++) ((uint4 *)to)[j] = ((const uint4 *)from)[j];
    } else if (bytes == 8) {
        *(uint2 *)to = *(const uint2 *)from;
    } else if (bytes == 4) {
        *(uint32_t *)to = *(const uint32_t *)from;
    } else {
        *(uint16_t *)to = *(const uint16_t *)from;
    }
}

/* In assembly, because the compiler takes a vector that was made piece by piece apart again. */
template <int bytes> static __device__ __forceinline__ void write_bytes(void *to, const void *from) {
    if (bytes % 16 == 0) {
#pragma unroll
        for (int j = 0; j < bytes / 16; j++) {
            const uint4 word = ((const uint4 *)from)[j];
            asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                         :
                         : "l"((uint4 *)to + j), "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w)
                         : "memory");
        }
    } else if (bytes == 8) {
        const uint2 word = *(const uint2 *)from;
        asm volatile("st.global.v2.b32 [%0], {%1, %2};" : : "l"(to), "r"(word.x), "r"(word.y) : "memory");
    } else if (bytes == 4) {
        *(uint32_t *)to = *(const uint32_t *)from;
    } else {
        *(uint16_t *)to = *(const uint16_t *)from;
    }
}

/* Denormals become a zero of the same sign. */
static __device__ __forceinline__ float flush_denormal(float value) {
    float flushed;
    asm("mul.ftz.f32 %0, %1, 0f3F800000;" : "=f"(flushed) : "f"(value));
    return flushed;
}

static __device__ __forceinline__ float load(const f32 *from) { return from->value; }

static __device__ __forceinline__ float load(const tf32 *from) { return from->value; }

static __device__ __forceinline__ float load(const f16 *from) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(from->bits));
    return value;
}

static __device__ __forceinline__ float load(const bf16 *from) {
    return flush_denormal(__uint_as_float((uint32_t)from->bits << 16));
}

static __device__ __forceinline__ void store(f32 *to, float value) { to->value = value; }

static __device__ __forceinline__ void store(f16 *to, float value) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to->bits) : "f"(value));
}

static __device__ __forceinline__ void store(bf16 *to, float value) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to->bits) : "f"(flush_denormal(value)));
}

#endif
