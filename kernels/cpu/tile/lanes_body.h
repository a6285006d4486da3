/*
 * The loops of lanes.h over pixels, in terms of vec_*.h. Included once per instruction set. Channels that do not
 * fill a vector go through the same arithmetic with empty lanes, so a result does not depend on where a value
 * lies; kind and dtype are constants where inlined.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

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

VEC_INLINE vec scale_shift_vec(const lanes_map *m, vec x, int which, int64_t c, int64_t count) {
    return vec_mul_add(x, coefficient_vec(m, which, c, count), coefficient_vec(m, which + 1, c, count));
}

/* The gradient of normalised input from that of the output. */
VEC_INLINE vec bn_gradient_vec(const lanes_map *m, vec x, vec g, int64_t c, int64_t count) {
    vec slope = coefficient_vec(m, 0, c, count);
    if (!m->coefficient[1]) return vec_mul(g, slope);
    vec away = vec_sub(x, coefficient_vec(m, 3, c, count));
    vec bent = vec_mul_add(away, coefficient_vec(m, 1, c, count), coefficient_vec(m, 2, c, count));
    return vec_mul_add(g, slope, bent);
}

/* The kinds that normalise, and one more. */
VEC_INLINE vec fused_vec(const lanes_map *m, vec x, int64_t at, int64_t c, int64_t count, const lanes_kind kind,
                         const braid_dtype dtype) {
    const lanes_kind act = LANES_RELU + (kind - LANES_BN_RELU);
    if (kind <= LANES_BN_GELU_TANH) return activate_vec(scale_shift_vec(m, x, 0, c, count), act);
    vec z = vec_get(m->z, at, count, dtype);
    if (kind == LANES_BN_ADD_RELU) return activate_vec(vec_add(scale_shift_vec(m, x, 0, c, count), z), LANES_RELU);
    if (kind == LANES_BN_ADD_NORM_RELU) {
        return activate_vec(vec_add(scale_shift_vec(m, x, 0, c, count), scale_shift_vec(m, z, 2, c, count)),
                            LANES_RELU);
    }
    if (kind <= LANES_GATE_GELU_TANH) {
        const lanes_kind gate = LANES_RELU_GRADIENT + (kind - LANES_GATE_RELU);
        return activate_gradient_vec(scale_shift_vec(m, x, 0, c, count), z, gate);
    }
    if (kind == LANES_BN_ADD_GRADIENT) {
        vec g = vec_select(vec_beats(vec_get(m->y, at, count, dtype), vec_zero()), z, vec_zero());
        vec_put(m->also, at, g, count, dtype, count == VEC_LANES && m->stream);
        return bn_gradient_vec(m, x, g, c, count);
    }
    const lanes_kind gate = LANES_RELU_GRADIENT + (kind - LANES_BN_RELU_GRADIENT);
    return bn_gradient_vec(m, x, activate_gradient_vec(scale_shift_vec(m, x, 4, c, count), z, gate), c, count);
}

