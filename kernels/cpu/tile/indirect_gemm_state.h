/*
 * What the indirect matrix product of indirect_gemm.h keeps from create to destroy: the shapes of its streams, and
 * which taps reach which pixels. For indirect_gemm_create.c, which fills it, and indirect_gemm.c alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_INDIRECT_GEMM_STATE_H
#define BRAID_KERNELS_CPU_TILE_INDIRECT_GEMM_STATE_H

#include "kernels/cpu/isa/gemm.h"
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/isa/copy.h"
#include "kernels/cpu/tile/taps.h"

#define SUM_FLOATS 8192 /* on the stack, where sums wait that are beside the output */

typedef enum indirect_gemm_direction { INDIRECT_GEMM_FORWARD, INDIRECT_GEMM_BACKWARD } indirect_gemm_direction;

/* Row and column of a tap, and whether it reads pixels that no tap read for the output pixels before. */
typedef struct filter_tap {
    int32_t at[2];
    int first_reads;
} filter_tap;

/* The pixels that one set of taps reaches: origin, origin + step, ... along each axis. */
typedef struct pixel_class {
    int64_t origin[2], extent[2];
    int64_t first_tap, tap_count; /* in indirect_gemm.tap */
} pixel_class;

typedef struct stream_shape {
    int64_t depth, columns; /* of one group: channels summed over, channels made */
    int64_t in_pitch, out_pitch, out_channels;
    int64_t tap_depth, tap_units;   /* numbers and units of one tap, of a filter row where taps are merged */
    int64_t panels, panels_in_part; /* of one group */
    int64_t packed;                 /* where the panels start in the workspace, in units */
    int64_t parts_of_group;
} stream_shape;

typedef struct indirect_gemm {
    const gemm_tile *tile;
    const halves *halves; /* of the planes; NULL: they hold floats */
    int64_t bytes;        /* of a number in the planes */
    int widened;          /* the planes hold halves and the tile takes floats */
    int added;            /* a data gradient is added to what lies in the slot CONV2D_A, whose memory may be its own */
    int beside;           /* sums are made beside the output: it holds halves, or may be what is added */
    indirect_gemm_direction direction;
    int streams, merged; /* merged: the taps of a filter row are one tap of filter width * depth */
    int64_t batch, groups, step[2];
    taps map;
    int64_t tap_count; /* in a panel: filter rows where taps are merged */
    filter_tap *tap;   /* in the order of the panels */
    int64_t class_count;
    pixel_class *classes;
    stream_shape stream[BRAID_MAX_PLANES];
    int64_t zero_units, workspace_units, parts, pack_steps, pack_parts;
} indirect_gemm;

static inline int64_t class_pixels(const indirect_gemm *g, const pixel_class *c) {
    return g->batch * c->extent[0] * c->extent[1];
}

/* Classes that no tap reaches have no work of their own: the first class clears them. */
static inline int is_left_to_first(const indirect_gemm *g, const pixel_class *c) {
    return c != g->classes && c->tap_count == 0;
}

static inline int64_t class_chunks(const indirect_gemm *g, const pixel_class *c) {
    if (is_left_to_first(g, c)) return 0;
    return ceil_div(class_pixels(g, c), (int64_t)g->tile->rows * INDIRECT_GEMM_TILES_IN_CHUNK);
}

#endif
