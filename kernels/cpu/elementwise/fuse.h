/*
 * What the kernels of fuse share: the shares of the streams, and one row of one stream beside its place in the fused
 * vector. A part is some samples of all streams, so that the shares of a sample are made once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ELEMENTWISE_FUSE_H
#define BRAID_KERNELS_CPU_ELEMENTWISE_FUSE_H

#include <math.h>

#include "core/dtype.h"
#include "kernels/cpu/tile/row_parts.h"

/* Softmax of the logits that serve a sample, in double. */
static inline void fuse_shares(const braid_problem *p, const buffers *b, int64_t sample, double *share) {
    const float *logits = b->plane[FUSE_LOGITS][0];
    double most, sum = 0;
    if (p->fusion == BRAID_FUSION_GATED) logits += sample * p->streams;
    most = (double)logits[0];
    for (int i = 1; i < p->streams; i++) most = fmax(most, (double)logits[i]);
    for (int i = 0; i < p->streams; i++) sum += share[i] = exp((double)logits[i] - most);
    for (int i = 0; i < p->streams; i++) share[i] /= sum;
}

/* What the values of every stream are multiplied by in a sample. */
static inline void fuse_factors(const braid_problem *p, const buffers *b, int64_t sample, double *factor) {
    if (p->fusion == BRAID_FUSION_CONCAT) return;
    fuse_shares(p, b, sample, factor);
    for (int i = 0; i < p->streams && p->fusion == BRAID_FUSION_WEIGHTED; i++) factor[i] *= p->streams;
}

/* Row `sample` of stream i, and its columns of the fused row. */
typedef struct fuse_row {
    char *x, *y;
} fuse_row;

static inline fuse_row fuse_row_of(const braid_problem *p, const buffers *b, int i, int64_t sample) {
    int64_t column = sample * fuse_width(p), bytes = (int64_t)dtype_bytes(p->dtype);
    for (int j = 0; j < i; j++) column += p->in_channels[j];
    return (fuse_row){(char *)b->plane[FUSE_X][i] + sample * p->in_pitch[i] * bytes,
                      (char *)b->plane[FUSE_Y][0] + column * bytes};
}

/* The rows of a part, times the factor of their stream: from x to y, or backward. */
void fuse_move_forward(const braid_problem *p, const row_loops *l, const buffers *b, const row_part *part);
void fuse_move_backward(const braid_problem *p, const row_loops *l, const buffers *b, const row_part *part);

#endif