/* `count` values from element `at` on, the first of channel c. */
VEC_INLINE vec map_vec(const lanes_map *m, int64_t at, int64_t c, int64_t count, const lanes_kind kind,
                       const braid_dtype dtype) {
    vec x = vec_get(m->x, at, count, dtype);
    if (kind == LANES_SCALE_SHIFT) return scale_shift_vec(m, x, 0, c, count);
    if (kind > LANES_BN_GRADIENT) return fused_vec(m, x, at, c, count, kind, dtype);
    if (kind <= LANES_GELU_TANH) return activate_vec(x, kind);
    vec z = vec_get(m->z, at, count, dtype);
    if (kind == LANES_ADD) return vec_add(x, z);
    if (kind <= LANES_GELU_TANH_GRADIENT) return activate_gradient_vec(x, z, kind);
    return bn_gradient_vec(m, x, z, c, count);
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
        case LANES_BN_RELU: map_kind(m, LANES_BN_RELU); break;
        case LANES_BN_GELU: map_kind(m, LANES_BN_GELU); break;
        case LANES_BN_GELU_TANH: map_kind(m, LANES_BN_GELU_TANH); break;
        case LANES_BN_ADD_RELU: map_kind(m, LANES_BN_ADD_RELU); break;
        case LANES_BN_ADD_NORM_RELU: map_kind(m, LANES_BN_ADD_NORM_RELU); break;
        case LANES_GATE_RELU: map_kind(m, LANES_GATE_RELU); break;
        case LANES_GATE_GELU: map_kind(m, LANES_GATE_GELU); break;
        case LANES_GATE_GELU_TANH: map_kind(m, LANES_GATE_GELU_TANH); break;
        case LANES_BN_RELU_GRADIENT: map_kind(m, LANES_BN_RELU_GRADIENT); break;
        case LANES_BN_GELU_GRADIENT: map_kind(m, LANES_BN_GELU_GRADIENT); break;
        case LANES_BN_GELU_TANH_GRADIENT: map_kind(m, LANES_BN_GELU_TANH_GRADIENT); break;
        case LANES_BN_ADD_GRADIENT: map_kind(m, LANES_BN_ADD_GRADIENT); break;
    }
}

/* ---- Casts --------------------------------------------------------------------------------- */

/* Formats are constants where inlined. What becomes a half is made quiet by its rounding. */
VEC_INLINE vec cast_vec(const void *from, int64_t at, int64_t count, const braid_dtype dtype, const braid_dtype to) {
    vec a = vec_get(from, at, count, dtype);
    return to == BRAID_DTYPE_F32 && dtype != BRAID_DTYPE_F32 ? vec_quiet(a) : a;
}

VEC_INLINE void cast_loop(const lanes_cast *given, const braid_dtype dtype, const braid_dtype to) {
    const lanes_cast c = *given;
    int64_t i = 0;
    for (; i + VEC_LANES <= c.count; i += VEC_LANES)
        vec_put(c.to, i, cast_vec(c.from, i, VEC_LANES, dtype, to), VEC_LANES, to, c.stream);
    if (i < c.count) vec_put(c.to, i, cast_vec(c.from, i, c.count - i, dtype, to), c.count - i, to, 0);
    if (c.stream) vec_fence();
}

VEC_INLINE void cast_from(const lanes_cast *c, const braid_dtype dtype) {
    if (c->to_dtype == BRAID_DTYPE_F32)
        cast_loop(c, dtype, BRAID_DTYPE_F32);
    else if (c->to_dtype == BRAID_DTYPE_BF16)
        cast_loop(c, dtype, BRAID_DTYPE_BF16);
    else
        cast_loop(c, dtype, BRAID_DTYPE_F16);
}

VEC_TARGET static void cast(const lanes_cast *c) {
    if (c->dtype == BRAID_DTYPE_F32)
        cast_from(c, BRAID_DTYPE_F32);
    else if (c->dtype == BRAID_DTYPE_BF16)
        cast_from(c, BRAID_DTYPE_BF16);
    else
        cast_from(c, BRAID_DTYPE_F16);
}

/* ---- Sums ---------------------------------------------------------------------------------- */

#define SUM_VECS 2                             /* of channels at a time */
#define SUM_CHANNELS (SUM_VECS * VEC_LANES)    /* of them */
#define SUM_PARTS (SUM_CHANNELS / VEC_DOUBLES) /* vectors of doubles that hold one sum of them */
#define SUM_PIXELS 8                           /* between loading and storing the sums */
#define SUM_AHEAD 16                           /* pixels, of what is asked for before it is needed */

/* A few pixels of some channels as floats, and where their sums are. */
typedef struct sum_view {
    const float *x, *dy; /* dy is not looked at for sums of squares */
    int64_t pitch, count;
    const float *center;
    double *first, *second;
} sum_view;

