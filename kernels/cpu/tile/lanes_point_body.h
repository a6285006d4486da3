/*
 * The loops of lanes.h that treat every value alone (activations, sums of two planes) and those of pooling
 * windows, in terms of vec_*.h. Included once per instruction set. What does not fill a vector goes
 * through the same arithmetic with empty lanes, so a result does not depend on where a value lies.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/lanes.h"
#include "kernels/cpu/tile/vec_math.h"

#define MEAN_VECS 4 /* sums of a window at a time */

VEC_INLINE vec load_lanes(const float *from, int64_t count) {
    return count < VEC_LANES ? vec_load_some(from, count) : vec_load(from);
}

VEC_INLINE void store_lanes(float *to, vec a, int64_t count) {
    if (count < VEC_LANES)
        vec_store_some(to, a, count);
    else
        vec_store(to, a);
}

/* ---- One value at a time ------------------------------------------------------------------- */

enum { POINT_RELU, POINT_GELU, POINT_GELU_TANH, POINT_ADD };

VEC_INLINE vec forward_vec(vec x, const int what) {
    if (what == POINT_RELU) return vec_select(vec_greater(vec_zero(), x), vec_zero(), x);
    return vec_mul(x, what == POINT_GELU ? vec_normal(x).cdf : vec_normal_tanh(x).cdf);
}

VEC_INLINE vec backward_vec(vec x, vec dy, const int what) {
    if (what == POINT_RELU) return vec_select(vec_beats(x, vec_zero()), dy, vec_zero());
    vec_bell bell = what == POINT_GELU ? vec_normal(x) : vec_normal_tanh(x);
    return vec_mul(dy, vec_mul_add(x, bell.density, bell.cdf));
}

VEC_INLINE vec point_vec(const float *x, const float *dy, int64_t count, const int what, const int backward) {
    vec a = load_lanes(x, count);
    if (what == POINT_ADD) return vec_add(a, load_lanes(dy, count));
    return backward ? backward_vec(a, load_lanes(dy, count), what) : forward_vec(a, what);
}

/* Pixels without a gap are one long pixel. `what` and `backward` are constants where inlined. */
VEC_INLINE void point_loop(float *out, const lanes_pixels *p, const int what, const int backward) {
    int whole = p->channels == p->pitch;
    int64_t pixels = whole ? 1 : p->count, values = whole ? p->channels * p->count : p->channels;
    for (int64_t i = 0; i < pixels; i++) {
        const float *x = p->x + i * p->pitch, *dy = p->dy ? p->dy + i * p->pitch : p->x;
        float *to = out + i * p->pitch;
        int64_t c = 0;
        for (; c + VEC_LANES <= values; c += VEC_LANES) {
            vec_store(to + c, point_vec(x + c, dy + c, VEC_LANES, what, backward));
        }
        if (c < values) vec_store_some(to + c, point_vec(x + c, dy + c, values - c, what, backward), values - c);
    }
}

VEC_TARGET static void activate(float *y, int activation, const lanes_pixels *p) {
    if (activation == POINT_RELU)
        point_loop(y, p, POINT_RELU, 0);
    else if (activation == POINT_GELU)
        point_loop(y, p, POINT_GELU, 0);
    else
        point_loop(y, p, POINT_GELU_TANH, 0);
}

VEC_TARGET static void activate_gradient(float *dx, int activation, const lanes_pixels *p) {
    if (activation == POINT_RELU)
        point_loop(dx, p, POINT_RELU, 1);
    else if (activation == POINT_GELU)
        point_loop(dx, p, POINT_GELU, 1);
    else
        point_loop(dx, p, POINT_GELU_TANH, 1);
}

VEC_TARGET static void add(float *y, const lanes_pixels *p) { point_loop(y, p, POINT_ADD, 0); }

/* ---- Windows ------------------------------------------------------------------------------- */

