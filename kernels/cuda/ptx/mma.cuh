/*
 * Matrix products of a warp on the tensor cores (sm_80 and newer), and copies from global to shared memory that go on
 * while the thread computes. f16, bf16 and TF32; sums are float.
 *
 * A warp multiplies a 16 x 16 matrix by a 16 x 8 one. With group = lane / 4 and pair = 2 (lane % 4), a lane holds
 *     a[0], a[1]: rows group and group + 8, columns pair and pair + 1;  a[2], a[3]: the same, columns 8 more
 *     b[0]:       rows pair and pair + 1, column group;                 b[1]: the same, rows 8 more
 *     sum[0..1]:  row group, columns pair and pair + 1;                 sum[2..3]: row group + 8
 * In TF32 it multiplies a 16 x 8 matrix by an 8 x 8 one, a word is a number, and with place = lane % 4 a lane holds
 *     a[0], a[1]: rows group and group + 8, column place;               a[2], a[3]: the same, column place + 4
 *     b[0]:       row place, column group;                              b[1]: row place + 4
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_MMA_CUH
#define BRAID_KERNELS_CUDA_PTX_MMA_CUH

#include "kernels/cuda/ptx/number.cuh"

static __device__ __forceinline__ void mma(float (&sum)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], f16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void mma(float (&sum)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], bf16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Operands are words of tf32_word or tf32_rest. */
static __device__ __forceinline__ void mma(float (&sum)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], tf32) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* The float of a word, rounded to TF32: to nearest, ties away from zero. */
static __device__ __forceinline__ uint32_t tf32_word(uint32_t number) {
    uint32_t word;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(__uint_as_float(number)));
    return word;
}

/* What is left of it, rounded too: together they have all but the last bits of the float. */
static __device__ __forceinline__ uint32_t tf32_rest(uint32_t number) {
    return tf32_word(__float_as_uint(__uint_as_float(number) - __uint_as_float(tf32_word(number))));
}

/* Two ones in one word. */
static __device__ __forceinline__ uint32_t one_pair(f16) { return 0x3C003C00u; }
static __device__ __forceinline__ uint32_t one_pair(bf16) { return 0x3F803F80u; }

/* The first word of a row of numbers that begins with a one and goes on with zeros. */
template <class number> static __device__ __forceinline__ uint32_t one_word(number) {
    return one_pair(number()) & 0xFFFFu;
}
static __device__ __forceinline__ uint32_t one_word(f32) { return 0x3F800000u; }
static __device__ __forceinline__ uint32_t one_word(tf32) { return 0x3F800000u; }

/* Starts to copy the first `bytes` of 16 to shared memory, and zeros behind them; both addresses are multiples of 16,
 * and `from` must be readable memory even where it gives nothing. */
static __device__ __forceinline__ void copy_async_part(void *to, const void *from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes)
                 : "memory");
}

/* All of the 16 bytes, or zeros where they are not `inside`. */
static __device__ __forceinline__ void copy_async(void *to, const void *from, bool inside) {
    copy_async_part(to, from, inside ? 16 : 0);
}

/* Ends a group of copies of this thread. */
static __device__ __forceinline__ void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/* Waits until all but the last `left` groups of this thread are there. Others see them behind a barrier. */
template <int left> static __device__ __forceinline__ void copy_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

#endif
