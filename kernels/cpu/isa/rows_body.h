/*
 * The loops of rows.h, in terms of vec_*.h. Included once per instruction set. Each loop is written once, with the
 * number format as a constant where it is inlined; values that do not fill a vector go through the same arithmetic
 * with spare lanes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "kernels/cpu/isa/copy.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/isa/vec_any.h"

/* Calls `loop` with the format as a constant last argument. */
#define ROWS_BY_DTYPE(dtype, loop, ...)                                    \
    switch (dtype) {                                                       \
        case BRAID_DTYPE_BF16: loop(__VA_ARGS__, BRAID_DTYPE_BF16); break; \
        case BRAID_DTYPE_F16: loop(__VA_ARGS__, BRAID_DTYPE_F16); break;   \
        default: loop(__VA_ARGS__, BRAID_DTYPE_F32); break;                \
    }

/* ---- Values ------------------------------------------------------------------------------- */

VEC_INLINE float row_get(const void *from, int64_t at, const braid_dtype t) {
    if (t == BRAID_DTYPE_F32) return ((const float *)from)[at];
    uint16_t half = ((const uint16_t *)from)[at];
    return t == BRAID_DTYPE_BF16 ? f32_from_bf16(half) : f32_from_f16(half);
}

VEC_INLINE void row_put(void *to, int64_t at, float value, const braid_dtype t) {
    if (t == BRAID_DTYPE_F32)
        ((float *)to)[at] = value;
    else
        ((uint16_t *)to)[at] = t == BRAID_DTYPE_BF16 ? bf16_from_f32(value) : f16_from_f32(value);
}

/* Floats of a parameter, beside a row. */
VEC_INLINE vec row_parameter(const float *from, int64_t at, int64_t count) {
    return vec_get(from, at, count, BRAID_DTYPE_F32);
}

/* Where row `row` of a plane starts. */
VEC_INLINE const void *row_at(const row_block *r, const void *plane, int64_t row, const braid_dtype t) {
    return plane_from(plane, row * r->pitch, t == BRAID_DTYPE_F32 ? 4 : 2);
}

/* The row of the output; its lanes behind the channels are zero from here on. */
VEC_INLINE void *row_out(const row_block *r, int64_t row, const braid_dtype t) {
    const size_t bytes = t == BRAID_DTYPE_F32 ? 4 : 2;
    void *out = plane_to(r->out, row * r->pitch, bytes);
    zero_gaps(out, 1, r->channels, r->pitch, bytes);
    return out;
}

/* ---- Sums --------------------------------------------------------------------------------- */

/* Two sums in double, each of the two halves of a vector. */
typedef struct row_sums {
    vec_double low[2], high[2];
} row_sums;

VEC_INLINE row_sums no_sums(void) {
    const vec_double zero = vec_double_zero();
    return (row_sums){{zero, zero}, {zero, zero}};
}

/* The first sum gains a, the second a * b. */
VEC_INLINE void add_sums(row_sums *s, vec_double low_a, vec_double high_a, vec_double low_b, vec_double high_b) {
    s->low[0] = vec_double_add(s->low[0], low_a);
    s->high[0] = vec_double_add(s->high[0], high_a);
    s->low[1] = vec_double_mul_add(low_a, low_b, s->low[1]);
    s->high[1] = vec_double_mul_add(high_a, high_b, s->high[1]);
}

/* Sum `which` of all lanes. */
VEC_INLINE double whole_sum(const row_sums *s, int which) {
    return vec_double_sum(vec_double_add(s->low[which], s->high[which]));
}

/* The first sum gains that of x * x, the second that of x * y, of `count` values from c on. */
VEC_INLINE void add_products(row_sums *s, const void *x, const void *y, int64_t c, int64_t count, const braid_dtype t) {
    vec a = vec_get(x, c, count, t), b = vec_get(y, c, count, t);
    vec_double low = vec_double_low(a), high = vec_double_high(a);
    s->low[0] = vec_double_mul_add(low, low, s->low[0]);
    s->high[0] = vec_double_mul_add(high, high, s->high[0]);
    s->low[1] = vec_double_mul_add(low, vec_double_low(b), s->low[1]);
    s->high[1] = vec_double_mul_add(high, vec_double_high(b), s->high[1]);
}

