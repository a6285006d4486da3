/*
 * The loops of updates.h, in terms of vec_*.h. Included once per instruction set. What does not fill a vector goes
 * through the same arithmetic with empty lanes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/updates.h"
#include "kernels/cpu/isa/vec_any.h"

/* ---- Optimisers ---------------------------------------------------------------------------- */

/* update_rule, each factor in all lanes. */
typedef struct rule_vecs {
    vec scale, decay, keep, rate, momentum, mean_share, square_keep, square_share, root, eps;
} rule_vecs;

VEC_INLINE rule_vecs spread_rule(const update_rule *r) {
    return (rule_vecs){vec_spread(r->scale),       vec_spread(r->decay),        vec_spread(r->keep),
                       vec_spread(r->rate),        vec_spread(r->momentum),     vec_spread(r->mean_share),
                       vec_spread(r->square_keep), vec_spread(r->square_share), vec_spread(r->root),
                       vec_spread(r->eps)};
}

VEC_INLINE vec get(const float *from, int64_t at, int64_t count) { return vec_get(from, at, count, BRAID_DTYPE_F32); }
VEC_INLINE void put(float *to, int64_t at, vec a, int64_t count) { vec_put(to, at, a, count, BRAID_DTYPE_F32, 0); }

/* a * b + c with two roundings. */
VEC_INLINE vec mul_then_add(vec a, vec b, vec c) { return vec_add(vec_mul(a, b), c); }

VEC_INLINE vec sgd_vec(const rule_vecs *k, const update_span *s, int64_t at, int64_t count, vec w, vec g,
                       const int kind) {
    if (kind != UPDATE_SGD) {
        vec m = mul_then_add(k->momentum, get(s->m, at, count), g);
        put(s->m, at, m, count);
        g = kind == UPDATE_SGD_NESTEROV ? mul_then_add(k->momentum, m, g) : m;
    }
    return mul_then_add(k->rate, g, w);
}

/* The new mean of squares, stored. */
VEC_INLINE vec square_vec(const rule_vecs *k, const update_span *s, int64_t at, int64_t count, vec g) {
    vec kept = vec_mul(k->square_keep, get(s->v, at, count));
    vec v = vec_add(kept, vec_mul(vec_mul(k->square_share, g), g));
    put(s->v, at, v, count);
    return v;
}

VEC_INLINE vec adam_vec(const rule_vecs *k, const update_span *s, int64_t at, int64_t count, vec w, vec g) {
    vec m = get(s->m, at, count);
    m = mul_then_add(k->mean_share, vec_sub(g, m), m);
    put(s->m, at, m, count);
    vec root = vec_div(vec_sqrt(square_vec(k, s, at, count, g)), k->root);
    return vec_add(vec_div(vec_mul(k->rate, m), vec_add(root, k->eps)), w);
}

VEC_INLINE vec rmsprop_vec(const rule_vecs *k, const update_span *s, int64_t at, int64_t count, vec w, vec g,
                           const int kind) {
    vec divisor = vec_add(vec_sqrt(square_vec(k, s, at, count, g)), k->eps);
    if (kind == UPDATE_RMSPROP) return vec_add(vec_div(vec_mul(k->rate, g), divisor), w);
    vec m = mul_then_add(k->momentum, get(s->m, at, count), vec_div(g, divisor));
    put(s->m, at, m, count);
    return mul_then_add(k->rate, m, w);
}

/* `count` elements from `at` on, VEC_LANES at most. */
VEC_INLINE void update_lanes(const rule_vecs *k, const update_span *s, int64_t at, int64_t count, const int kind) {
    vec w = get(s->w, at, count), g = vec_mul(get(s->g, at, count), k->scale);
    if (kind == UPDATE_ADAMW)
        w = vec_mul(w, k->keep);
    else
        g = mul_then_add(k->decay, w, g);
    if (kind <= UPDATE_SGD_NESTEROV)
        w = sgd_vec(k, s, at, count, w, g, kind);
    else if (kind <= UPDATE_ADAMW)
        w = adam_vec(k, s, at, count, w, g);
    else
        w = rmsprop_vec(k, s, at, count, w, g, kind);
    put(s->w, at, w, count);
}

/* `kind` is a constant where inlined. */
VEC_INLINE void update_loop(const update_rule *r, const update_span *s, const int kind) {
    const rule_vecs k = spread_rule(r);
    const update_span span = *s;
    int64_t at = 0;
    for (; at + VEC_LANES <= span.count; at += VEC_LANES) update_lanes(&k, &span, at, VEC_LANES, kind);
    if (at < span.count) update_lanes(&k, &span, at, span.count - at, kind);
}

VEC_TARGET static void sgd(const update_rule *r, const update_span *s) { update_loop(r, s, UPDATE_SGD); }
VEC_TARGET static void sgd_momentum(const update_rule *r, const update_span *s) {
    update_loop(r, s, UPDATE_SGD_MOMENTUM);
}
VEC_TARGET static void sgd_nesterov(const update_rule *r, const update_span *s) {
    update_loop(r, s, UPDATE_SGD_NESTEROV);
}
VEC_TARGET static void adam(const update_rule *r, const update_span *s) { update_loop(r, s, UPDATE_ADAM); }
VEC_TARGET static void adamw(const update_rule *r, const update_span *s) { update_loop(r, s, UPDATE_ADAMW); }
VEC_TARGET static void rmsprop(const update_rule *r, const update_span *s) { update_loop(r, s, UPDATE_RMSPROP); }
VEC_TARGET static void rmsprop_momentum(const update_rule *r, const update_span *s) {
    update_loop(r, s, UPDATE_RMSPROP_MOMENTUM);
}

/* ---- Squares ------------------------------------------------------------------------------- */

#define SQUARE_SUMS 16 /* elements this far apart are added up together, whatever the vectors are */
#define SQUARE_VECS (SQUARE_SUMS / VEC_DOUBLES)

/* The square of a float is exact in double, so that a fused multiply-add and a product and a sum give the same. */
VEC_TARGET static double squares(const float *g, int64_t count) {
    vec_double sum[SQUARE_VECS];
    double sums[SQUARE_SUMS];
    int64_t at = 0;
#pragma GCC unroll 8
    for (int v = 0; v < SQUARE_VECS; v++) sum[v] = vec_double_zero();
    for (; at + SQUARE_SUMS <= count; at += SQUARE_SUMS) {
#pragma GCC unroll 8
        for (int v = 0; v < SQUARE_VECS; v++) {
            vec_double value = vec_double_from(g + at + v * VEC_DOUBLES);
            sum[v] = vec_double_mul_add(value, value, sum[v]);
        }
    }
#pragma GCC unroll 8
    for (int v = 0; v < SQUARE_VECS; v++) vec_double_store(sums + v * VEC_DOUBLES, sum[v]);
    for (int j = 0; at < count; at++, j++) sums[j] += (double)g[at] * (double)g[at];
    for (int width = SQUARE_SUMS / 2; width > 0; width /= 2) {
        for (int j = 0; j < width; j++) sums[j] += sums[j + width];
    }
    return sums[0];
}

const updates OF_ISA(updates) = {
    .loops = &OF_ISA(channels),
    .run = {sgd, sgd_momentum, sgd_nesterov, adam, adamw, rmsprop, rmsprop_momentum},
    .squares = squares,
};
