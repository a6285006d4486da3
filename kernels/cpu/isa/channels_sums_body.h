/*
 * The sums of channels.h, in terms of vec_*.h. Included after channels_map_body.h. A few pixels are summed as floats,
 * which costs a few roundings of what they hold, and then join the sums in double: the error does not grow with the
 * number of pixels, and the arithmetic keeps pace with memory. Gate and dtype are constants where inlined.
 *
 * SPDX-License-Identifier: MIT
 */
#define SUM_VECS 4       /* of channels at a time */
#define SUM_PIXELS 8     /* summed as floats */
#define SUM_AHEAD 8      /* pixels, of what is asked for before it is needed */
#define SUM_SQUARES (-1) /* in place of a gate: e is x - center */

/* Vectors of the channels that are summed; scale and shift where an activation is the gate. */
typedef struct sum_vecs {
    vec center[SUM_VECS], scale[SUM_VECS], shift[SUM_VECS], first[SUM_VECS], second[SUM_VECS];
} sum_vecs;

/* e of channel_sums for `count` values from element `at` on, in vector j of the channels. */
VEC_INLINE vec sum_term(const channel_sums *s, const sum_vecs *v, int j, vec x, int64_t at, int64_t count,
                        const int gate, const braid_dtype dtype) {
    if (gate == SUM_SQUARES) return vec_sub(x, v->center[j]);
    vec dy = vec_get(s->dy, at, count, dtype);
    if (gate == 0) return dy;
    if (gate == CHANNEL_BN_ADD_GRADIENT)
        return vec_select(vec_beats(vec_get(s->y, at, count, dtype), vec_zero()), dy, vec_zero());
    const channel_kind kind = CHANNEL_RELU_GRADIENT + (gate - CHANNEL_GATE_RELU);
    return activate_gradient_vec(vec_mul_add(x, v->scale[j], v->shift[j]), dy, kind);
}

/* Asks the second cache for `values` values that are needed soon, or for what lies behind the last of all, which does
 * no harm. */
VEC_INLINE void sum_prefetch(const void *from, int64_t at, const int values, const braid_dtype dtype) {
    const uintptr_t bytes = dtype == BRAID_DTYPE_F32 ? 4 : 2, first = (uintptr_t)from + (uintptr_t)at * bytes;
    for (uintptr_t line = 0; line < (uintptr_t)values * bytes; line += 64)
        __builtin_prefetch((const void *)(first + line), 0, 2);
}

/* Adds `count` floats to doubles. */
VEC_INLINE void sum_join(double *to, vec from, int64_t count) {
    if (count == VEC_LANES) {
        double *high = to + VEC_DOUBLES;
        vec_double_store(to, vec_double_add(vec_double_load(to), vec_double_low(from)));
        vec_double_store(high, vec_double_add(vec_double_load(high), vec_double_high(from)));
        return;
    }
    float floats[VEC_LANES];
    vec_store(floats, from);
    for (int64_t i = 0; i < count; i++) to[i] += (double)floats[i];
}

/* A few pixels of the channels from c on: `vecs` vectors with `count` lanes each. */
VEC_INLINE void sum_block(const channel_sums *s, int64_t begin, int64_t pixels, int64_t c, int64_t count,
                          const int vecs, const int gate, const braid_dtype dtype) {
    sum_vecs v;
    int64_t later = (begin + SUM_AHEAD) * s->pitch + c * SUM_PIXELS; /* asked for without a gap by all blocks */
#pragma GCC unroll 4
    for (int j = 0; j < vecs; j++) {
        const int64_t at = c + j * VEC_LANES;
        v.center[j] = vec_get(s->center, at, count, BRAID_DTYPE_F32);
        v.first[j] = v.second[j] = v.scale[j] = v.shift[j] = vec_zero();
        if (gate < CHANNEL_GATE_RELU || gate > CHANNEL_GATE_GELU_TANH) continue;
        v.scale[j] = vec_get(s->scale, at, count, BRAID_DTYPE_F32);
        v.shift[j] = vec_get(s->shift, at, count, BRAID_DTYPE_F32);
    }
    for (int64_t pixel = begin; pixel < begin + pixels; pixel++) {
        const int64_t first = pixel * s->pitch + c;
        sum_prefetch(s->x, later, vecs * VEC_LANES, dtype);
        if (gate != SUM_SQUARES) sum_prefetch(s->dy, later, vecs * VEC_LANES, dtype);
        if (gate == CHANNEL_BN_ADD_GRADIENT) sum_prefetch(s->y, later, vecs * VEC_LANES, dtype);
        later += vecs * VEC_LANES;
#pragma GCC unroll 4
        for (int j = 0; j < vecs; j++) {
            const int64_t at = first + j * VEC_LANES;
            vec x = vec_get(s->x, at, count, dtype), e = sum_term(s, &v, j, x, at, count, gate, dtype);
            v.first[j] = vec_add(v.first[j], e);
            v.second[j] = vec_mul_add(e, vec_sub(x, v.center[j]), v.second[j]);
        }
    }
#pragma GCC unroll 4
    for (int j = 0; j < vecs; j++) {
        sum_join(s->first + c + j * VEC_LANES, v.first[j], count);
        sum_join(s->second + c + j * VEC_LANES, v.second[j], count);
    }
}

/* A few pixels at a time, all their channels: memory is then read in one direction. The copy of the argument tells
 * the compiler that no store changes it. */
VEC_INLINE void sum_pixels(const channel_sums *given, const int gate, const braid_dtype dtype) {
    const channel_sums s = *given;
    for (int64_t begin = 0; begin < s.count; begin += SUM_PIXELS) {
        int64_t pixels = begin + SUM_PIXELS < s.count ? SUM_PIXELS : s.count - begin, c = 0;
        for (; c + SUM_VECS * VEC_LANES <= s.channels; c += SUM_VECS * VEC_LANES)
            sum_block(&s, begin, pixels, c, VEC_LANES, SUM_VECS, gate, dtype);
        for (; c + VEC_LANES <= s.channels; c += VEC_LANES) sum_block(&s, begin, pixels, c, VEC_LANES, 1, gate, dtype);
        if (c < s.channels) sum_block(&s, begin, pixels, c, s.channels - c, 1, gate, dtype);
    }
}

VEC_INLINE void sum_kind(const channel_sums *s, const int gate) {
    if (s->dtype == BRAID_DTYPE_F32)
        sum_pixels(s, gate, BRAID_DTYPE_F32);
    else if (s->dtype == BRAID_DTYPE_BF16)
        sum_pixels(s, gate, BRAID_DTYPE_BF16);
    else
        sum_pixels(s, gate, BRAID_DTYPE_F16);
}

VEC_TARGET static void sums(const channel_sums *s) {
    if (!s->dy)
        sum_kind(s, SUM_SQUARES);
    else if (s->gate == CHANNEL_GATE_RELU)
        sum_kind(s, CHANNEL_GATE_RELU);
    else if (s->gate == CHANNEL_GATE_GELU)
        sum_kind(s, CHANNEL_GATE_GELU);
    else if (s->gate == CHANNEL_GATE_GELU_TANH)
        sum_kind(s, CHANNEL_GATE_GELU_TANH);
    else if (s->gate == CHANNEL_BN_ADD_GRADIENT)
        sum_kind(s, CHANNEL_BN_ADD_GRADIENT);
    else
        sum_kind(s, 0);
}
