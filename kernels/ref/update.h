/*
 * What the reference optimisers share: one element of the arena before the update, what its group asks for,
 * and the answer for one of its outputs. The operands are described in src/ops/update.h. Factors that do not
 * depend on the element are made in double and rounded to real.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_UPDATE_H
#define BRAID_KERNELS_REF_UPDATE_H

#include <math.h>

#include "kernels/ref/ref.h"

typedef struct update_element {
    real w, g, m, v; /* g is scaled; m and v are 0 where there is none */
    double rate, decay;
    int64_t step;
    int live; /* 0: frozen or skipped */
} update_element;

typedef struct update_result {
    ref_value w, m, v;
} update_result;

/* The group of the last segment that begins at the element or before it; the first begins at 0. Found by halves,
 * because a network has hundreds of them and every element asks. */
static inline int64_t update_group(const braid_problem *p, const int64_t *segments, int64_t index) {
    int64_t low = 0, high = p->segments;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (segments[2 * middle] <= index)
            low = middle;
        else
            high = middle;
    }
    return segments[2 * low + 1];
}

static inline real update_load(const buffers *b, int slot, int64_t index) {
    const real *plane = b->plane[slot][0];
    return plane ? plane[index] : 0;
}

static inline update_element update_read(const braid_problem *p, const buffers *b, int64_t index) {
    const real *hyper =
        (const real *)b->plane[UPDATE_HYPER][0] + 3 * update_group(p, b->plane[UPDATE_SEGMENTS][0], index);
    real scale = update_load(b, UPDATE_SCALE, 0);
    int64_t step = *(const int64_t *)b->plane[UPDATE_STEP][0];
    return (update_element){
        .w = update_load(b, UPDATE_W, index),
        .g = update_load(b, UPDATE_G, index) * scale,
        .m = update_load(b, UPDATE_M, index),
        .v = update_load(b, UPDATE_V, index),
        .rate = (double)hyper[0],
        .decay = (double)hyper[1],
        .step = step < 1 ? 1 : step,
        .live = hyper[2] != 0 && isfinite(scale),
    };
}

/* Everything as it was. */
static inline update_result update_none(const update_element *e) {
    return (update_result){{(double)e->w, 0}, {(double)e->m, 0}, {(double)e->v, 0}};
}

/* v = keep * v + (share * g) * g; g is rounded from terms of the size g_size. */
static inline ref_value update_square(const update_element *e, double keep, double share, real g, double g_size) {
    real v = (real)keep * e->v + (real)share * g * g;
    return (ref_value){(double)v, keep * (double)e->v + share * g_size * g_size};
}

/* How much more uncertain a quotient is by the root of v: a root halves the error of v, relative to v. */
static inline double update_doubt(ref_value v) { return v.value > 0 ? v.magnitude / v.value : 1; }

/* The new weight from the old one and a change of the given size. */
static inline ref_value update_weight(real w, real change, double size) {
    return (ref_value){(double)(w + change), fabs((double)w) + size};
}

/* The copy of w is w, rounded to the dtype of the copy by whoever stores it. */
static inline ref_value update_pick(const update_result *r, int slot) {
    switch (slot) {
        case UPDATE_M: return r->m;
        case UPDATE_V: return r->v;
        case UPDATE_HALF: return (ref_value){r->w.value, r->w.magnitude + fabs(r->w.value)};
        default: return r->w;
    }
}

#endif