/* The sums of x * x and of x * y. */
VEC_INLINE row_sums product_sums(const void *x, const void *y, int64_t count, const braid_dtype t) {
    row_sums s = no_sums();
    int64_t c = 0;
    for (; c + VEC_LANES <= count; c += VEC_LANES) add_products(&s, x, y, c, VEC_LANES, t);
    if (c < count) add_products(&s, x, y, c, count - c, t);
    return s;
}

/* ---- Layer normalisation ------------------------------------------------------------------ */

typedef struct row_moments {
    double mean, rstd;
} row_moments;

/* The first `count` lanes of a, and `spare` in the others. */
VEC_INLINE vec with_spare(vec a, int64_t count, float spare) {
    float ones[VEC_LANES];
    vec_store(ones, vec_spread(1.0f));
    return vec_select(vec_greater(vec_load_some(ones, count), vec_zero()), a, vec_spread(spare));
}

/* The sums gain those of a - shift and of its square. */
VEC_INLINE void add_moment(row_sums *s, vec a, vec_double shift) {
    vec_double low = vec_double_sub(vec_double_low(a), shift), high = vec_double_sub(vec_double_high(a), shift);
    add_sums(s, low, high, low, high);
}

/* Sums about the first value of the row: (first - mean)^2 is at most channels * var, so that the subtraction of the
 * squared sum costs a double at most that factor. */
VEC_INLINE row_moments moments(const void *x, int64_t channels, double eps, const braid_dtype t) {
    const float first = row_get(x, 0, t);
    const vec_double shift = vec_double_spread((double)first);
    const double share = 1 / (double)channels;
    row_sums s = no_sums();
    int64_t c = 0;
    for (; c + VEC_LANES <= channels; c += VEC_LANES) add_moment(&s, vec_get(x, c, VEC_LANES, t), shift);
    if (c < channels) add_moment(&s, with_spare(vec_get(x, c, channels - c, t), channels - c, first), shift);
    double away = whole_sum(&s, 0) * share, var = whole_sum(&s, 1) * share - away * away;
    return (row_moments){(double)first + away, 1 / sqrt((var < 0 ? 0 : var) + eps)};
}

/* (x - mean) * rstd, the mean as a sum of two floats. */
typedef struct row_scale {
    vec mean, rest, rstd;
} row_scale;

VEC_INLINE row_scale scale_of(row_moments m) {
    const double most = 0x1p127;
    const float mean = (float)m.mean;
    return (row_scale){vec_spread(mean), vec_spread((float)(m.mean - (double)mean)),
                       vec_spread((float)(m.rstd > most ? most : m.rstd))};
}

/* `count` values of (x - mean) * rstd from c on. */
VEC_INLINE vec get_xhat(const void *x, const row_scale *s, int64_t c, int64_t count, const braid_dtype t) {
    return vec_mul(vec_sub(vec_sub(vec_get(x, c, count, t), s->mean), s->rest), s->rstd);
}

/* The same of dy * gamma. */
VEC_INLINE vec get_g(const void *dy, const float *gamma, int64_t c, int64_t count, const braid_dtype t) {
    return vec_mul(vec_get(dy, c, count, t), row_parameter(gamma, c, count));
}

