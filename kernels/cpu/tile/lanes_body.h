/*
 * The loops of lanes.h over pixels, in terms of vec_*.h. Included once per instruction set. Channels that do not
 * fill a vector go through the same arithmetic with empty lanes, so a result does not depend on where a value
 * lies; kind and dtype are constants where inlined.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/lanes.h"
#include "kernels/cpu/tile/vec_any.h"
#include "kernels/cpu/tile/vec_math.h"

/* ---- Maps ---------------------------------------------------------------------------------- */

VEC_INLINE vec activate_vec(vec x, const lanes_kind kind) {
    if (kind == LANES_RELU) return vec_select(vec_greater(vec_zero(), x), vec_zero(), x);
    return vec_mul(x, kind == LANES_GELU ? vec_normal(x).cdf : vec_normal_tanh(x).cdf);
}

VEC_INLINE vec activate_gradient_vec(vec x, vec z, const lanes_kind kind) {
    if (kind == LANES_RELU_GRADIENT) return vec_select(vec_beats(x, vec_zero()), z, vec_zero());
    vec_bell bell = kind == LANES_GELU_GRADIENT ? vec_normal(x) : vec_normal_tanh(x);
    return vec_mul(z, vec_mul_add(x, bell.density, bell.cdf));
}

VEC_INLINE vec coefficient_vec(const lanes_map *m, int which, int64_t c, int64_t count) {
    return vec_get(m->coefficient[which], c, count, BRAID_DTYPE_F32);
}

/* `count` values from element `at` on, the first of channel c. */
VEC_INLINE vec map_vec(const lanes_map *m, int64_t at, int64_t c, int64_t count, const lanes_kind kind,
                       const braid_dtype dtype) {
    vec x = vec_get(m->x, at, count, dtype);
    if (kind == LANES_SCALE_SHIFT) {
        return vec_mul_add(x, coefficient_vec(m, 0, c, count), coefficient_vec(m, 1, c, count));
    }
    if (kind <= LANES_GELU_TANH) return activate_vec(x, kind);
    vec z = vec_get(m->z, at, count, dtype);
    if (kind == LANES_ADD) return vec_add(x, z);
    if (kind <= LANES_GELU_TANH_GRADIENT) return activate_gradient_vec(x, z, kind);
    vec away = vec_sub(x, coefficient_vec(m, 3, c, count));
    vec bent = vec_mul_add(away, coefficient_vec(m, 1, c, count), coefficient_vec(m, 2, c, count));
    return vec_mul_add(z, coefficient_vec(m, 0, c, count), bent);
}

/* Pixels without a gap are one long pixel where no channel differs from another. The copy of the argument tells the
 * compiler that no store changes it. */
