/*
 * The loops of images.h, in terms of vec_*.h. Included once per instruction set.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/tile/images.h"
#include "kernels/cpu/tile/vec_any.h"

/* ---- Bytes to pixels ----------------------------------------------------------------------- */

VEC_INLINE void normalize_loop(void *y, const images_pattern *t, const images_span *s, const braid_dtype dtype) {
    int64_t start = 0, v = 0;
    for (int64_t at = 0; at < s->values; at += VEC_LANES) {
        uint8_t last[IMAGES_BYTES] = {0};
        const images_vector *one = &t->vectors[v];
        int64_t from = start + one->first, left = s->room - from;
        const uint8_t *bytes = s->x + from;
        if (left < IMAGES_BYTES) {
            memcpy(last, bytes, (size_t)left);
            bytes = last;
        }
        vec a = vec_mul_add(vec_pick_bytes(bytes, one->places), vec_load(one->scale), vec_load(one->shift));
        vec_put(y, at, a, s->values - at < VEC_LANES ? s->values - at : VEC_LANES, dtype, 0);
        if (++v == t->period) {
            v = 0;
            start += t->period_bytes;
        }
    }
}

VEC_TARGET static void normalize(void *y, braid_dtype dtype, const images_pattern *t, const images_span *s) {
    if (dtype == BRAID_DTYPE_F32)
        normalize_loop(y, t, s, BRAID_DTYPE_F32);
    else if (dtype == BRAID_DTYPE_BF16)
        normalize_loop(y, t, s, BRAID_DTYPE_BF16);
    else
        normalize_loop(y, t, s, BRAID_DTYPE_F16);
}