VEC_INLINE void layernorm_of(const row_block *given, const float *gamma, const float *beta, double eps,
                             const braid_dtype t) {
    const row_block r = *given;
    const int64_t whole = r.channels - r.channels % VEC_LANES, left = r.channels - whole;
    for (int64_t row = 0; row < r.count; row++) {
        const void *x = row_at(&r, r.x, row, t);
        void *y = row_out(&r, row, t);
        const row_scale s = scale_of(moments(x, r.channels, eps, t));
        for (int64_t c = 0; c < whole; c += VEC_LANES) {
            vec xhat = get_xhat(x, &s, c, VEC_LANES, t);
            vec_put(y, c, vec_mul_add(xhat, vec_load(gamma + c), vec_load(beta + c)), VEC_LANES, t, 0);
        }
        if (left) {
            vec xhat = get_xhat(x, &s, whole, left, t), g = row_parameter(gamma, whole, left);
            vec_put(y, whole, vec_mul_add(xhat, g, row_parameter(beta, whole, left)), left, t, 0);
        }
    }
}

/* The sums gain those of g and of g * xhat. */
VEC_INLINE void add_slope(row_sums *s, vec g, vec xhat) {
    add_sums(s, vec_double_low(g), vec_double_high(g), vec_double_low(xhat), vec_double_high(xhat));
}

/* rstd * (g - mean - xhat * along). */
VEC_INLINE vec slope(vec g, vec xhat, vec mean, vec along, vec rstd) {
    return vec_mul(rstd, vec_sub(vec_sub(g, mean), vec_mul(xhat, along)));
}

VEC_INLINE void layernorm_gradient_of(const row_block *given, const float *gamma, double eps, const braid_dtype t) {
    const row_block r = *given;
    const int64_t whole = r.channels - r.channels % VEC_LANES, left = r.channels - whole;
    const double share = 1 / (double)r.channels;
    for (int64_t row = 0; row < r.count; row++) {
        const void *x = row_at(&r, r.x, row, t), *dy = row_at(&r, r.dy, row, t);
        void *dx = row_out(&r, row, t);
        const row_scale s = scale_of(moments(x, r.channels, eps, t));
        row_sums sums = no_sums();
        for (int64_t c = 0; c < whole; c += VEC_LANES)
            add_slope(&sums, get_g(dy, gamma, c, VEC_LANES, t), get_xhat(x, &s, c, VEC_LANES, t));
        if (left) add_slope(&sums, get_g(dy, gamma, whole, left, t), get_xhat(x, &s, whole, left, t));
        const vec mean = vec_spread((float)(whole_sum(&sums, 0) * share));
        const vec along = vec_spread((float)(whole_sum(&sums, 1) * share));
        for (int64_t c = 0; c < whole; c += VEC_LANES) {
            vec g = get_g(dy, gamma, c, VEC_LANES, t), xhat = get_xhat(x, &s, c, VEC_LANES, t);
            vec_put(dx, c, slope(g, xhat, mean, along, s.rstd), VEC_LANES, t, 0);
        }
        if (left) {
            vec g = get_g(dy, gamma, whole, left, t), xhat = get_xhat(x, &s, whole, left, t);
            vec_put(dx, whole, slope(g, xhat, mean, along, s.rstd), left, t, 0);
        }
    }
}

#define SUM_ROWS 8 /* of which the moments are known while their channels are summed */

/* Adds rows [first, end), at most SUM_ROWS, to the sums of `count` channels from c on; the sums of VEC_LANES channels
 * are readable and writable. */
VEC_INLINE void sum_channels(double *dgamma, double *dbeta, const row_block *r, const row_moments *m, int64_t first,
                             int64_t end, int64_t c, int64_t count, const braid_dtype t) {
    row_sums s = {{vec_double_load(dbeta), vec_double_load(dgamma)},
                  {vec_double_load(dbeta + VEC_DOUBLES), vec_double_load(dgamma + VEC_DOUBLES)}};
    for (int64_t row = first; row < end; row++) {
        vec x = vec_get(row_at(r, r->x, row, t), c, count, t), dy = vec_get(row_at(r, r->dy, row, t), c, count, t);
        vec_double mean = vec_double_spread(m[row - first].mean), rstd = vec_double_spread(m[row - first].rstd);
        add_sums(&s, vec_double_low(dy), vec_double_high(dy),
                 vec_double_mul(vec_double_sub(vec_double_low(x), mean), rstd),
                 vec_double_mul(vec_double_sub(vec_double_high(x), mean), rstd));
    }
    vec_double_store(dbeta, s.low[0]);
    vec_double_store(dgamma, s.low[1]);
    vec_double_store(dbeta + VEC_DOUBLES, s.high[0]);
    vec_double_store(dgamma + VEC_DOUBLES, s.high[1]);
}