VEC_INLINE void map_loop(const lanes_map *given, const lanes_kind kind, const braid_dtype dtype) {
    const lanes_map m = *given;
    const int whole = kind <= LANES_ADD && m.channels == m.pitch;
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

VEC_INLINE void map_kind(const lanes_map *m, const lanes_kind kind) {
    if (m->dtype == BRAID_DTYPE_F32)
        map_loop(m, kind, BRAID_DTYPE_F32);
    else if (m->dtype == BRAID_DTYPE_BF16)
        map_loop(m, kind, BRAID_DTYPE_BF16);
    else
        map_loop(m, kind, BRAID_DTYPE_F16);
}

VEC_TARGET static void map(const lanes_map *m) {
    switch (m->kind) {
        case LANES_RELU: map_kind(m, LANES_RELU); break;
        case LANES_GELU: map_kind(m, LANES_GELU); break;
        case LANES_GELU_TANH: map_kind(m, LANES_GELU_TANH); break;
        case LANES_RELU_GRADIENT: map_kind(m, LANES_RELU_GRADIENT); break;
        case LANES_GELU_GRADIENT: map_kind(m, LANES_GELU_GRADIENT); break;
        case LANES_GELU_TANH_GRADIENT: map_kind(m, LANES_GELU_TANH_GRADIENT); break;
        case LANES_ADD: map_kind(m, LANES_ADD); break;
        case LANES_SCALE_SHIFT: map_kind(m, LANES_SCALE_SHIFT); break;
        case LANES_BN_GRADIENT: map_kind(m, LANES_BN_GRADIENT); break;
    }
}

/* ---- Sums ---------------------------------------------------------------------------------- */

#define SUM_VECS 4    /* registers of each of the two sums */
#define SUM_PIXELS 16 /* between loading and storing them */

/* Both sums of `vecs` vectors of channels from c on, over pixels [begin, end); there is no dy where `squares`. */
VEC_INLINE void sum_block(const lanes_sums *s, int64_t begin, int64_t end, int64_t c, const int vecs, const int squares,
                          const braid_dtype dtype) {
    vec_double sum[SUM_VECS], product[SUM_VECS], middle[SUM_VECS];
#pragma GCC unroll 4
    for (int v = 0; v < vecs; v++) {
        sum[v] = vec_double_load(s->first + c + v * VEC_DOUBLES);
        product[v] = vec_double_load(s->second + c + v * VEC_DOUBLES);
        middle[v] = vec_double_from(s->center + c + v * VEC_DOUBLES);
    }
    for (int64_t i = begin; i < end; i++) {
        int64_t at = i * s->pitch + c;
#pragma GCC unroll 4
        for (int v = 0; v < vecs; v++) {
            vec_double away = vec_double_sub(vec_double_get(s->x, at + v * VEC_DOUBLES, dtype), middle[v]);
            vec_double e = squares ? away : vec_double_get(s->dy, at + v * VEC_DOUBLES, dtype);
            sum[v] = vec_double_add(sum[v], e);
            product[v] = vec_double_mul_add(e, away, product[v]);
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vecs; v++) {
        vec_double_store(s->first + c + v * VEC_DOUBLES, sum[v]);
        vec_double_store(s->second + c + v * VEC_DOUBLES, product[v]);
    }
}

/* One channel behind the last vector. */
VEC_INLINE void sum_channel(const lanes_sums *s, int64_t begin, int64_t end, int64_t c, const int squares,
                            const braid_dtype dtype) {
    float lane[VEC_LANES];
    for (int64_t i = begin; i < end; i++) {
        vec_store(lane, vec_get(s->x, i * s->pitch + c, 1, dtype));
        double away = (double)lane[0] - (double)s->center[c];
        if (!squares) vec_store(lane, vec_get(s->dy, i * s->pitch + c, 1, dtype));
        double e = squares ? away : (double)lane[0];
        s->first[c] += e;
        s->second[c] += e * away;
    }
}

/* A few pixels at a time, all their channels: memory is then read in one direction. */
VEC_INLINE void sum_pixels(const lanes_sums *given, const int squares, const braid_dtype dtype) {
    const lanes_sums s = *given;
    for (int64_t begin = 0; begin < s.count; begin += SUM_PIXELS) {
        int64_t end = begin + SUM_PIXELS < s.count ? begin + SUM_PIXELS : s.count, c = 0;
        for (; c + SUM_VECS * VEC_DOUBLES <= s.channels; c += SUM_VECS * VEC_DOUBLES) {
            sum_block(&s, begin, end, c, SUM_VECS, squares, dtype);
        }
        for (; c + VEC_DOUBLES <= s.channels; c += VEC_DOUBLES) sum_block(&s, begin, end, c, 1, squares, dtype);
        for (; c < s.channels; c++) sum_channel(&s, begin, end, c, squares, dtype);
    }
}

VEC_INLINE void sum_kind(const lanes_sums *s, const int squares) {
    if (s->dtype == BRAID_DTYPE_F32)
        sum_pixels(s, squares, BRAID_DTYPE_F32);
    else if (s->dtype == BRAID_DTYPE_BF16)
        sum_pixels(s, squares, BRAID_DTYPE_BF16);
    else
        sum_pixels(s, squares, BRAID_DTYPE_F16);
}

VEC_TARGET static void sums(const lanes_sums *s) {
    if (s->dy)
        sum_kind(s, 0);
    else
        sum_kind(s, 1);
}
