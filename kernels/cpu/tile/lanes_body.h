/*
 * The loops of lanes.h, in terms of vec_*.h. Included once per instruction set. Channels that do not
 * fill a vector are done one by one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/lanes.h"

#define SUM_VECS 4    /* registers of each of the two sums */
#define SUM_PIXELS 16 /* between loading and storing them */

/* Both sums of `vecs` vectors of channels from c on; dy is NULL where `squares`. Constants where inlined. */
VEC_INLINE void sum_block(double *first, double *second, const float *center, const lanes_pixels *p, int64_t c,
                          const int vecs, const int squares) {
    vec_double sum[SUM_VECS], product[SUM_VECS], middle[SUM_VECS];
#pragma GCC unroll 4
    for (int v = 0; v < vecs; v++) {
        sum[v] = vec_double_load(first + c + v * VEC_DOUBLES);
        product[v] = vec_double_load(second + c + v * VEC_DOUBLES);
        middle[v] = vec_double_from(center + c + v * VEC_DOUBLES);
    }
    for (int64_t i = 0; i < p->count; i++) {
        const float *x = p->x + i * p->pitch + c, *dy = squares ? x : p->dy + i * p->pitch + c;
#pragma GCC unroll 4
        for (int v = 0; v < vecs; v++) {
            vec_double away = vec_double_sub(vec_double_from(x + v * VEC_DOUBLES), middle[v]);
            vec_double e = squares ? away : vec_double_from(dy + v * VEC_DOUBLES);
            sum[v] = vec_double_add(sum[v], e);
            product[v] = vec_double_mul_add(e, away, product[v]);
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vecs; v++) {
        vec_double_store(first + c + v * VEC_DOUBLES, sum[v]);
        vec_double_store(second + c + v * VEC_DOUBLES, product[v]);
    }
}

VEC_INLINE void sum_channels(double *first, double *second, const float *center, const lanes_pixels *p,
                             const int squares) {
    int64_t c = 0;
    for (; c + SUM_VECS * VEC_DOUBLES <= p->channels; c += SUM_VECS * VEC_DOUBLES) {
        sum_block(first, second, center, p, c, SUM_VECS, squares);
    }
    for (; c + VEC_DOUBLES <= p->channels; c += VEC_DOUBLES) sum_block(first, second, center, p, c, 1, squares);
    for (; c < p->channels; c++) {
        for (int64_t i = 0; i < p->count; i++) {
            double away = (double)p->x[i * p->pitch + c] - (double)center[c];
            double e = squares ? away : (double)p->dy[i * p->pitch + c];
            first[c] += e;
            second[c] += e * away;
        }
    }
}

/* A few pixels at a time, all their channels: memory is then read in one direction. */
VEC_TARGET static void sums(double *first, double *second, const float *center, const lanes_pixels *p) {
    lanes_pixels few = *p;
    for (int64_t left = p->count; left > 0; left -= few.count) {
        few.count = left < SUM_PIXELS ? left : SUM_PIXELS;
        if (p->dy)
            sum_channels(first, second, center, &few, 0);
        else
            sum_channels(first, second, center, &few, 1);
        few.x += few.count * p->pitch;
        if (p->dy) few.dy += few.count * p->pitch;
    }
}

VEC_TARGET static void scale_shift(float *y, const float *scale, const float *shift, const lanes_pixels *p) {
    for (int64_t i = 0; i < p->count; i++, y += p->pitch) {
        const float *x = p->x + i * p->pitch;
        int64_t c = 0;
        for (; c + VEC_LANES <= p->channels; c += VEC_LANES) {
            vec_store(y + c, vec_mul_add(vec_load(x + c), vec_load(scale + c), vec_load(shift + c)));
        }
        for (; c < p->channels; c++) y[c] = x[c] * scale[c] + shift[c];
    }
}

VEC_TARGET static void gradient(float *dx, const lanes_gradient *g, const lanes_pixels *p) {
    for (int64_t i = 0; i < p->count; i++, dx += p->pitch) {
        const float *x = p->x + i * p->pitch, *dy = p->dy + i * p->pitch;
        int64_t c = 0;
        for (; c + VEC_LANES <= p->channels; c += VEC_LANES) {
            vec bent = vec_mul_add(vec_sub(vec_load(x + c), vec_load(g->center + c)), vec_load(g->bend + c),
                                   vec_load(g->offset + c));
            vec_store(dx + c, vec_mul_add(vec_load(dy + c), vec_load(g->slope + c), bent));
        }
        for (; c < p->channels; c++) {
            dx[c] = dy[c] * g->slope[c] + ((x[c] - g->center[c]) * g->bend[c] + g->offset[c]);
        }
    }
}