/* The channels that do not fill a vector, beside their sums. */
VEC_INLINE void sum_last_channels(double *dgamma, double *dbeta, const row_block *r, const row_moments *m,
                                  int64_t first, int64_t end, int64_t c, const braid_dtype t) {
    const int64_t count = r->channels - c;
    double beside[2][VEC_LANES] = {{0}};
    memcpy(beside[0], dgamma + c, (size_t)count * sizeof(double));
    memcpy(beside[1], dbeta + c, (size_t)count * sizeof(double));
    sum_channels(beside[0], beside[1], r, m, first, end, c, count, t);
    memcpy(dgamma + c, beside[0], (size_t)count * sizeof(double));
    memcpy(dbeta + c, beside[1], (size_t)count * sizeof(double));
}

VEC_INLINE void layernorm_sums_of(double *dgamma, double *dbeta, const row_block *given, double eps,
                                  const braid_dtype t) {
    const row_block r = *given;
    const int64_t whole = r.channels - r.channels % VEC_LANES;
    for (int64_t first = 0; first < r.count; first += SUM_ROWS) {
        row_moments m[SUM_ROWS];
        int64_t end = at_most(first + SUM_ROWS, r.count);
        for (int64_t row = first; row < end; row++)
            m[row - first] = moments(row_at(&r, r.x, row, t), r.channels, eps, t);
        for (int64_t c = 0; c < whole; c += VEC_LANES)
            sum_channels(dgamma + c, dbeta + c, &r, m, first, end, c, VEC_LANES, t);
        if (whole < r.channels) sum_last_channels(dgamma, dbeta, &r, m, first, end, whole, t);
    }
}

/* ---- Row normalisation -------------------------------------------------------------------- */

/* 1 where a divisor and what is made of it are far from the ends of the floats; else a row is made in double. */
VEC_INLINE int is_moderate(double divisor) { return divisor > 1e-15 && divisor < 1e15; }

/* to = (from - x * bend) * factor; without x, to = from * factor. */
VEC_INLINE void move_values(void *to, const void *from, const void *x, int64_t c, int64_t count, vec bend, vec factor,
                            const braid_dtype t) {
    vec a = vec_get(from, c, count, t);
    if (x) a = vec_sub(a, vec_mul(vec_get(x, c, count, t), bend));
    vec_put(to, c, vec_mul(a, factor), count, t, 0);
}

VEC_INLINE void move_row(void *to, const void *from, const void *x, int64_t channels, float bend, float factor,
                         const braid_dtype t) {
    const vec all_bend = vec_spread(bend), all_factor = vec_spread(factor);
    int64_t c = 0;
    for (; c + VEC_LANES <= channels; c += VEC_LANES) move_values(to, from, x, c, VEC_LANES, all_bend, all_factor, t);
    if (c < channels) move_values(to, from, x, c, channels - c, all_bend, all_factor, t);
}

VEC_INLINE void rownorm_of(const row_block *given, double eps, const braid_dtype t) {
    const row_block r = *given;
    for (int64_t row = 0; row < r.count; row++) {
        const void *x = row_at(&r, r.x, row, t);
        void *y = row_out(&r, row, t);
        const row_sums s = product_sums(x, x, r.channels, t);
        double norm = sqrt(whole_sum(&s, 0)), divisor = norm < eps ? eps : norm;
        if (is_moderate(divisor)) {
            move_row(y, x, NULL, r.channels, 0, (float)(1 / divisor), t);
            continue;
        }
        for (int64_t c = 0; c < r.channels; c++) row_put(y, c, (float)((double)row_get(x, c, t) / divisor), t);
    }
}

