/*
 * The loops of halves.h, in terms of vec_*.h. Included once per instruction set. What does not fill a vector
 * goes through the same arithmetic with empty lanes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/halves.h"
#include "kernels/cpu/isa/vec_any.h"

/* `dtype` is a constant where inlined. */
VEC_INLINE void widen(float *to, const uint16_t *from, int64_t count, const braid_dtype dtype) {
    int64_t i = 0;
    for (; i + VEC_LANES <= count; i += VEC_LANES) vec_store(to + i, vec_quiet(vec_get(from, i, VEC_LANES, dtype)));
    if (i < count) vec_store_some(to + i, vec_quiet(vec_get(from, i, count - i, dtype)), count - i);
}

VEC_INLINE void narrow(uint16_t *to, const float *from, int64_t count, const braid_dtype dtype) {
    int64_t i = 0;
    for (; i + VEC_LANES <= count; i += VEC_LANES) vec_put(to, i, vec_load(from + i), VEC_LANES, dtype, 0);
    if (i < count) vec_put(to, i, vec_load_some(from + i, count - i), count - i, dtype, 0);
}

VEC_TARGET static void widen_bf16(float *to, const uint16_t *from, int64_t count) {
    widen(to, from, count, BRAID_DTYPE_BF16);
}

VEC_TARGET static void narrow_bf16(uint16_t *to, const float *from, int64_t count) {
    narrow(to, from, count, BRAID_DTYPE_BF16);
}

VEC_TARGET static void widen_f16(float *to, const uint16_t *from, int64_t count) {
    widen(to, from, count, BRAID_DTYPE_F16);
}

VEC_TARGET static void narrow_f16(uint16_t *to, const float *from, int64_t count) {
    narrow(to, from, count, BRAID_DTYPE_F16);
}
