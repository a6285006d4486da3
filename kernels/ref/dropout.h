/*
 * The rule of dropout for one element, forwards and backwards.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_DROPOUT_H
#define BRAID_KERNELS_REF_DROPOUT_H

#include <math.h>

#include "kernels/ref/ref.h"

static inline ref_value dropout_at(const braid_problem *p, const buffers *b, int from, int i, int64_t index) {
    const real *x = b->plane[from][i];
    const int64_t *key = b->plane[DROPOUT_KEY][0];
    rng bits = {.seed = (uint64_t)key[0], .stream = dropout_stream(key, i), .index = (uint64_t)index};
    if ((int32_t)(rng_u32(&bits) >> 8) < dropout_limit(p)) return (ref_value){0, 0};
    real value = x[index / p->in_channels[i] * p->in_pitch[i] + index % p->in_channels[i]];
    real kept = value * (real)(1 / (1 - p->rate));
    return (ref_value){kept, fabs(kept)};
}

#endif
