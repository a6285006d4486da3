/*
 * The share of a stream, and where its features lie in the fused vector, for the references of fuse.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_FUSE_H
#define BRAID_KERNELS_REF_FUSE_H

#include <math.h>

#include "kernels/ref/ref.h"

/* Softmax of the logits, of those of one sample where gated; in double, for they are few. One infinite logit makes all
 * shares NaN. */
static inline double fuse_share(const braid_problem *p, const buffers *b, int i, int64_t sample) {
    const real *logits = b->plane[FUSE_LOGITS][0];
    double most, sum = 0;
    if (p->fusion == BRAID_FUSION_GATED) logits += sample * p->streams;
    most = (double)logits[0];
    for (int j = 1; j < p->streams; j++) most = fmax(most, (double)logits[j]);
    for (int j = 0; j < p->streams; j++) sum += exp((double)logits[j] - most);
    return exp((double)logits[i] - most) / sum;
}

/* What the features of stream i are multiplied by. */
static inline double fuse_factor(const braid_problem *p, const buffers *b, int i, int64_t sample) {
    switch (p->fusion) {
        case BRAID_FUSION_WEIGHTED: return p->streams * fuse_share(p, b, i, sample);
        case BRAID_FUSION_GATED: return fuse_share(p, b, i, sample);
        default: return 1;
    }
}

/* The first column of stream i in y. */
static inline int64_t fuse_column(const braid_problem *p, int i) {
    int64_t column = 0;
    for (int j = 0; j < i; j++) column += p->in_channels[j];
    return column;
}

/* A feature times its factor; a copy is exact. */
static inline ref_value fuse_value(const braid_problem *p, const buffers *b, int i, int64_t sample, real feature) {
    double value = fuse_factor(p, b, i, sample) * (double)feature;
    return (ref_value){value, p->fusion == BRAID_FUSION_CONCAT ? 0 : fabs(value)};
}

#endif
