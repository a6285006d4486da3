/*
 * The loops of channels.h over pooling windows, and the smaller ones that pooling needs, in terms of vec_*.h.
 * Included once per instruction set; dtype is a constant where inlined.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/isa/channels.h"
#include "kernels/cpu/isa/vec_any.h"

#define MEAN_VECS 4 /* sums of a window at a time */

/* ---- The largest value --------------------------------------------------------------------- */

#define WINDOW_PLAIN (-1) /* in place of the kind: the values as they are */

/* The value at element `at`, of channel c on: normalised and activated where the kind says so. */
VEC_INLINE vec window_value(const channel_window *w, int64_t at, int64_t c, int64_t count, const int kind,
                            const braid_dtype dtype) {
    vec x = vec_get(w->x, at, count, dtype);
    if (kind == WINDOW_PLAIN) return x;
    vec scale = vec_get(w->scale, c, count, BRAID_DTYPE_F32), shift = vec_get(w->shift, c, count, BRAID_DTYPE_F32);
    return activate_vec(vec_mul_add(x, scale, shift), (channel_kind)kind);
}

/* The largest value of the lanes from c on, and the number of the place it was taken from. */
VEC_INLINE vec window_largest(const channel_window *w, int64_t c, int64_t count, vec *place, const int kind,
                              const braid_dtype dtype) {
    vec best = window_value(w, c, c, count, kind, dtype);
    *place = vec_zero();
    for (int64_t r = 0; r < w->rows; r++) {
        for (int64_t s = 0; s < w->columns; s++) {
            vec value = window_value(w, r * w->row_step + s * w->column_step + c, c, count, kind, dtype);
            vec_mask wins = vec_beats(value, best);
            best = vec_select(wins, value, best);
            *place = vec_select(wins, vec_spread((float)(r * w->columns + s)), *place);
        }
    }
    return best;
}

VEC_INLINE vec window_max(const channel_window *w, int64_t c, int64_t count, vec *place, const braid_dtype dtype) {
    if (!w->scale) return window_largest(w, c, count, place, WINDOW_PLAIN, dtype);
    if (w->kind == CHANNEL_RELU) return window_largest(w, c, count, place, CHANNEL_RELU, dtype);
    if (w->kind == CHANNEL_GELU) return window_largest(w, c, count, place, CHANNEL_GELU, dtype);
    return window_largest(w, c, count, place, CHANNEL_GELU_TANH, dtype);
}

VEC_INLINE void max_channels(void *y, const channel_window *w, const braid_dtype dtype) {
    vec place;
    int64_t c = 0;
    for (; c + VEC_LANES <= w->channels; c += VEC_LANES) {
        vec_put(y, c, window_max(w, c, VEC_LANES, &place, dtype), VEC_LANES, dtype, 0);
    }
    if (c == w->channels) return;
    vec_put(y, c, window_max(w, c, w->channels - c, &place, dtype), w->channels - c, dtype, 0);
}

VEC_TARGET static void max_value(void *y, const channel_window *w) {
    const channel_window local = *w;
    if (w->dtype == BRAID_DTYPE_F32)
        max_channels(y, &local, BRAID_DTYPE_F32);
    else if (w->dtype == BRAID_DTYPE_BF16)
        max_channels(y, &local, BRAID_DTYPE_BF16);
    else
        max_channels(y, &local, BRAID_DTYPE_F16);
}

VEC_INLINE void gradient_lanes(const channel_tile *to, const void *dy, const channel_window *w, int64_t c,
                               int64_t count, const braid_dtype dtype) {
    vec place, gradient = vec_get(dy, c, count, dtype);
    window_max(w, c, count, &place, dtype);
    for (int64_t r = to->first_row; r < to->last_row; r++) {
        for (int64_t s = to->first_column; s < to->last_column; s++) {
            int64_t at = to->origin + r * to->row_step + s * to->column_step + c;
            vec_mask taken = vec_equal(place, vec_spread((float)(r * w->columns + s)));
            vec sum = vec_add(vec_get(to->values, at, count, BRAID_DTYPE_F32), vec_select(taken, gradient, vec_zero()));
            vec_put(to->values, at, sum, count, BRAID_DTYPE_F32, 0);
        }
    }
}

VEC_INLINE void gradient_channels(const channel_tile *to, const void *dy, const channel_window *w,
                                  const braid_dtype dtype) {
    int64_t c = 0;
    for (; c + VEC_LANES <= w->channels; c += VEC_LANES) gradient_lanes(to, dy, w, c, VEC_LANES, dtype);
    if (c < w->channels) gradient_lanes(to, dy, w, c, w->channels - c, dtype);
}

VEC_TARGET static void max_gradient(const channel_tile *to, const void *dy, const channel_window *w) {
    const channel_window local = *w;
    const channel_tile tile = *to;
    if (w->dtype == BRAID_DTYPE_F32)
        gradient_channels(&tile, dy, &local, BRAID_DTYPE_F32);
    else if (w->dtype == BRAID_DTYPE_BF16)
        gradient_channels(&tile, dy, &local, BRAID_DTYPE_BF16);
    else
        gradient_channels(&tile, dy, &local, BRAID_DTYPE_F16);
}

