/*
 * The rows of fuse: copied as they are, or multiplied by the factor of their stream and sample.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/elementwise/fuse.h"

/* `count` values times `factor`; a concatenation copies their bits. */
static void move_values(const braid_problem *p, const row_loops *l, char *to, const char *from, int64_t count,
                        double factor) {
    if (p->fusion == BRAID_FUSION_CONCAT)
        memcpy(to, from, (size_t)count * dtype_bytes(p->dtype));
    else
        l->scale(to, from, (float)factor, count, p->dtype);
}

static void move(const braid_problem *p, const row_loops *l, const buffers *b, const row_part *part, int backward) {
    double factor[BRAID_MAX_PLANES] = {0};
    for (int64_t sample = part->begin; sample < part->end; sample++) {
        if (p->fusion == BRAID_FUSION_GATED || sample == part->begin) fuse_factors(p, b, sample, factor);
        for (int i = 0; i < p->streams; i++) {
            fuse_row row = fuse_row_of(p, b, i, sample);
            size_t used = (size_t)p->in_channels[i] * dtype_bytes(p->dtype);
            move_values(p, l, backward ? row.x : row.y, backward ? row.y : row.x, p->in_channels[i], factor[i]);
            if (backward) memset(row.x + used, 0, (size_t)p->in_pitch[i] * dtype_bytes(p->dtype) - used);
        }
    }
}

void fuse_move_forward(const braid_problem *p, const row_loops *l, const buffers *b, const row_part *part) {
    move(p, l, b, part, 0);
}

void fuse_move_backward(const braid_problem *p, const row_loops *l, const buffers *b, const row_part *part) {
    move(p, l, b, part, 1);
}
