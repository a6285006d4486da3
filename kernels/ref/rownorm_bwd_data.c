/*
 * The gradient of rownorm: dx = (dy - y <y, dy>) / |x|, and dy / eps where |x| < eps. A single channel above eps has
 * y = 1 or -1 whatever it is: exactly 0.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/rownorm.h"

ref_value REF(rownorm_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    int64_t channels = p->in_channels[i], c = index % channels, first = index / channels * p->in_pitch[i];
    const real *x = (const real *)b->plane[ROWNORM_X][i] + first, *dy = (const real *)b->plane[ROWNORM_Y][i] + first;
    double norm = rownorm_norm(x, channels), dot = 0, dot_size = 0;
    if (norm < p->eps) return (ref_value){(double)dy[c] / p->eps, fabs((double)dy[c] / p->eps)};
    for (int64_t j = 0; j < channels; j++) {
        double term = (double)x[j] / norm * (double)dy[j];
        dot += term;
        dot_size += fabs(term);
    }
    double y = (double)x[c] / norm, size = fabs((double)dy[c]) + fabs(y) * dot_size;
    return (ref_value){((double)dy[c] - y * dot) / norm, channels == 1 ? 0 : size / norm};
}
