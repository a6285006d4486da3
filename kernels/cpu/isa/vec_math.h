/*
 * The normal distribution and its tanh approximation on vectors, in terms of vec_*.h, after one of which
 * this is included. Both are made of e^-v with v >= 0, and of the smaller tail alone, so that small values
 * keep their digits. Polynomials were fitted at Chebyshev points.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_VEC_MATH_H
#define BRAID_KERNELS_CPU_ISA_VEC_MATH_H

/* From here on both tails are less than 2^-126 and count as 0. */
#define VEC_FAR 20.0f

/* A distribution and its derivative at x: y = x cdf(x) is an activation with dy/dx = cdf(x) + x density(x). */
typedef struct vec_bell {
    vec cdf, density;
} vec_bell;

/* e^a for a <= 0, relative error 2e-7; 0 below -87, so that there are no subnormal numbers. NaN gives 0. */
VEC_INLINE vec vec_exp_negative(vec a) {
    const vec shift = vec_spread(12582912.0f); /* 1.5 * 2^23: rounds, and leaves the integer in the low bits */
    vec low = vec_at_least(a, vec_spread(-87.0f));
    vec k = vec_mul_add(low, vec_spread(1.44269504f), shift);
    vec n = vec_sub(k, shift);
    vec r = vec_mul_add(n, vec_spread(-0.693359375f), low); /* ln 2 in two parts, the first with few bits */
    r = vec_mul_add(n, vec_spread(2.12194440e-4f), r);
    vec sum = vec_mul_add(r, vec_spread(0.001392617612f), vec_spread(0.008363173075f));
    sum = vec_mul_add(sum, r, vec_spread(0.04166655466f));
    sum = vec_mul_add(sum, r, vec_spread(0.1666657703f));
    sum = vec_mul_add(sum, r, vec_spread(0.5f));
    sum = vec_add(vec_mul_add(vec_mul(r, r), sum, r), vec_spread(1.0f));
    return vec_select(vec_greater(a, vec_spread(-87.0f)), vec_add_exponent(sum, k), vec_zero());
}

/* The distribution at x from its tail beyond |x|. */
VEC_INLINE vec vec_from_tail(vec x, vec tail) {
    return vec_select(vec_greater(x, vec_zero()), vec_sub(vec_spread(1.0f), tail), tail);
}

/* Phi(x) near 0: 1/2 + x times a polynomial in x^2, for |x| < 1. */
VEC_INLINE vec vec_normal_near(vec x, vec square) {
    vec sum = vec_mul_add(square, vec_spread(-7.660538171e-6f), vec_spread(1.135022962e-4f));
    sum = vec_mul_add(sum, square, vec_spread(-0.001186343989f));
    sum = vec_mul_add(sum, square, vec_spread(0.009973328481f));
    sum = vec_mul_add(sum, square, vec_spread(-0.06649036057f));
    sum = vec_mul_add(sum, square, vec_spread(0.3989422801f));
    return vec_mul_add(x, sum, vec_spread(0.5f));
}

/* The tail of Phi beyond u >= 0 over e^(-u^2/2): a polynomial in t = 1 / (1 + 0.3 u). */
VEC_INLINE vec vec_normal_tail(vec u) {
    vec t = vec_div(vec_spread(1.0f), vec_mul_add(u, vec_spread(0.3f), vec_spread(1.0f)));
    vec sum = vec_mul_add(t, vec_spread(0.03741848192f), vec_spread(-0.1643185171f));
    sum = vec_mul_add(sum, t, vec_spread(0.2183154581f));
    sum = vec_mul_add(sum, t, vec_spread(-0.06437430307f));
    sum = vec_mul_add(sum, t, vec_spread(0.1340211483f));
    sum = vec_mul_add(sum, t, vec_spread(0.09832776816f));
    sum = vec_mul_add(sum, t, vec_spread(0.1209955612f));
    sum = vec_mul_add(sum, t, vec_spread(0.1196144353f));
    return vec_mul(sum, t);
}

/* Phi(x) = (1 + erf(x / sqrt 2)) / 2. */
VEC_INLINE vec_bell vec_normal(vec x) {
    vec u = vec_at_most(vec_abs(x), vec_spread(VEC_FAR)), square = vec_mul(u, u);
    vec e = vec_exp_negative(vec_mul(square, vec_spread(-0.5f)));
    vec far = vec_from_tail(x, vec_mul(e, vec_normal_tail(u)));
    vec cdf = vec_select(vec_greater(vec_spread(1.0f), u), vec_normal_near(x, square), far);
    return (vec_bell){cdf, vec_mul(e, vec_spread(0.3989422804f))};
}

/* (1 + tanh w) / 2 with w = sqrt(2/pi) (x + 0.044715 x^3), which is 1 / (1 + e^-2w). */
VEC_INLINE vec_bell vec_normal_tanh(vec x) {
    const vec one = vec_spread(1.0f);
    vec u = vec_at_most(vec_abs(x), vec_spread(VEC_FAR)), square = vec_mul(u, u);
    vec e = vec_exp_negative(vec_mul(u, vec_mul_add(square, vec_spread(-0.0713548163f), vec_spread(-1.5957691216f))));
    vec tail = vec_div(e, vec_add(one, e));
    vec steep = vec_mul_add(square, vec_spread(0.2140644488f), vec_spread(1.5957691216f));
    return (vec_bell){vec_from_tail(x, tail), vec_mul(vec_mul(tail, vec_sub(one, tail)), steep)};
}

#endif
