/*
 * The loops of channels.h over pixels, in terms of vec_*.h. Included once per instruction set. Channels that do not
 * fill a vector go through the same arithmetic with empty lanes, so a result does not depend on where a value
 * lies; kind and dtype are constants where inlined.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/isa/channels.h"
#include "kernels/cpu/isa/vec_any.h"
#include "kernels/cpu/isa/vec_math.h"

/* ---- Maps ---------------------------------------------------------------------------------- */

VEC_INLINE vec activate_vec(vec x, const channel_kind kind) {
    if (kind == CHANNEL_RELU) return vec_select(vec_greater(vec_zero(), x), vec_zero(), x);
    return vec_mul(x, kind == CHANNEL_GELU ? vec_normal(x).cdf : vec_normal_tanh(x).cdf);
}

VEC_INLINE vec activate_gradient_vec(vec x, vec z, const channel_kind kind) {
    if (kind == CHANNEL_RELU_GRADIENT) return vec_select(vec_beats(x, vec_zero()), z, vec_zero());
    vec_bell bell = kind == CHANNEL_GELU_GRADIENT ? vec_normal(x) : vec_normal_tanh(x);
    return vec_mul(z, vec_mul_add(x, bell.density, bell.cdf));
}

VEC_INLINE vec coefficient_vec(const channel_map *m, int which, int64_t c, int64_t count) {
    return vec_get(m->coefficient[which], c, count, BRAID_DTYPE_F32);
}

VEC_INLINE vec scale_shift_vec(const channel_map *m, vec x, int which, int64_t c, int64_t count) {
    return vec_mul_add(x, coefficient_vec(m, which, c, count), coefficient_vec(m, which + 1, c, count));
}

/* The gradient of normalised input from that of the output. */
VEC_INLINE vec bn_gradient_vec(const channel_map *m, vec x, vec g, int64_t c, int64_t count) {
    vec slope = coefficient_vec(m, 0, c, count);
    if (!m->coefficient[1]) return vec_mul(g, slope);
    vec away = vec_sub(x, coefficient_vec(m, 3, c, count));
    vec bent = vec_mul_add(away, coefficient_vec(m, 1, c, count), coefficient_vec(m, 2, c, count));
    return vec_mul_add(g, slope, bent);
}

/* The kinds that normalise, and one more. */
VEC_INLINE vec fused_vec(const channel_map *m, vec x, int64_t at, int64_t c, int64_t count, const channel_kind kind,
                         const braid_dtype dtype) {
    const channel_kind act = CHANNEL_RELU + (kind - CHANNEL_BN_RELU);
    if (kind <= CHANNEL_BN_GELU_TANH) return activate_vec(scale_shift_vec(m, x, 0, c, count), act);
    vec z = vec_get(m->z, at, count, dtype);
    if (kind == CHANNEL_BN_ADD_RELU) return activate_vec(vec_add(scale_shift_vec(m, x, 0, c, count), z), CHANNEL_RELU);
    if (kind == CHANNEL_BN_ADD_NORM_RELU) {
        return activate_vec(vec_add(scale_shift_vec(m, x, 0, c, count), scale_shift_vec(m, z, 2, c, count)),
                            CHANNEL_RELU);
    }
    if (kind <= CHANNEL_GATE_GELU_TANH) {
        const channel_kind gate = CHANNEL_RELU_GRADIENT + (kind - CHANNEL_GATE_RELU);
        return activate_gradient_vec(scale_shift_vec(m, x, 0, c, count), z, gate);
    }
    if (kind == CHANNEL_BN_ADD_GRADIENT) {
        vec g = vec_select(vec_beats(vec_get(m->y, at, count, dtype), vec_zero()), z, vec_zero());
        vec_put(m->also, at, g, count, dtype, count == VEC_LANES && m->stream);
        return bn_gradient_vec(m, x, g, c, count);
    }
    const channel_kind gate = CHANNEL_RELU_GRADIENT + (kind - CHANNEL_BN_RELU_GRADIENT);
    return bn_gradient_vec(m, x, activate_gradient_vec(scale_shift_vec(m, x, 4, c, count), z, gate), c, count);
}

/* `count` values from element `at` on, the first of channel c. */
VEC_INLINE vec map_vec(const channel_map *m, int64_t at, int64_t c, int64_t count, const channel_kind kind,
                       const braid_dtype dtype) {
    vec x = vec_get(m->x, at, count, dtype);
    if (kind == CHANNEL_SCALE_SHIFT) return scale_shift_vec(m, x, 0, c, count);
    if (kind > CHANNEL_BN_GRADIENT) return fused_vec(m, x, at, c, count, kind, dtype);
    if (kind <= CHANNEL_GELU_TANH) return activate_vec(x, kind);
    vec z = vec_get(m->z, at, count, dtype);
    if (kind == CHANNEL_ADD) return vec_add(x, z);
    if (kind <= CHANNEL_GELU_TANH_GRADIENT) return activate_gradient_vec(x, z, kind);
    return bn_gradient_vec(m, x, z, c, count);
}

/* Pixels without a gap are one long pixel where no channel differs from another. The copy of the argument tells the
 * compiler that no store changes it. */