/* The largest value of the lanes from c on, and the number of the place it was taken from. */
VEC_INLINE vec window_max(const lanes_window *w, int64_t c, int64_t count, vec *place) {
    vec best = load_lanes(w->x + c, count);
    *place = vec_zero();
    for (int64_t r = 0; r < w->rows; r++) {
        for (int64_t s = 0; s < w->columns; s++) {
            vec value = load_lanes(w->x + r * w->row_step + s * w->column_step + c, count);
            vec_mask wins = vec_beats(value, best);
            best = vec_select(wins, value, best);
            *place = vec_select(wins, vec_spread((float)(r * w->columns + s)), *place);
        }
    }
    return best;
}

VEC_TARGET static void max_value(float *y, const lanes_window *w) {
    vec place;
    int64_t c = 0;
    for (; c + VEC_LANES <= w->channels; c += VEC_LANES) vec_store(y + c, window_max(w, c, VEC_LANES, &place));
    if (c < w->channels) vec_store_some(y + c, window_max(w, c, w->channels - c, &place), w->channels - c);
}

VEC_INLINE void window_max_gradient(float *dx, const float *dy, const lanes_window *w, int64_t c, int64_t count) {
    vec place, gradient = load_lanes(dy + c, count);
    window_max(w, c, count, &place);
    for (int64_t r = w->first_row; r < w->last_row; r++) {
        for (int64_t s = 0; s < w->columns; s++) {
            float *to = dx + r * w->row_step + s * w->column_step + c;
            vec_mask taken = vec_equal(place, vec_spread((float)(r * w->columns + s)));
            store_lanes(to, vec_add(load_lanes(to, count), vec_select(taken, gradient, vec_zero())), count);
        }
    }
}

VEC_TARGET static void max_gradient(float *dx, const float *dy, const lanes_window *w) {
    int64_t c = 0;
    for (; c + VEC_LANES <= w->channels; c += VEC_LANES) window_max_gradient(dx, dy, w, c, VEC_LANES);
    if (c < w->channels) window_max_gradient(dx, dy, w, c, w->channels - c);
}

/* The mean of `vecs` vectors of channels from c on; the last of them has `count` lanes. */
VEC_INLINE void window_mean(float *y, const lanes_window *w, int64_t c, const int vecs, int64_t count) {
    vec sum[MEAN_VECS], row[MEAN_VECS], places = vec_spread((float)(w->rows * w->columns));
    for (int v = 0; v < vecs; v++) sum[v] = vec_zero();
    for (int64_t r = 0; r < w->rows; r++) {
#pragma GCC unroll 4
        for (int v = 0; v < vecs; v++) row[v] = vec_zero();
        for (int64_t s = 0; s < w->columns; s++) {
            const float *x = w->x + r * w->row_step + s * w->column_step + c;
#pragma GCC unroll 4
            for (int v = 0; v < vecs; v++) row[v] = vec_add(row[v], load_lanes(x + v * VEC_LANES, count));
        }
#pragma GCC unroll 4
        for (int v = 0; v < vecs; v++) sum[v] = vec_add(sum[v], row[v]);
    }
#pragma GCC unroll 4
    for (int v = 0; v < vecs; v++) store_lanes(y + c + v * VEC_LANES, vec_div(sum[v], places), count);
}

VEC_TARGET static void mean(float *y, const lanes_window *w) {
    int64_t c = 0;
    for (; c + MEAN_VECS * VEC_LANES <= w->channels; c += MEAN_VECS * VEC_LANES) {
        window_mean(y, w, c, MEAN_VECS, VEC_LANES);
    }
    for (; c + VEC_LANES <= w->channels; c += VEC_LANES) window_mean(y, w, c, 1, VEC_LANES);
    if (c < w->channels) window_mean(y, w, c, 1, w->channels - c);
}

VEC_INLINE void share_vec(float *to, const float *from, vec share, int64_t count, int first) {
    vec start = first ? vec_zero() : load_lanes(to, count);
    store_lanes(to, vec_mul_add(load_lanes(from, count), share, start), count);
}

VEC_TARGET static void add_share(float *to, const float *from, float share, int64_t channels, int first) {
    vec factor = vec_spread(share);
    int64_t c = 0;
    for (; c + VEC_LANES <= channels; c += VEC_LANES) share_vec(to + c, from + c, factor, VEC_LANES, first);
    if (c < channels) share_vec(to + c, from + c, factor, channels - c, first);
}