/* Both sums of `parts` vectors of doubles. Those are made from memory, which takes less time than from a register. */
VEC_INLINE void sum_block(const sum_view *s, const int parts, const int squares) {
    vec_double sum[SUM_PARTS], product[SUM_PARTS], middle[SUM_PARTS];
#pragma GCC unroll 8
    for (int i = 0; i < parts; i++) {
        sum[i] = vec_double_load(s->first + i * VEC_DOUBLES);
        product[i] = vec_double_load(s->second + i * VEC_DOUBLES);
        middle[i] = vec_double_from(s->center + i * VEC_DOUBLES);
    }
    for (int64_t pixel = 0; pixel < s->count; pixel++) {
        const float *x = s->x + pixel * s->pitch, *dy = squares ? x : s->dy + pixel * s->pitch;
#pragma GCC unroll 8
        for (int i = 0; i < parts; i++) {
            vec_double away = vec_double_sub(vec_double_from(x + i * VEC_DOUBLES), middle[i]);
            vec_double e = squares ? away : vec_double_from(dy + i * VEC_DOUBLES);
            sum[i] = vec_double_add(sum[i], e);
            product[i] = vec_double_mul_add(e, away, product[i]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < parts; i++) {
        vec_double_store(s->first + i * VEC_DOUBLES, sum[i]);
        vec_double_store(s->second + i * VEC_DOUBLES, product[i]);
    }
}

/* Up to SUM_CHANNELS values of every pixel as floats, SUM_CHANNELS apart and with zeros up to a whole vector; `at` is
 * the first of them. */
VEC_INLINE void sum_widen(float *to, const lanes_sums *s, const void *from, int64_t at, int64_t pixels,
                          int64_t channels, const braid_dtype dtype) {
    for (int64_t pixel = 0; pixel < pixels; pixel++, at += s->pitch, to += SUM_CHANNELS) {
        vec_store(to, vec_get(from, at, channels, dtype));
        if (channels > VEC_LANES) vec_store(to + VEC_LANES, vec_get(from, at + VEC_LANES, channels - VEC_LANES, dtype));
    }
}

/* Puts the gate before a block of gradients that sum_widen made; x is the block of its inputs. */
VEC_INLINE void gate_block(const lanes_sums *s, const float *x, float *dy, int64_t begin, int64_t pixels, int64_t c,
                           int64_t channels, const braid_dtype dtype) {
    const lanes_kind kind = LANES_RELU_GRADIENT + (s->gate - LANES_GATE_RELU);
    for (int64_t first = 0; first < channels; first += VEC_LANES) {
        int64_t count = channels - first < VEC_LANES ? channels - first : VEC_LANES;
        vec scale = vec_zero(), shift = vec_zero();
        if (s->gate != LANES_BN_ADD_GRADIENT) {
            scale = vec_get(s->scale, c + first, count, BRAID_DTYPE_F32);
            shift = vec_get(s->shift, c + first, count, BRAID_DTYPE_F32);
        }
        for (int64_t pixel = 0; pixel < pixels; pixel++) {
            float *to = dy + pixel * SUM_CHANNELS + first;
            vec u = vec_mul_add(vec_load(x + pixel * SUM_CHANNELS + first), scale, shift), z = vec_load(to);
            if (s->gate == LANES_BN_ADD_GRADIENT) {
                vec y = vec_get(s->y, (begin + pixel) * s->pitch + c + first, count, dtype);
                vec_store(to, vec_select(vec_beats(y, vec_zero()), z, vec_zero()));
            } else if (kind == LANES_RELU_GRADIENT) {
                vec_store(to, activate_gradient_vec(u, z, LANES_RELU_GRADIENT));
            } else if (kind == LANES_GELU_GRADIENT) {
                vec_store(to, activate_gradient_vec(u, z, LANES_GELU_GRADIENT));
            } else {
                vec_store(to, activate_gradient_vec(u, z, LANES_GELU_TANH_GRADIENT));
            }
        }
    }
}

/* Asks the second cache for pixels that are needed soon, or for what lies behind the last of all, which does no harm:
 * as many values as a block has, in such an order that the blocks of all channels ask for memory without a gap. */
VEC_INLINE void sum_prefetch(const lanes_sums *s, const void *from, int64_t begin, int64_t c, const braid_dtype dtype) {
    const uintptr_t bytes = dtype == BRAID_DTYPE_F32 ? 4 : 2;
    const uintptr_t first = (uintptr_t)from + (uintptr_t)((begin + SUM_AHEAD) * s->pitch + c * SUM_PIXELS) * bytes;
    for (uintptr_t line = 0; line < SUM_CHANNELS * SUM_PIXELS * bytes; line += 64) {
        __builtin_prefetch((const void *)(first + line), 0, 2);
    }
}

/* Up to SUM_CHANNELS channels from c on. The sums are those of SUM_CHANNELS channels. */
VEC_INLINE void sum_channels(const lanes_sums *s, sum_view view, int64_t begin, int64_t c, int64_t channels,
                             const int squares, const braid_dtype dtype) {
    float x[SUM_PIXELS * SUM_CHANNELS], dy[SUM_PIXELS * SUM_CHANNELS];
    sum_prefetch(s, s->x, begin, c, dtype);
    if (!squares) sum_prefetch(s, s->dy, begin, c, dtype);
    if (dtype == BRAID_DTYPE_F32 && channels == SUM_CHANNELS && !s->gate) {
        view.x = (const float *)s->x + begin * s->pitch + c;
        view.dy = squares ? NULL : (const float *)s->dy + begin * s->pitch + c;
        view.pitch = s->pitch;
    } else {
        sum_widen(x, s, s->x, begin * s->pitch + c, view.count, channels, dtype);
        if (!squares) sum_widen(dy, s, s->dy, begin * s->pitch + c, view.count, channels, dtype);
        if (s->gate) gate_block(s, x, dy, begin, view.count, c, channels, dtype);
        view.x = x;
        view.dy = dy;
        view.pitch = SUM_CHANNELS;
    }
    if (channels > VEC_LANES)
        sum_block(&view, SUM_PARTS, squares);
    else
        sum_block(&view, VEC_LANES / VEC_DOUBLES, squares);
}

/* The last channels, fewer than SUM_CHANNELS: their sums are kept on the stack meanwhile. */
VEC_INLINE void sum_rest(const lanes_sums *s, int64_t begin, int64_t pixels, int64_t c, const int squares,
                         const braid_dtype dtype) {
    float center[SUM_CHANNELS] = {0};
    double first[SUM_CHANNELS] = {0}, second[SUM_CHANNELS] = {0};
    const int64_t channels = s->channels - c;
    memcpy(center, s->center + c, (size_t)channels * sizeof *center);
    memcpy(first, s->first + c, (size_t)channels * sizeof *first);
    memcpy(second, s->second + c, (size_t)channels * sizeof *second);
    sum_channels(s, (sum_view){NULL, NULL, 0, pixels, center, first, second}, begin, c, channels, squares, dtype);
    memcpy(s->first + c, first, (size_t)channels * sizeof *first);
    memcpy(s->second + c, second, (size_t)channels * sizeof *second);
}

/* A few pixels at a time, all their channels: memory is then read in one direction. */
VEC_INLINE void sum_pixels(const lanes_sums *s, const int squares, const braid_dtype dtype) {
    for (int64_t begin = 0; begin < s->count; begin += SUM_PIXELS) {
        int64_t pixels = begin + SUM_PIXELS < s->count ? SUM_PIXELS : s->count - begin, c = 0;
        for (; c + SUM_CHANNELS <= s->channels; c += SUM_CHANNELS) {
            const sum_view view = {NULL, NULL, 0, pixels, s->center + c, s->first + c, s->second + c};
            sum_channels(s, view, begin, c, SUM_CHANNELS, squares, dtype);
        }
        if (c < s->channels) sum_rest(s, begin, pixels, c, squares, dtype);
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
