/*
 * The transforms of winograd.h, in terms of vec_*.h. Included once per instruction set, after gemm_body.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/winograd.h"

/* B^T applied to four values, `step` apart. */
VEC_INLINE void input_line(vec *v, const int step) {
    vec first = vec_sub(v[0], v[2 * step]), sum = vec_add(v[step], v[2 * step]);
    vec difference = vec_sub(v[2 * step], v[step]), last = vec_sub(v[step], v[3 * step]);
    v[0] = first;
    v[step] = sum;
    v[2 * step] = difference;
    v[3 * step] = last;
}

/* One vector of channels from `at` on; fewer than VEC_LANES where `some` is not 0. */
VEC_INLINE void input_vector(float *to, int64_t stride, const float *const *patch, int64_t at, int64_t some) {
    vec v[WINOGRAD_PLACES];
#pragma GCC unroll 16
    for (int t = 0; t < WINOGRAD_PLACES; t++)
        v[t] = some ? vec_load_some(patch[t] + at, some) : vec_load(patch[t] + at);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) input_line(v + j, 4);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) input_line(v + 4 * j, 1);
#pragma GCC unroll 16
    for (int t = 0; t < WINOGRAD_PLACES; t++) vec_store(to + t * stride + at, v[t]);
}

VEC_TARGET static void transform_input(float *to, int64_t stride, const float *const patch[WINOGRAD_PLACES],
                                       int64_t channels) {
    int64_t c = 0;
    for (; c + VEC_LANES <= channels; c += VEC_LANES) input_vector(to, stride, patch, c, 0);
    if (c < channels) input_vector(to, stride, patch, c, channels - c);
}

/* G applied to three values, `step` apart, gives four, `to_step` apart. */
VEC_INLINE void weights_line(vec *to, const int to_step, const vec *from, const int step) {
    const vec half = vec_spread(0.5F);
    vec ends = vec_add(from[0], from[2 * step]);
    to[0] = from[0];
    to[to_step] = vec_mul(vec_add(ends, from[step]), half);
    to[2 * to_step] = vec_mul(vec_sub(ends, from[step]), half);
    to[3 * to_step] = from[2 * step];
}

VEC_TARGET static void transform_weights(float *to, int64_t stride, const float *from, int64_t tap_stride) {
    for (int j = 0; j < TILE_COLUMNS; j += VEC_LANES) {
        vec g[WINOGRAD_TAPS], rows[12], all[WINOGRAD_PLACES];
#pragma GCC unroll 16
        for (int t = 0; t < WINOGRAD_TAPS; t++) g[t] = vec_load(from + t * tap_stride + j);
#pragma GCC unroll 4
        for (int s = 0; s < 3; s++) weights_line(rows + s, 3, g + s, 3);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) weights_line(all + 4 * i, 1, rows + 3 * i, 1);
#pragma GCC unroll 16
        for (int t = 0; t < WINOGRAD_PLACES; t++) vec_store(to + t * stride + j, all[t]);
    }
}

/* A^T applied to four values, `step` apart. */
VEC_INLINE void output_line(vec *first, vec *second, const vec *v, const int step) {
    *first = vec_add(vec_add(v[0], v[step]), v[2 * step]);
    *second = vec_sub(vec_sub(v[step], v[2 * step]), v[3 * step]);
}

VEC_INLINE void output_vector(float *const *pixel, const float *from, int64_t stride, const float *bias, int64_t at,
                              int64_t some) {
    vec m[WINOGRAD_PLACES], rows[8], y[WINOGRAD_OUTPUTS];
#pragma GCC unroll 16
    for (int t = 0; t < WINOGRAD_PLACES; t++) m[t] = vec_load(from + t * stride + at);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) output_line(rows + j, rows + 4 + j, m + j, 4);
    output_line(y, y + 1, rows, 1);
    output_line(y + 2, y + 3, rows + 4, 1);
    vec add = !bias ? vec_zero() : some ? vec_load_some(bias + at, some) : vec_load(bias + at);