/* ---- The mean ------------------------------------------------------------------------------ */

/* The mean of `vecs` vectors of channels from c on; the last of them has `count` lanes. */
VEC_INLINE void window_mean(void *y, const channel_window *w, int64_t c, const int vecs, int64_t count,
                            const braid_dtype dtype) {
    vec sum[MEAN_VECS], row[MEAN_VECS], places = vec_spread((float)(w->rows * w->columns));
    for (int v = 0; v < vecs; v++) sum[v] = vec_zero();
    for (int64_t r = 0; r < w->rows; r++) {
#pragma GCC unroll 4
        for (int v = 0; v < vecs; v++) row[v] = vec_zero();
        for (int64_t s = 0; s < w->columns; s++) {
            int64_t at = r * w->row_step + s * w->column_step + c;
#pragma GCC unroll 4
            for (int v = 0; v < vecs; v++) row[v] = vec_add(row[v], vec_get(w->x, at + v * VEC_LANES, count, dtype));
        }
#pragma GCC unroll 4
        for (int v = 0; v < vecs; v++) sum[v] = vec_add(sum[v], row[v]);
    }
#pragma GCC unroll 4
    for (int v = 0; v < vecs; v++) vec_put(y, c + v * VEC_LANES, vec_div(sum[v], places), count, dtype, 0);
}

VEC_INLINE void mean_channels(void *y, const channel_window *w, const braid_dtype dtype) {
    int64_t c = 0;
    for (; c + MEAN_VECS * VEC_LANES <= w->channels; c += MEAN_VECS * VEC_LANES) {
        window_mean(y, w, c, MEAN_VECS, VEC_LANES, dtype);
    }
    for (; c + VEC_LANES <= w->channels; c += VEC_LANES) window_mean(y, w, c, 1, VEC_LANES, dtype);
    if (c < w->channels) window_mean(y, w, c, 1, w->channels - c, dtype);
}

VEC_TARGET static void mean(void *y, const channel_window *w) {
    const channel_window local = *w;
    if (w->dtype == BRAID_DTYPE_F32)
        mean_channels(y, &local, BRAID_DTYPE_F32);
    else if (w->dtype == BRAID_DTYPE_BF16)
        mean_channels(y, &local, BRAID_DTYPE_BF16);
    else
        mean_channels(y, &local, BRAID_DTYPE_F16);
}

/* ---- Rows of values ------------------------------------------------------------------------ */

VEC_INLINE void share_vec(float *to, const void *from, int64_t c, vec share, int64_t count, const braid_dtype dtype) {
    vec sum = vec_mul_add(vec_get(from, c, count, dtype), share, vec_get(to, c, count, BRAID_DTYPE_F32));
    vec_put(to, c, sum, count, BRAID_DTYPE_F32, 0);
}

VEC_INLINE void share_channels(float *to, const void *from, float share, int64_t count, const braid_dtype dtype) {
    vec factor = vec_spread(share);
    int64_t c = 0;
    for (; c + VEC_LANES <= count; c += VEC_LANES) share_vec(to, from, c, factor, VEC_LANES, dtype);
    if (c < count) share_vec(to, from, c, factor, count - c, dtype);
}

VEC_TARGET static void add_share(float *to, const void *from, braid_dtype dtype, float share, int64_t count) {
    if (dtype == BRAID_DTYPE_F32)
        share_channels(to, from, share, count, BRAID_DTYPE_F32);
    else if (dtype == BRAID_DTYPE_BF16)
        share_channels(to, from, share, count, BRAID_DTYPE_BF16);
    else
        share_channels(to, from, share, count, BRAID_DTYPE_F16);
}

VEC_INLINE void median_vec(float *to, const void *const from[3], int64_t c, int64_t count, const braid_dtype dtype) {
    vec x = vec_get(from[0], c, count, dtype), y = vec_get(from[1], c, count, dtype);
    vec z = vec_get(from[2], c, count, dtype);
    vec middle = vec_at_least(vec_at_most(x, y), vec_at_most(vec_at_least(x, y), z));
    vec_put(to, c, middle, count, BRAID_DTYPE_F32, 0);
}

VEC_INLINE void median_channels(float *to, const void *const from[3], int64_t count, const braid_dtype dtype) {
    int64_t c = 0;
    for (; c + VEC_LANES <= count; c += VEC_LANES) median_vec(to, from, c, VEC_LANES, dtype);
    if (c < count) median_vec(to, from, c, count - c, dtype);
}

VEC_TARGET static void median(float *to, const void *const from[3], braid_dtype dtype, int64_t count) {
    if (dtype == BRAID_DTYPE_F32)
        median_channels(to, from, count, BRAID_DTYPE_F32);
    else if (dtype == BRAID_DTYPE_BF16)
        median_channels(to, from, count, BRAID_DTYPE_BF16);
    else
        median_channels(to, from, count, BRAID_DTYPE_F16);
}

static void store(void *to, braid_dtype dtype, const float *from, int64_t count) {
    if (dtype == BRAID_DTYPE_F32)
        memcpy(to, from, (size_t)count * sizeof *from);
    else if (dtype == BRAID_DTYPE_BF16)
        narrow_bf16(to, from, count);
    else
        narrow_f16(to, from, count);
}
