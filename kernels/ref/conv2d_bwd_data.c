/*
 * conv2d data gradient, one element: dx[b][h][w][c] gathers every output that read this input. Under a
 * padding mode other than zeros an input can be read several times by one output, so all pairs of
 * output position and tap are asked.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

/* The sum over the output channels of one group at one output pixel and tap. */
static ref_value gather(const real *dy, const real *w, int64_t count, int64_t tap_stride) {
    real sum = 0, magnitude = 0;
    for (int64_t k = 0; k < count; k++) {
        sum += dy[k] * w[k * tap_stride];
        magnitude += (real)fabs(dy[k] * w[k * tap_stride]);
    }
    return (ref_value){sum, magnitude};
}

ref_value REF(conv2d_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *dy = b->plane[CONV2D_Y][i], *w = b->plane[CONV2D_W][i];
    int64_t channels = p->in_channels[i] / p->groups, filters = p->out_channels[i] / p->groups;
    int64_t out_height = conv2d_out_size(p, 0), out_width = conv2d_out_size(p, 1);
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    int64_t column = pixel % p->size[1], row = pixel / p->size[1] % p->size[0],
            sample = pixel / p->size[1] / p->size[0];
    int64_t first_filter = c / channels * filters;
    int64_t filter_elements = p->filter[0] * p->filter[1] * channels;
    ref_value total = {0, 0};
    if (mask_blanks(b->plane[CONV2D_MASK][i], sample)) return total;

    for (int64_t r = 0; r < p->filter[0]; r++) {
        for (int64_t out_row = 0; out_row < out_height; out_row++) {
            if (conv2d_in_index(p, 0, out_row, r) != row) continue;
            for (int64_t s = 0; s < p->filter[1]; s++) {
                for (int64_t q = 0; q < out_width; q++) {
                    if (conv2d_in_index(p, 1, q, s) != column) continue;
                    const real *from =
                        dy + ((sample * out_height + out_row) * out_width + q) * p->out_pitch[i] + first_filter;
                    const real *tap =
                        w + first_filter * filter_elements + (r * p->filter[1] + s) * channels + c % channels;
                    ref_value part = gather(from, tap, filters, filter_elements);
                    total.value = (real)(total.value + part.value);
                    total.magnitude += part.magnitude;
                }
            }
        }
    }
    return total;
}
