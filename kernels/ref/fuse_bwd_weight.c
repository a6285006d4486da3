/*
 * The gradient of the logits of fuse: dlogits_j = s_j * (t_j - sum over i of s_i * t_i), where t_i is the sum of
 * x_i * dy_i over the samples that the logit serves, times n where weighted. The share of a single stream is 1
 * whatever its logit is: exactly 0.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/fuse.h"

/* The sum of x * dy of one stream over the samples [begin, end). */
static ref_value sum_stream(const braid_problem *p, const buffers *b, int i, int64_t begin, int64_t end) {
    const real *x = b->plane[FUSE_X][i], *dy = (const real *)b->plane[FUSE_Y][0] + fuse_column(p, i);
    double sum = 0, magnitude = 0;
    for (int64_t sample = begin; sample < end; sample++) {
        for (int64_t c = 0; c < p->in_channels[i]; c++) {
            double product = (double)x[sample * p->in_pitch[i] + c] * (double)dy[sample * fuse_width(p) + c];
            sum += product;
            magnitude += fabs(product);
        }
    }
    return (ref_value){sum, magnitude};
}

ref_value REF(fuse_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    (void)i;
    int gated = p->fusion == BRAID_FUSION_GATED, stream = (int)(index % p->streams);
    int64_t begin = gated ? index / p->streams : 0, end = gated ? begin + 1 : p->batch;
    double scale = (gated ? 1 : p->streams) * fuse_share(p, b, stream, begin);
    ref_value own = sum_stream(p, b, stream, begin, end);
    double sum = own.value, magnitude = own.magnitude;
    for (int j = 0; j < p->streams; j++) {
        ref_value other = sum_stream(p, b, j, begin, end);
        double share = fuse_share(p, b, j, begin);
        sum -= share * other.value;
        magnitude += share * other.magnitude;
    }
    return (ref_value){scale * sum, p->streams == 1 ? 0 : fabs(scale) * magnitude};
}
