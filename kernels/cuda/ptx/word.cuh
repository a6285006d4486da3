/*
 * The 32 bits of a register as numbers side by side, one f32 or two halves, compared without being widened. Denormals
 * are numbers here, in bf16 too.
 *
 *     width                numbers of a word
 *     open(to, from)       widens them to float
 *     close(from)          rounds them from float
 *     larger(a, b)         the larger of each; a NaN before every number
 *     equals(a, b)         all bits set where they are equal; none where one is a NaN
 *     above(a, b)          all bits set where a > b, and where one is a NaN
 *     sum(a, b)            their sums, rounded once
 *     add(to, a, b, g, by) adds the product g * by to `to` where they are equal
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_WORD_CUH
#define BRAID_KERNELS_CUDA_PTX_WORD_CUH

#include "kernels/cuda/ptx/number.cuh"

template <class number> struct word;

template <> struct word<f32> {
    static const int width = 1;
    static __device__ __forceinline__ void open(float *to, uint32_t from) { to[0] = __uint_as_float(from); }
    static __device__ __forceinline__ uint32_t close(const float *from) { return __float_as_uint(from[0]); }
    static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b) {
        uint32_t to;
        asm("max.NaN.f32 %0, %1, %2;" : "=r"(to) : "r"(a), "r"(b));
        return to;
    }
    static __device__ __forceinline__ uint32_t equals(uint32_t a, uint32_t b) {
        return __uint_as_float(a) == __uint_as_float(b) ? 0xFFFFFFFFu : 0;
    }
    static __device__ __forceinline__ uint32_t above(uint32_t a, uint32_t b) {
        return __uint_as_float(a) <= __uint_as_float(b) ? 0 : 0xFFFFFFFFu;
    }
    static __device__ __forceinline__ uint32_t sum(uint32_t a, uint32_t b) {
        return __float_as_uint(__uint_as_float(a) + __uint_as_float(b));
    }
    static __device__ __forceinline__ void add(float *to, uint32_t a, uint32_t b, const float *g, const float *by) {
        if (__uint_as_float(a) == __uint_as_float(b)) to[0] = fmaf(g[0], by[0], to[0]);
    }
};

/* Two halves, the first in the low bits. */
template <class number> static __device__ __forceinline__ void word_open_halves(float *to, uint32_t from) {
    const number low = {(uint16_t)from}, high = {(uint16_t)(from >> 16)};
    to[0] = load(&low);
    to[1] = load(&high);
}

template <> struct word<f16> {
    static const int width = 2;
    static __device__ __forceinline__ void open(float *to, uint32_t from) { word_open_halves<f16>(to, from); }
    static __device__ __forceinline__ uint32_t close(const float *from) {
        uint32_t to;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(to) : "f"(from[1]), "f"(from[0]));
        return to;
    }
    static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b) {
        uint32_t to;
        asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(to) : "r"(a), "r"(b));
        return to;
    }
    static __device__ __forceinline__ uint32_t equals(uint32_t a, uint32_t b) {
        uint32_t to;
        asm("set.eq.u32.f16x2 %0, %1, %2;" : "=r"(to) : "r"(a), "r"(b));
        return to;
    }
    static __device__ __forceinline__ uint32_t above(uint32_t a, uint32_t b) {
        uint32_t to;
        asm("set.gtu.u32.f16x2 %0, %1, %2;" : "=r"(to) : "r"(a), "r"(b));
        return to;
    }
    static __device__ __forceinline__ uint32_t sum(uint32_t a, uint32_t b) {
        uint32_t to;
        asm("add.rn.f16x2 %0, %1, %2;" : "=r"(to) : "r"(a), "r"(b));
        return to;
    }
    static __device__ __forceinline__ void add(float *to, uint32_t a, uint32_t b, const float *g, const float *by) {
        asm("{ .reg .pred low, high; setp.eq.f16x2 low|high, %2, %3;"
            "@low fma.rn.f32 %0, %4, %5, %0; @high fma.rn.f32 %1, %6, %7, %1; }"
            : "+f"(to[0]), "+f"(to[1])
            : "r"(a), "r"(b), "f"(g[0]), "f"(by[0]), "f"(g[1]), "f"(by[1]));
    }
};

template <> struct word<bf16> {
    static const int width = 2;
    static __device__ __forceinline__ void open(float *to, uint32_t from) { word_open_halves<bf16>(to, from); }
    static __device__ __forceinline__ uint32_t close(const float *from) {
        uint32_t to;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(to) : "f"(flush_denormal(from[1])), "f"(flush_denormal(from[0])));
        return to;
    }
    static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b) {
        uint32_t to;
        asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(to) : "r"(a), "r"(b));
        return to;
    }
    static __device__ __forceinline__ uint32_t equals(uint32_t a, uint32_t b) {
#if __CUDA_ARCH__ >= 900
        uint32_t to;
        asm("set.eq.u32.bf16x2 %0, %1, %2;" : "=r"(to) : "r"(a), "r"(b));
        return to;
#else
        const uint32_t low = __uint_as_float(a << 16) == __uint_as_float(b << 16) ? 0xFFFFu : 0;
        const uint32_t high = __uint_as_float(a >> 16 << 16) == __uint_as_float(b >> 16 << 16) ? 0xFFFF0000u : 0;
        return low | high;
#endif
    }
    static __device__ __forceinline__ uint32_t above(uint32_t a, uint32_t b) {
#if __CUDA_ARCH__ >= 900
        uint32_t to;
        asm("set.gtu.u32.bf16x2 %0, %1, %2;" : "=r"(to) : "r"(a), "r"(b));
        return to;
#else
        const uint32_t low = __uint_as_float(a << 16) <= __uint_as_float(b << 16) ? 0 : 0xFFFFu;
        const uint32_t high = __uint_as_float(a >> 16 << 16) <= __uint_as_float(b >> 16 << 16) ? 0 : 0xFFFF0000u;
        return low | high;
#endif
    }
    static __device__ __forceinline__ uint32_t sum(uint32_t a, uint32_t b) {
        uint32_t to;
        asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(to) : "r"(a), "r"(0x3F803F80u), "r"(b));
        return to;
    }
    static __device__ __forceinline__ void add(float *to, uint32_t a, uint32_t b, const float *g, const float *by) {
#if __CUDA_ARCH__ >= 900
        asm("{ .reg .pred low, high; setp.eq.bf16x2 low|high, %2, %3;"
            "@low fma.rn.f32 %0, %4, %5, %0; @high fma.rn.f32 %1, %6, %7, %1; }"
            : "+f"(to[0]), "+f"(to[1])
            : "r"(a), "r"(b), "f"(g[0]), "f"(by[0]), "f"(g[1]), "f"(by[1]));
#else
        if (__uint_as_float(a << 16) == __uint_as_float(b << 16)) to[0] = fmaf(g[0], by[0], to[0]);
        if (__uint_as_float(a >> 16 << 16) == __uint_as_float(b >> 16 << 16)) to[1] = fmaf(g[1], by[1], to[1]);
#endif
    }
};

#endif
