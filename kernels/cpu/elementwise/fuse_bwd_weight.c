/*
 * The gradient of the logits of fuse, for f32, bf16 and f16: the products of x and dy of every stream, in double. Gated
 * samples have logits of their own; weighted streams add up the parts in their order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/elementwise/fuse.h"
#include "kernels/cpu/isa/tile_kernels.h"

/* dlogits_j = share_j * (sum_j - the mean of all sums by their shares), times `scale`. */
static void finish(const braid_problem *p, const double *share, const double *sum, double scale, float *dlogits) {
    double mean = 0;
    for (int i = 0; i < p->streams; i++) mean += share[i] * sum[i];
    for (int i = 0; i < p->streams; i++) dlogits[i] = (float)(scale * share[i] * (sum[i] - mean));
}

static double row_product(const braid_problem *p, const row_loops *l, const buffers *b, int i, int64_t sample) {
    fuse_row row = fuse_row_of(p, b, i, sample);
    return l->dot(row.x, row.y, p->in_channels[i], p->dtype);
}

static void gated_part(const braid_problem *p, const row_loops *l, const buffers *b, const row_part *part) {
    double share[BRAID_MAX_PLANES], sum[BRAID_MAX_PLANES];
    for (int64_t sample = part->begin; sample < part->end; sample++) {
        fuse_shares(p, b, sample, share);
        for (int i = 0; i < p->streams; i++) sum[i] = row_product(p, l, b, i, sample);
        finish(p, share, sum, 1, (float *)b->plane[FUSE_DLOGITS][0] + sample * p->streams);
    }
}

static void weighted_part(const braid_problem *p, const row_loops *l, const buffers *b, const row_part *part) {
    double *sum = (double *)b->workspace + part->index * p->streams;
    for (int i = 0; i < p->streams; i++) {
        sum[i] = 0;
        for (int64_t sample = part->begin; sample < part->end; sample++) sum[i] += row_product(p, l, b, i, sample);
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const row_parts *k = state;
    double share[BRAID_MAX_PLANES], sum[BRAID_MAX_PLANES] = {0};
    (void)d;
    row_parts_run(p, state, b, p->fusion == BRAID_FUSION_GATED ? gated_part : weighted_part);
    if (p->fusion == BRAID_FUSION_GATED) return BRAID_OK;
    for (int64_t part = 0; part < k->all_parts; part++) {
        for (int i = 0; i < p->streams; i++) sum[i] += ((const double *)b->workspace)[part * p->streams + i];
    }
    fuse_shares(p, b, 0, share);
    finish(p, share, sum, p->streams, b->plane[FUSE_DLOGITS][0]);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, fuse_bwd_weight, cpu_direct, rows, supports_all, row_parts_cost, row_parts_create_joined, launch,
             row_parts_destroy)
