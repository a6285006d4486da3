/*
 * The magnitudes behind one output of Winograd's F(2x2, 3x3), the measure of its error bound. With the
 * absolute values of its matrices (kernels/cpu/conv/winograd.h), output y0 of a line of two outputs gathers
 *
 *   |d0 - d2| |g0| + |d1 + d2| |g0 + g1 + g2| / 2 + |d2 - d1| |g0 - g1 + g2| / 2
 *   <= |d0| |g0| + |d1| (|g0| + |g1| + |g2|) + |d2| (2 |g0| + |g1| + |g2|)
 *
 * and y1 the mirror image. In two dimensions the coefficients of both axes are multiplied. So rounding may
 * leave an error that the direct terms of an output, w times the x it is multiplied with, do not account for.
 *
 * The weight gradient is the transposed sum: tap g gathers |d| |dy| of every tile by the same coefficients.
 *
 * conv2d_scale_bias_act hands these magnitudes on as it hands on values: multiplied with |scale|.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/conv2d.h"
#include "kernels/ref/conv2d_scale_bias_act.h"

#define AT_ONCE 64 /* channels of a patch */

/* Of |d| |g| at [output of the line][line of the patch][tap]. Output j gathers from the three lines from j on. */
static const real coefficient[2][4][3] = {
    {{1, 0, 0}, {1, 1, 1}, {2, 1, 1}, {0, 0, 0}},
    {{0, 0, 0}, {1, 1, 2}, {1, 1, 1}, {0, 0, 1}},
};

/* The source coordinate of a line of the patch of output `at`; -1: none. */
static int64_t source_line(const braid_problem *p, int axis, int64_t at, int64_t line) {
    int64_t first = at / 2 * 2, out_size = conv2d_out_size(p, axis);
    if (p->pass == BRAID_PASS_BWD_DATA) {
        int64_t source = first + p->padding[axis] - 2 + line;
        return source < out_size ? source : -1;
    }
    int64_t reader = line == 3 ? first + 1 : first;
    return reader < out_size ? conv2d_in_index(p, axis, reader, first + line - reader) : -1;
}

/* ---- Forward and data gradient ------------------------------------------------------------- */

static ref_value given_x(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    const real *x = b->plane[CONV2D_X][i];
    real value = x[pixel * p->in_pitch[i] + c];
    return (ref_value){value, fabs(value)};
}

/* The magnitudes of a few channels of the 3x3 source pixels that one output gathers from; zeros in the padding. */
typedef struct patch {
    int64_t count;
    real at[3][3][AT_ONCE];
    const real (*row)[3], (*column)[3]; /* coefficients [line][tap] */
} patch;

/* Channels [first, first + count) for the output at [sample][row][column]. */
static void fill_patch(patch *t, const braid_problem *p, const buffers *b, int i, const int64_t at[3], int64_t first,
                       int64_t channels, conv2d_gradient source) {
    int forward = p->pass == BRAID_PASS_FWD;
    int64_t height = forward ? p->size[0] : conv2d_out_size(p, 0), width = forward ? p->size[1] : conv2d_out_size(p, 1);
    t->count = channels - first < AT_ONCE ? channels - first : AT_ONCE;
    t->row = &coefficient[at[1] % 2][at[1] % 2];
    t->column = &coefficient[at[2] % 2][at[2] % 2];
    for (int place = 0; place < 9; place++) {
        int64_t y = source_line(p, 0, at[1], at[1] % 2 + place / 3),
                x = source_line(p, 1, at[2], at[2] % 2 + place % 3);
        for (int64_t d = 0; d < t->count; d++)
            t->at[place / 3][place % 3][d] =
                (y | x) < 0 ? 0 : (real)source(p, b, i, (at[0] * height + y) * width + x, first + d).magnitude;
    }
}

/* What an output gathers from a patch. w is the first tap of the first channel; steps lead to the next ones. */
static real sum_patch(const patch *t, const real *w, int64_t tap_step, int64_t channel_step) {
    real total = 0;
    for (int64_t d = 0; d < t->count; d++, w += channel_step) {
        real lines[3][3]; /* [row of taps][column of the patch] */
        for (int r = 0; r < 3; r++) {
            const real *tap = w + 3 * r * tap_step;
            for (int q = 0; q < 3; q++)
                lines[r][q] = t->column[q][0] * (real)fabs(tap[0]) + t->column[q][1] * (real)fabs(tap[tap_step]) +
                              t->column[q][2] * (real)fabs(tap[2 * tap_step]);
        }
        for (int r = 0; r < 3; r++) {
            for (int q = 0; q < 3; q++)
                total += t->at[r][q][d] *
                         (t->row[r][0] * lines[0][q] + t->row[r][1] * lines[1][q] + t->row[r][2] * lines[2][q]);
        }
    }
    return total;
}

/* [sample][row][column] of the pixel with an output, of `size`. */
static void find_place(int64_t pixel, const int64_t size[2], int64_t at[3]) {
    at[0] = pixel / size[1] / size[0];
    at[1] = pixel / size[1] % size[0];
    at[2] = pixel % size[1];
}