VEC_INLINE void map_loop(const channel_map *given, const channel_kind kind, const braid_dtype dtype) {
    const channel_map m = *given;
    const int whole = kind <= CHANNEL_ADD && m.channels == m.pitch;
    int64_t pixels = whole ? 1 : m.count, values = whole ? m.channels * m.count : m.channels;
    for (int64_t i = 0; i < pixels; i++) {
        int64_t at = i * m.pitch, c = 0;
        for (; c + VEC_LANES <= values; c += VEC_LANES) {
            vec_put(m.out, at + c, map_vec(&m, at + c, c, VEC_LANES, kind, dtype), VEC_LANES, dtype, m.stream);
        }
        if (c < values) {
            vec_put(m.out, at + c, map_vec(&m, at + c, c, values - c, kind, dtype), values - c, dtype, 0);
        }
    }
    if (m.stream) vec_fence();
}

VEC_INLINE void map_kind(const channel_map *m, const channel_kind kind) {
    if (m->dtype == BRAID_DTYPE_F32)
        map_loop(m, kind, BRAID_DTYPE_F32);
    else if (m->dtype == BRAID_DTYPE_BF16)
        map_loop(m, kind, BRAID_DTYPE_BF16);
    else
        map_loop(m, kind, BRAID_DTYPE_F16);
}

VEC_TARGET static void map(const channel_map *m) {
    switch (m->kind) {
        case CHANNEL_RELU: map_kind(m, CHANNEL_RELU); break;
        case CHANNEL_GELU: map_kind(m, CHANNEL_GELU); break;
        case CHANNEL_GELU_TANH: map_kind(m, CHANNEL_GELU_TANH); break;
        case CHANNEL_RELU_GRADIENT: map_kind(m, CHANNEL_RELU_GRADIENT); break;
        case CHANNEL_GELU_GRADIENT: map_kind(m, CHANNEL_GELU_GRADIENT); break;
        case CHANNEL_GELU_TANH_GRADIENT: map_kind(m, CHANNEL_GELU_TANH_GRADIENT); break;
        case CHANNEL_ADD: map_kind(m, CHANNEL_ADD); break;
        case CHANNEL_SCALE_SHIFT: map_kind(m, CHANNEL_SCALE_SHIFT); break;
        case CHANNEL_BN_GRADIENT: map_kind(m, CHANNEL_BN_GRADIENT); break;
        case CHANNEL_BN_RELU: map_kind(m, CHANNEL_BN_RELU); break;
        case CHANNEL_BN_GELU: map_kind(m, CHANNEL_BN_GELU); break;
        case CHANNEL_BN_GELU_TANH: map_kind(m, CHANNEL_BN_GELU_TANH); break;
        case CHANNEL_BN_ADD_RELU: map_kind(m, CHANNEL_BN_ADD_RELU); break;
        case CHANNEL_BN_ADD_NORM_RELU: map_kind(m, CHANNEL_BN_ADD_NORM_RELU); break;
        case CHANNEL_GATE_RELU: map_kind(m, CHANNEL_GATE_RELU); break;
        case CHANNEL_GATE_GELU: map_kind(m, CHANNEL_GATE_GELU); break;
        case CHANNEL_GATE_GELU_TANH: map_kind(m, CHANNEL_GATE_GELU_TANH); break;
        case CHANNEL_BN_RELU_GRADIENT: map_kind(m, CHANNEL_BN_RELU_GRADIENT); break;
        case CHANNEL_BN_GELU_GRADIENT: map_kind(m, CHANNEL_BN_GELU_GRADIENT); break;
        case CHANNEL_BN_GELU_TANH_GRADIENT: map_kind(m, CHANNEL_BN_GELU_TANH_GRADIENT); break;
        case CHANNEL_BN_ADD_GRADIENT: map_kind(m, CHANNEL_BN_ADD_GRADIENT); break;
    }
}

/* ---- Casts --------------------------------------------------------------------------------- */

/* Formats are constants where inlined. What becomes a half is made quiet by its rounding. */
VEC_INLINE vec cast_vec(const void *from, int64_t at, int64_t count, const braid_dtype dtype, const braid_dtype to) {
    vec a = vec_get(from, at, count, dtype);
    return to == BRAID_DTYPE_F32 && dtype != BRAID_DTYPE_F32 ? vec_quiet(a) : a;
}

VEC_INLINE void cast_loop(const channel_cast *given, const braid_dtype dtype, const braid_dtype to) {
    const channel_cast c = *given;
    int64_t i = 0;
    for (; i + VEC_LANES <= c.count; i += VEC_LANES)
        vec_put(c.to, i, cast_vec(c.from, i, VEC_LANES, dtype, to), VEC_LANES, to, c.stream);
    if (i < c.count) vec_put(c.to, i, cast_vec(c.from, i, c.count - i, dtype, to), c.count - i, to, 0);
    if (c.stream) vec_fence();
}

VEC_INLINE void cast_from(const channel_cast *c, const braid_dtype dtype) {
    if (c->to_dtype == BRAID_DTYPE_F32)
        cast_loop(c, dtype, BRAID_DTYPE_F32);
    else if (c->to_dtype == BRAID_DTYPE_BF16)
        cast_loop(c, dtype, BRAID_DTYPE_BF16);
    else
        cast_loop(c, dtype, BRAID_DTYPE_F16);
}

VEC_TARGET static void cast(const channel_cast *c) {
    if (c->dtype == BRAID_DTYPE_F32)
        cast_from(c, BRAID_DTYPE_F32);
    else if (c->dtype == BRAID_DTYPE_BF16)
        cast_from(c, BRAID_DTYPE_BF16);
    else
        cast_from(c, BRAID_DTYPE_F16);
}
