/*
 * The loops of halves.h, in terms of vec_*.h. Included once per instruction set. What does not fill a vector
 * goes through the same arithmetic with empty lanes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/tile/halves.h"

/* `bf16` is a constant where inlined. */
VEC_INLINE vec load_half(const uint16_t *from, const int bf16) {
    return bf16 ? vec_load_bf16(from) : vec_load_f16(from);
}

VEC_INLINE void store_half(uint16_t *to, vec a, const int bf16) {
    if (bf16)
        vec_store_bf16(to, a);
    else
        vec_store_f16(to, a);
}

VEC_INLINE void widen(float *to, const uint16_t *from, int64_t count, const int bf16) {
    uint16_t last[VEC_LANES] = {0};
    int64_t i = 0;
    for (; i + VEC_LANES <= count; i += VEC_LANES) vec_store(to + i, load_half(from + i, bf16));
    if (i == count) return;
    memcpy(last, from + i, (size_t)(count - i) * sizeof *from);
    vec_store_some(to + i, load_half(last, bf16), count - i);
}

VEC_INLINE void narrow(uint16_t *to, const float *from, int64_t count, const int bf16) {
    uint16_t last[VEC_LANES];
    int64_t i = 0;
    for (; i + VEC_LANES <= count; i += VEC_LANES) store_half(to + i, vec_load(from + i), bf16);
    if (i == count) return;
    store_half(last, vec_load_some(from + i, count - i), bf16);
    memcpy(to + i, last, (size_t)(count - i) * sizeof *to);
}

VEC_TARGET static void widen_bf16(float *to, const uint16_t *from, int64_t count) { widen(to, from, count, 1); }
VEC_TARGET static void narrow_bf16(uint16_t *to, const float *from, int64_t count) { narrow(to, from, count, 1); }
VEC_TARGET static void widen_f16(float *to, const uint16_t *from, int64_t count) { widen(to, from, count, 0); }
VEC_TARGET static void narrow_f16(uint16_t *to, const float *from, int64_t count) { narrow(to, from, count, 0); }