/* One row of (dy - x / divisor * dot) / divisor in double, for a single channel (where it must be exactly 0 above eps)
 * and for extreme norms. */
VEC_INLINE void slope_in_double(void *dx, const void *x, const void *dy, int64_t channels, double divisor, double dot,
                                const braid_dtype t) {
    for (int64_t c = 0; c < channels; c++) {
        double along = (double)row_get(x, c, t) / divisor * dot;
        row_put(dx, c, (float)(((double)row_get(dy, c, t) - along) / divisor), t);
    }
}

VEC_INLINE void rownorm_gradient_of(const row_block *given, double eps, const braid_dtype t) {
    const row_block r = *given;
    for (int64_t row = 0; row < r.count; row++) {
        const void *x = row_at(&r, r.x, row, t), *dy = row_at(&r, r.dy, row, t);
        void *dx = row_out(&r, row, t);
        const row_sums s = product_sums(x, dy, r.channels, t);
        double norm = sqrt(whole_sum(&s, 0)), divisor = norm < eps ? eps : norm;
        double dot = norm < eps ? 0 : whole_sum(&s, 1) / divisor;
        if (r.channels > 1 && is_moderate(divisor))
            move_row(dx, dy, x, r.channels, (float)(dot / divisor), (float)(1 / divisor), t);
        else
            slope_in_double(dx, x, dy, r.channels, divisor, dot, t);
    }
}

/* ---- Single rows -------------------------------------------------------------------------- */

VEC_INLINE void scale_row(void *to, const void *from, float factor, int64_t count, const braid_dtype t) {
    move_row(to, from, NULL, count, 0, factor, t);
}

VEC_INLINE void dot_row(double *sum, const void *x, const void *dy, int64_t count, const braid_dtype t) {
    const row_sums s = product_sums(x, dy, count, t);
    *sum = whole_sum(&s, 1);
}

/* ---- By format ---------------------------------------------------------------------------- */

VEC_TARGET static void layernorm(const row_block *r, const float *gamma, const float *beta,
                                 double eps){ROWS_BY_DTYPE(r->dtype, layernorm_of, r, gamma, beta, eps)}

VEC_TARGET static void layernorm_gradient(const row_block *r, const float *gamma,
                                          double eps){ROWS_BY_DTYPE(r->dtype, layernorm_gradient_of, r, gamma, eps)}

VEC_TARGET static void layernorm_sums(double *dgamma, double *dbeta, const row_block *r,
                                      double eps){ROWS_BY_DTYPE(r->dtype, layernorm_sums_of, dgamma, dbeta, r, eps)}

VEC_TARGET static void rownorm(const row_block *r, double eps){ROWS_BY_DTYPE(r->dtype, rownorm_of, r, eps)}

VEC_TARGET
    static void rownorm_gradient(const row_block *r, double eps){ROWS_BY_DTYPE(r->dtype, rownorm_gradient_of, r, eps)}

VEC_TARGET static void scale_values(void *to, const void *from, float factor, int64_t count,
                                    braid_dtype dtype){ROWS_BY_DTYPE(dtype, scale_row, to, from, factor, count)}

VEC_TARGET static double dot(const void *x, const void *dy, int64_t count, braid_dtype dtype) {
    double sum = 0;
    ROWS_BY_DTYPE(dtype, dot_row, &sum, x, dy, count)
    return sum;
}

const row_loops OF_ISA(rows) = {
    .name = ISA_NAME,
    .flops = ISA_FLOPS,
    .layernorm = layernorm,
    .layernorm_gradient = layernorm_gradient,
    .layernorm_sums = layernorm_sums,
    .rownorm = rownorm,
    .rownorm_gradient = rownorm_gradient,
    .scale = scale_values,
    .dot = dot,
};