/* 1 where element `index` of an output of stream i belongs to a blanked sample. */
static int is_blank(const braid_problem *p, const buffers *b, int i, int64_t index) {
    return mask_blanks(b->plane[CONV2D_MASK][i],
                       index / p->out_channels[i] / (conv2d_out_size(p, 0) * conv2d_out_size(p, 1)));
}

/* Element `index` of the convolution of stream i, without a bias, of a sample that is not blanked. */
static real forward(const braid_problem *p, const buffers *b, int i, int64_t index) {
    const int64_t size[2] = {conv2d_out_size(p, 0), conv2d_out_size(p, 1)}, channels = p->in_channels[i];
    const real *w = (const real *)b->plane[CONV2D_W][i] + index % p->out_channels[i] * 9 * channels;
    int64_t at[3];
    real total = 0;
    find_place(index / p->out_channels[i], size, at);
    for (int64_t first = 0; first < channels; first += AT_ONCE) {
        patch t;
        fill_patch(&t, p, b, i, at, first, channels, given_x);
        total += sum_patch(&t, w + first, channels, 1);
    }
    return total;
}

/* Element `index` of dx_i; the taps of the transposed convolution are those of the filter from the last one on. */
static real data_gradient(const braid_problem *p, const buffers *b, int i, int64_t index) {
    const int64_t channels = p->in_channels[i], filters = p->out_channels[i];
    const real *w = (const real *)b->plane[CONV2D_W][i] + 8 * channels + index % channels;
    int64_t at[3];
    real total = 0;
    find_place(index / channels, p->size, at);
    if (mask_blanks(b->plane[CONV2D_MASK][i], at[0])) return 0;
    for (int64_t first = 0; first < filters; first += AT_ONCE) {
        patch t;
        fill_patch(&t, p, b, i, at, first, filters, conv2d_given);
        total += sum_patch(&t, w + first * 9 * channels, -channels, 9 * channels);
    }
    return total;
}

/* ---- Weight gradient ----------------------------------------------------------------------- */

/* Adds up the tile at [sample][row][column] for one tap of input channel c and output channel k. */
static real sum_tile(const braid_problem *p, const buffers *b, int i, const int64_t at[3], const int64_t kc[2],
                     int tap) {
    const int64_t out[2] = {conv2d_out_size(p, 0), conv2d_out_size(p, 1)};
    real dy[4] = {0}, total = 0;
    for (int j = 0; j < 4; j++) {
        int64_t y = at[1] + j / 2, x = at[2] + j % 2;
        if (y < out[0] && x < out[1])
            dy[j] = (real)conv2d_given(p, b, i, (at[0] * out[0] + y) * out[1] + x, kc[0]).magnitude;
    }
    for (int place = 0; place < 16; place++) {
        int64_t row = source_line(p, 0, at[1], place / 4), line = source_line(p, 1, at[2], place % 4);
        if ((row | line) < 0) continue;
        real sum = 0;
        for (int j = 0; j < 4; j++)
            sum += coefficient[j / 2][place / 4][tap / 3] * coefficient[j % 2][place % 4][tap % 3] * dy[j];
        total += sum * (real)given_x(p, b, i, (at[0] * p->size[0] + row) * p->size[1] + line, kc[1]).magnitude;
    }
    return total;
}

static real weight_gradient(const braid_problem *p, const buffers *b, int i, int64_t index) {
    const int64_t channels = p->in_channels[i], kc[2] = {index / channels / 9, index % channels};
    real total = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (mask_blanks(b->plane[CONV2D_MASK][i], sample)) continue;
        for (int64_t row = 0; row < conv2d_out_size(p, 0); row += 2) {
            for (int64_t column = 0; column < conv2d_out_size(p, 1); column += 2) {
                const int64_t at[3] = {sample, row, column};
                total += sum_tile(p, b, i, at, kc, (int)(index / channels % 9));
            }
        }
    }
    return total;
}

/* ---- Fused op ------------------------------------------------------------------------------ */

static double scaled(const braid_problem *p, const buffers *b, int i, int64_t index) {
    ref_value u = conv2d_unscaled(p, b, i, index);
    u.magnitude = forward(p, b, i, index);
    return conv2d_scaled(p, b, i, index, u).magnitude;
}

static double forward_of(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *bias = slot == CONV2D_Y ? b->plane[CONV2D_BIAS][i] : NULL;
    real total = forward(p, b, i, index);
    return total + (bias ? fabs(bias[index % p->out_channels[i]]) : 0);
}

double REF(tile_magnitude)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (p->pass == BRAID_PASS_BWD_DATA) return data_gradient(p, b, i, index);
    if (p->pass == BRAID_PASS_BWD_WEIGHT) return weight_gradient(p, b, i, index);
    if (is_blank(p, b, i, index)) return 0;
    return p->op == BRAID_OP_CONV2D_SCALE_BIAS_ACT ? scaled(p, b, i, index) : forward_of(p, b, slot, i, index);
}
