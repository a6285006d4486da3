/*
 * The data gradient of layernorm: dx = rstd * (g - mean(g) - xhat * mean(g * xhat)), g = dy * gamma. A single channel
 * is its own mean, so that y does not depend on it: exactly 0.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/layernorm.h"

ref_value REF(layernorm_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    int64_t channels = p->in_channels[i], c = index % channels, pixel = index / channels;
    const real *gamma = b->plane[LAYERNORM_GAMMA][i];
    const real *dy = (const real *)b->plane[LAYERNORM_Y][i] + pixel * p->in_pitch[i];
    layernorm_row row = layernorm_row_of(p, b, i, pixel);
    double sum = 0, sum_size = 0, product = 0, product_size = 0;
    for (int64_t j = 0; j < channels; j++) {
        double g = (double)dy[j] * (double)gamma[j], along = g * layernorm_xhat(&row, j);
        sum += g;
        sum_size += fabs(g);
        product += along;
        product_size += fabs(along);
    }
    double g = (double)dy[c] * (double)gamma[c], xhat = layernorm_xhat(&row, c), count = (double)channels;
    double size = fabs(g) + sum_size / count + fabs(xhat) * product_size / count;
    return (ref_value){row.rstd * (g - sum / count - xhat * product / count), channels == 1 ? 0 : row.rstd * size};
}
