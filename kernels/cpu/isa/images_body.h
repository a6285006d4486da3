/*
 * The loops of images.h, in terms of vec_*.h. Included once per instruction set.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/isa/images.h"
#include "kernels/cpu/isa/images_noise_body.h"
#include "kernels/cpu/isa/vec_any.h"

/* ---- Bytes to pixels ----------------------------------------------------------------------- */

/* Bytes `low` up to `high`, the only ones that may be read. */
static inline void copy_between(uint8_t *to, const uint8_t *from, int64_t low, int64_t high) {
    if (high > low) memcpy(to + low, from + low, (size_t)(high - low));
}

VEC_INLINE void normalize_loop(void *y, const images_pattern *t, const images_span *s, const braid_dtype dtype) {
    int64_t start = 0, v = 0;
    for (int64_t at = 0; at < s->values; at += VEC_LANES) {
        uint8_t last[IMAGES_BYTES] = {0};
        const images_vector *one = &t->vectors[v];
        int64_t from = start + one->first, low = -s->back - from, high = s->room - from;
        const uint8_t *bytes = last;
        if (low <= 0 && high >= IMAGES_BYTES)
            bytes = s->x + from;
        else
            copy_between(last, s->x + from, low > 0 ? low : 0, high < IMAGES_BYTES ? high : IMAGES_BYTES);
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

/* ---- Planes -------------------------------------------------------------------------------- */

VEC_INLINE vec clamp_vec(vec a, vec low, vec high) { return vec_at_most(vec_at_least(a, low), high); }

VEC_TARGET static void line(float *x, float scale, float shift, const float range[2], int64_t count) {
    vec factor = vec_spread(scale), offset = vec_spread(shift), low = vec_spread(range[0]), high = vec_spread(range[1]);
    for (int64_t j = 0; j < count; j += VEC_LANES) {
        vec_store(x + j, clamp_vec(vec_mul_add(vec_load(x + j), factor, offset), low, high));
    }
}

VEC_TARGET static void add(float *x, const float *from, float share, int64_t count) {
    vec factor = vec_spread(share);
    for (int64_t j = 0; j < count; j += VEC_LANES)
        vec_store(x + j, vec_mul_add(vec_load(from + j), factor, vec_load(x + j)));
}

VEC_INLINE vec grey_vec(vec r, vec g, vec b) {
    return vec_mul_add(r, vec_spread(0.2989f), vec_mul_add(g, vec_spread(0.587f), vec_mul(b, vec_spread(0.114f))));
}

VEC_INLINE vec grey_at(const images_colours *a, int64_t j) {
    return grey_vec(vec_load(a->r + j), vec_load(a->g + j), vec_load(a->b + j));
}

VEC_TARGET static double grey_sum(const images_colours *a) {
    vec_double sums[2] = {vec_double_zero(), vec_double_zero()};
    float grey[VEC_LANES];
    double parts[VEC_DOUBLES], sum = 0;
    int64_t j = 0;
    for (; j + VEC_LANES <= a->count; j += VEC_LANES) {
        vec_store(grey, grey_at(a, j));
        for (int half = 0; half < 2; half++)
            sums[half] = vec_double_add(sums[half], vec_double_from(grey + half * VEC_DOUBLES));
    }
    vec_double_store(parts, vec_double_add(sums[0], sums[1]));
    for (int lane = 0; lane < VEC_DOUBLES; lane++) sum += parts[lane];
    vec_store(grey, grey_at(a, j));
    for (int lane = 0; lane < a->count - j; lane++) sum += (double)grey[lane];
    return sum;
}

VEC_TARGET static void make_grey(const images_colours *a) {
    for (int64_t j = 0; j < a->count; j += VEC_LANES) {
        vec grey = grey_at(a, j);
        vec_store(a->r + j, grey);
        vec_store(a->g + j, grey);
        vec_store(a->b + j, grey);
    }
}

VEC_TARGET static void saturate(const images_colours *a, float share) {
    vec factor = vec_spread(share), rest = vec_spread(1 - share), zero = vec_zero(), one = vec_spread(1.0f);
    for (int64_t j = 0; j < a->count; j += VEC_LANES) {
        vec r = vec_load(a->r + j), g = vec_load(a->g + j), b = vec_load(a->b + j);
        vec grey = vec_mul(grey_vec(r, g, b), rest);
        vec_store(a->r + j, clamp_vec(vec_mul_add(r, factor, grey), zero, one));
        vec_store(a->g + j, clamp_vec(vec_mul_add(g, factor, grey), zero, one));
        vec_store(a->b + j, clamp_vec(vec_mul_add(b, factor, grey), zero, one));
    }
}

/* A hue in sixths of a turn, `less` where it is beyond 6. */
VEC_INLINE vec wrap_sixths(vec h) {
    vec six = vec_spread(6.0f);
    return vec_select(vec_greater(h, six), vec_sub(h, six), h);
}

/* One channel: the largest value less the span where the hue is far from the channel's own, and between them linear. */
VEC_INLINE vec hue_channel(vec hue, float place, vec high, vec span) {
    vec k = wrap_sixths(vec_add(hue, vec_spread(place)));
    vec near = vec_at_most(k, vec_sub(vec_spread(4.0f), k));
    return vec_sub(high, vec_mul(span, clamp_vec(near, vec_zero(), vec_spread(1.0f))));
}

VEC_TARGET static void turn_hue(const images_colours *a, float sixths) {
    vec zero = vec_zero(), six = vec_spread(6.0f);
    for (int64_t j = 0; j < a->count; j += VEC_LANES) {
        vec r = vec_load(a->r + j), g = vec_load(a->g + j), b = vec_load(a->b + j);
        vec high = vec_at_least(r, vec_at_least(g, b)), span = vec_sub(high, vec_at_most(r, vec_at_most(g, b)));
        vec_mask is_r = vec_equal(high, r), is_g = vec_equal(high, g);
        vec lead = vec_select(is_r, vec_sub(g, b), vec_select(is_g, vec_sub(b, r), vec_sub(r, g)));
        vec base = vec_select(is_r, zero, vec_select(is_g, vec_spread(2.0f), vec_spread(4.0f)));
        vec safe = vec_select(vec_greater(span, zero), span, vec_spread(1.0f));
        vec hue = vec_add(vec_add(base, vec_div(lead, safe)), vec_spread(sixths));
        hue = wrap_sixths(vec_select(vec_greater(zero, hue), vec_add(hue, six), hue));
        vec_store(a->r + j, hue_channel(hue, 5, high, span));
        vec_store(a->g + j, hue_channel(hue, 3, high, span));
        vec_store(a->b + j, hue_channel(hue, 1, high, span));
    }
}

VEC_TARGET static void weigh(float *to, const float *from, int64_t step, const float *weights, int64_t taps,
                             int64_t count) {
    for (int64_t j = 0; j < count; j += VEC_LANES) {
        vec sum = vec_zero();
        for (int64_t t = 0; t < taps; t++) {
            sum = vec_mul_add(vec_load(from + j + t * step), vec_spread(weights[t]), sum);
        }
        vec_store(to + j, sum);
    }
}

const images OF_ISA(images) = {
    .flat = &OF_ISA(flat),
    .width = VEC_LANES,
    .normalize = normalize,
    .line = line,
    .add = add,
    .grey_sum = grey_sum,
    .make_grey = make_grey,
    .saturate = saturate,
    .turn_hue = turn_hue,
    .weigh = weigh,
    .normals = normals,
};
