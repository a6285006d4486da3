/*
 * Vectors from and to planes of any of the three formats f32, bf16 and f16, in terms of vec_*.h, after one of
 * which this is included. The format is a constant where a function is inlined. Arithmetic is that of floats;
 * a value is rounded once, when it is stored.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_VEC_ANY_H
#define BRAID_KERNELS_CPU_ISA_VEC_ANY_H

#include "braid.h"

/* `count` values from element `at` on, VEC_LANES at most; the other lanes are zero. */
VEC_INLINE vec vec_get(const void *from, int64_t at, int64_t count, const braid_dtype dtype) {
    if (dtype == BRAID_DTYPE_F32) {
        const float *floats = (const float *)from + at;
        return count < VEC_LANES ? vec_load_some(floats, count) : vec_load(floats);
    }
    const uint16_t *first = (const uint16_t *)from + at;
    vec_half a = count < VEC_LANES ? vec_half_load_some(first, count) : vec_half_load(first);
    return dtype == BRAID_DTYPE_BF16 ? vec_from_bf16(a) : vec_from_f16(a);
}

/* Whole vectors go past the caches where `stream`; what is stored by them must then be aligned to its size. */
VEC_INLINE void vec_put(void *to, int64_t at, vec a, int64_t count, const braid_dtype dtype, int stream) {
    if (dtype == BRAID_DTYPE_F32) {
        float *floats = (float *)to + at;
        if (count < VEC_LANES)
            vec_store_some(floats, a, count);
        else if (stream)
            vec_stream(floats, a);
        else
            vec_store(floats, a);
        return;
    }
    uint16_t *first = (uint16_t *)to + at;
    vec_half half = dtype == BRAID_DTYPE_BF16 ? vec_to_bf16(a) : vec_to_f16(a);
    if (count < VEC_LANES)
        vec_half_store_some(first, half, count);
    else if (stream)
        vec_half_stream(first, half);
    else
        vec_half_store(first, half);
}

#endif