#pragma GCC unroll 4
    for (int t = 0; t < WINOGRAD_OUTPUTS; t++) {
        if (!pixel[t]) continue;
        if (some)
            vec_store_some(pixel[t] + at, vec_add(y[t], add), some);
        else
            vec_store(pixel[t] + at, vec_add(y[t], add));
    }
}

VEC_TARGET static void transform_output(float *const pixel[WINOGRAD_OUTPUTS], const float *from, int64_t stride,
                                        const float *bias, int64_t channels) {
    int64_t c = 0;
    for (; c + VEC_LANES <= channels; c += VEC_LANES) output_vector(pixel, from, stride, bias, c, 0);
    if (c < channels) output_vector(pixel, from, stride, bias, c, channels - c);
}

/* A applied to two values, `step` apart, gives four, `to_step` apart. */
VEC_INLINE void gradient_line(vec *to, const int to_step, const vec *from, const int step) {
    to[0] = from[0];
    to[to_step] = vec_add(from[0], from[step]);
    to[2 * to_step] = vec_sub(from[0], from[step]);
    to[3 * to_step] = vec_sub(vec_zero(), from[step]);
}

VEC_INLINE void gradient_vector(float *to, int64_t stride, const float *const *pixel, int64_t at, int64_t some) {
    vec y[WINOGRAD_OUTPUTS], rows[8], all[WINOGRAD_PLACES];
#pragma GCC unroll 4
    for (int t = 0; t < WINOGRAD_OUTPUTS; t++)
        y[t] = some ? vec_load_some(pixel[t] + at, some) : vec_load(pixel[t] + at);
    gradient_line(rows, 2, y, 2);
    gradient_line(rows + 1, 2, y + 1, 2);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) gradient_line(all + 4 * i, 1, rows + 2 * i, 1);
#pragma GCC unroll 16
    for (int t = 0; t < WINOGRAD_PLACES; t++) vec_store(to + t * stride + at, all[t]);
}

VEC_TARGET static void transform_gradient(float *to, int64_t stride, const float *const pixel[WINOGRAD_OUTPUTS],
                                          int64_t channels) {
    int64_t k = 0;
    for (; k + VEC_LANES <= channels; k += VEC_LANES) gradient_vector(to, stride, pixel, k, 0);
    if (k < channels) gradient_vector(to, stride, pixel, k, channels - k);
}

/* G^T applied to four values, `step` apart, gives three, `to_step` apart. */
VEC_INLINE void filter_line(vec *to, const int to_step, const vec *from, const int step) {
    const vec half = vec_spread(0.5F);
    vec sum = vec_mul(vec_add(from[step], from[2 * step]), half);
    to[0] = vec_add(from[0], sum);
    to[to_step] = vec_mul(vec_sub(from[step], from[2 * step]), half);
    to[2 * to_step] = vec_add(sum, from[3 * step]);
}

VEC_TARGET static void transform_filter(float *to, int64_t tap_stride, const float *from, int64_t stride,
                                        int64_t channels) {
    for (int64_t c = 0; c < channels; c += VEC_LANES) {
        vec m[WINOGRAD_PLACES], rows[12], g[WINOGRAD_TAPS];
#pragma GCC unroll 16
        for (int t = 0; t < WINOGRAD_PLACES; t++) m[t] = vec_load(from + t * stride + c);
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) filter_line(rows + j, 4, m + j, 4);
#pragma GCC unroll 4
        for (int i = 0; i < 3; i++) filter_line(g + 3 * i, 1, rows + 4 * i, 1);
#pragma GCC unroll 16
        for (int t = 0; t < WINOGRAD_TAPS; t++) {
            if (channels - c < VEC_LANES)
                vec_store_some(to + t * tap_stride + c, g[t], channels - c);
            else
                vec_store(to + t * tap_stride + c, g[t]);
        }
    }
}

const winograd_tile OF_ISA(winograd) = {
    .gemm = &OF_ISA(gemm),
    .input = transform_input,
    .weights = transform_weights,
    .output = transform_output,
    .gradient = transform_gradient,
    .filter = transform_filter,
};
