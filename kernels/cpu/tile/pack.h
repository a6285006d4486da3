/*
 * Packing of weights into panels for gemm_rows: [units of the depth][width], with zeros behind the last of n
 * columns and behind an odd last number (gemm.h). Weights may be floats, halves that become floats, or bf16
 * for a tile that multiplies them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_PACK_H
#define BRAID_KERNELS_CPU_TILE_PACK_H

#include "kernels/cpu/isa/gemm.h"
#include "kernels/cpu/isa/copy.h"

#define PACK_LINE 16    /* numbers read of one row of weights at a time: a cache line of floats */
#define PACK_COLUMNS 32 /* the widest panel */

typedef struct pack_panel {
    float *to;        /* or units of another kind */
    const void *from; /* the first number */
    int64_t pitch;    /* numbers from one row of the weights to the next */
    int64_t depth;
    int n, width;
    const gemm_tile *tile;
    const halves *halves; /* of the weights; NULL: they are floats */
} pack_panel;

/* A few numbers of the weights from number `at` on, as floats: where they lie, or made in `wide`. */
static inline const float *pack_floats(const pack_panel *q, int64_t at, int64_t count, float *wide) {
    if (!q->halves) return (const float *)q->from + at;
    q->halves->widen(wide, (const uint16_t *)q->from + at, count);
    return wide;
}

/* to[d][j] = from[j][d], rows of the weights being read a cache line at a time. */
static inline void pack_floats_transposed(const pack_panel *q) {
    float wide[PACK_LINE];
    for (int64_t first = 0; first < q->depth; first += PACK_LINE) {
        int64_t count = at_most(PACK_LINE, q->depth - first);
        float *to = q->to + first * q->width;
        for (int j = 0; j < q->n; j++) {
            const float *from = pack_floats(q, j * q->pitch + first, count, wide);
            for (int64_t d = 0; d < count; d++) to[d * q->width + j] = from[d];
        }
        for (int64_t d = 0; d < count && q->n < q->width; d++) zero_floats(to + d * q->width + q->n, q->width - q->n);
    }
}

/* to[u][j] = from[j][2u], from[j][2u + 1]. */
static inline void pack_pairs_transposed(const pack_panel *q) {
    const int64_t units = gemm_units(q->tile, q->depth), whole = q->depth / 2;
    const uint16_t *from = q->from;
    for (int64_t first = 0; first < units; first += PACK_LINE) {
        const int64_t end = at_most(first + PACK_LINE, units), whole_end = at_most(end, whole);
        for (int j = 0; j < q->n; j++) {
            const uint16_t *row = from + j * q->pitch;
            for (int64_t u = first; u < whole_end; u++) memcpy(q->to + u * q->width + j, row + 2 * u, 4);
            if (whole_end < end) {
                const uint16_t last[2] = {row[q->depth - 1], 0};
                memcpy(q->to + whole * q->width + j, last, sizeof last);
            }
        }
        for (int64_t u = first; u < end && q->n < q->width; u++)
            zero_floats(q->to + u * q->width + q->n, q->width - q->n);
    }
}

/* 1 where the panel is whole squares of units that lie in the weights as they are packed. */
static inline int pack_is_squares(const pack_panel *q) {
    const int is_bf16 = gemm_is_bf16(q->tile), numbers = is_bf16 ? 2 * GEMM_PACKED_STEP : GEMM_PACKED_STEP;
    return q->tile->turn && !q->halves == !is_bf16 && q->n == q->width && q->depth % numbers == 0;
}

static inline void pack_squares(const pack_panel *q) {
    const int64_t unit = sizeof *q->to, pitch = q->pitch * (q->halves ? unit / 2 : unit);
    for (int j = 0; j < q->n; j += GEMM_PACKED_STEP) {
        const unsigned char *from = (const unsigned char *)q->from + j * pitch;
        for (int64_t u = 0; u < gemm_units(q->tile, q->depth); u += GEMM_PACKED_STEP)
            q->tile->turn(q->to + u * q->width + j, q->width * unit, from + u * unit, pitch);
    }
}

static inline void pack_transposed(const pack_panel *q) {
    if (pack_is_squares(q))
        pack_squares(q);
    else if (gemm_is_bf16(q->tile))
        pack_pairs_transposed(q);
    else
        pack_floats_transposed(q);
}

/* to[d][j] = from[d][j]. */
static inline void pack_straight(const pack_panel *q) {
    float wide[PACK_COLUMNS];
    const int step = gemm_is_bf16(q->tile) ? 2 : 1;
    float *to = q->to;
    for (int64_t d = 0; d < q->depth; d += step, to += q->width) {
        if (step == 2) {
            const uint16_t *low = (const uint16_t *)q->from + d * q->pitch;
            q->tile->pack_pair((uint32_t *)(void *)to, low, d + 1 < q->depth ? low + q->pitch : NULL, q->n);
        } else {
            copy_floats(to, pack_floats(q, d * q->pitch, q->n, wide), q->n);
        }
        zero_floats(to + q->n, q->width - q->n);
    }
}

#endif
