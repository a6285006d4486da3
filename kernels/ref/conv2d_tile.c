/*
 * The magnitudes behind one output of Winograd's F(2x2, 3x3), the measure of its error bound. With the
 * absolute values of its matrices (kernels/cpu/tile/winograd.h), output y0 of a line of two outputs gathers
 *
 *   |d0 - d2| |g0| + |d1 + d2| |g0 + g1 + g2| / 2 + |d2 - d1| |g0 - g1 + g2| / 2
 *   <= |d0| |g0| + |d1| (|g0| + |g1| + |g2|) + |d2| (2 |g0| + |g1| + |g2|)
 *
 * and y1 the mirror image. In two dimensions the coefficients of both axes are multiplied. So rounding may
 * leave an error that the direct terms of an output, w times the x it is multiplied with, do not account for.
 *
 * The weight gradient is the transposed sum: tap g gathers |d| |dy| of every tile by the same coefficients.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

/* Of |d| |g| at [output of the line][line of the patch][tap]. */
static const real coefficient[2][4][3] = {
    {{1, 0, 0}, {1, 1, 1}, {2, 1, 1}, {0, 0, 0}},
    {{0, 0, 0}, {1, 1, 2}, {1, 1, 1}, {0, 0, 1}},
};

/* The source coordinate of a line of the patch of output `at`; -1: none. */
static int64_t source_line(const braid_problem *p, int axis, int64_t at, int line) {
    int64_t first = at / 2 * 2, out_size = conv2d_out_size(p, axis);
    if (p->pass == BRAID_PASS_BWD_DATA) {
        int64_t source = first + p->padding[axis] - 2 + line;
        return source < out_size ? source : -1;
    }
    int64_t reader = line == 3 ? first + 1 : first;
    return reader < out_size ? conv2d_in_index(p, axis, reader, (int)(first + line - reader)) : -1;
}

/* The sum over the channels of |source| |w|; w of consecutive channels lie `stride` apart. */
static real sum_channels(const real *source, const real *w, int64_t count, int64_t stride) {
    real sum = 0;
    for (int64_t d = 0; d < count; d++) sum += (real)fabs(source[d] * w[d * stride]);
    return sum;
}

/* Adds up a tile for one tap: x of one input channel and dy of one output channel, of the sample they start at. */
static real sum_tile(const braid_problem *p, int i, const real *x, const real *dy, const int64_t at[2], int tap) {
    const int64_t out[2] = {conv2d_out_size(p, 0), conv2d_out_size(p, 1)};
    real total = 0;
    for (int place = 0; place < 16; place++) {
        int64_t row = source_line(p, 0, at[0], place / 4), line = source_line(p, 1, at[1], place % 4);
        if ((row | line) < 0) continue;
        real sum = 0;
        for (int j = 0; j < 4; j++) {
            real factor = coefficient[j / 2][place / 4][tap / 3] * coefficient[j % 2][place % 4][tap % 3];
            if (factor == 0 || at[0] + j / 2 >= out[0] || at[1] + j % 2 >= out[1]) continue;
            sum += factor * (real)fabs(dy[((at[0] + j / 2) * out[1] + at[1] + j % 2) * p->out_pitch[i]]);
        }
        total += sum * (real)fabs(x[(row * p->size[1] + line) * p->in_pitch[i]]);
    }
    return total;
}

static double weight_magnitude(const braid_problem *p, const buffers *b, int i, int64_t index) {
    const int64_t channels = p->in_channels[i], out[2] = {conv2d_out_size(p, 0), conv2d_out_size(p, 1)};
    const real *x = (const real *)b->plane[CONV2D_X][i] + index % channels;
    const real *dy = (const real *)b->plane[CONV2D_Y][i] + index / channels / 9;
    real total = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (mask_blanks(b->plane[CONV2D_MASK][i], sample)) continue;
        const real *source = x + sample * p->size[0] * p->size[1] * p->in_pitch[i];
        const real *gradient = dy + sample * out[0] * out[1] * p->out_pitch[i];
        for (int64_t row = 0; row < out[0]; row += 2) {
            for (int64_t column = 0; column < out[1]; column += 2) {
                const int64_t at[2] = {row, column};
                total += sum_tile(p, i, source, gradient, at, (int)(index / channels % 9));
            }
        }
    }
    return total;
}

double REF(conv2d_tile_magnitude)(const braid_problem *p, const buffers *b, int i, int64_t index) {
    if (p->pass == BRAID_PASS_BWD_WEIGHT) return weight_magnitude(p, b, i, index);
    int forward = p->pass == BRAID_PASS_FWD;
    const int64_t outer[2] = {forward ? conv2d_out_size(p, 0) : p->size[0],
                              forward ? conv2d_out_size(p, 1) : p->size[1]};
    const int64_t inner[2] = {forward ? p->size[0] : conv2d_out_size(p, 0),
                              forward ? p->size[1] : conv2d_out_size(p, 1)};
    const int64_t made = forward ? p->out_channels[i] : p->in_channels[i], channels = p->in_channels[i];
    const int64_t pitch = forward ? p->in_pitch[i] : p->out_pitch[i];
    const real *source = b->plane[forward ? CONV2D_X : CONV2D_Y][i], *w = b->plane[CONV2D_W][i];
    const real *bias = forward ? b->plane[CONV2D_BIAS][i] : NULL;
    const int64_t column = index % made, at[2] = {index / made / outer[1] % outer[0], index / made % outer[1]};
    const int64_t sample = index / made / outer[1] / outer[0];
    real total = bias ? (real)fabs(bias[column]) : 0;
    if (mask_blanks(b->plane[CONV2D_MASK][i], sample)) return 0;

    for (int place = 0; place < 16; place++) {
        int64_t row = source_line(p, 0, at[0], place / 4), line = source_line(p, 1, at[1], place % 4);
        if ((row | line) < 0) continue;
        const real *pixel = source + ((sample * inner[0] + row) * inner[1] + line) * pitch;
        for (int tap = 0; tap < 9; tap++) {
            real factor = coefficient[at[0] % 2][place / 4][tap / 3] * coefficient[at[1] % 2][place % 4][tap % 3];
            if (factor == 0) continue;
            if (forward)
                total += factor * sum_channels(pixel, w + (column * 9 + tap) * channels, channels, 1);
            else
                total +=
                    factor * sum_channels(pixel, w + (8 - tap) * channels + column, p->out_channels[i], 9 * channels);
        }
    }
    return total;
}
