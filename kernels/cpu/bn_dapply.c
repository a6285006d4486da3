/*
 * bn_dapply. Everything that depends on the channel alone is made first, in double:
 * dx = slope * dy + bend * (x - center) + offset, and in evaluation dx = slope * dy.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/points.h"

/* Slope, bend and offset of every channel of stream i; `values` is how many the statistics were made of. */
static void make_coefficients(const points *a, int i, double values, int train) {
    int64_t channels = a->k->channels[i];
    float *slope = (float *)a->b->workspace + a->k->first_value[i], *bend = slope + channels, *offset = bend + channels;
    const float *gamma = a->b->plane[BN_DAPPLY_GAMMA][i], *rstd = a->b->plane[BN_DAPPLY_RSTD][i];
    const float *dgamma = a->b->plane[BN_DAPPLY_DGAMMA][i], *dbeta = a->b->plane[BN_DAPPLY_DBETA][i];
    for (int64_t c = 0; c < channels; c++) {
        double both = (double)gamma[c] * (double)rstd[c];
        slope[c] = (float)both;
        bend[c] = train ? (float)(-both * (double)rstd[c] * (double)dgamma[c] / values) : 0;
        offset[c] = train ? (float)(-both * (double)dbeta[c] / values) : 0;
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    points a = {state, b, LANES_BN_GRADIENT, BN_DAPPLY_X, BN_DAPPLY_DY, BN_DAPPLY_DX, BN_DAPPLY_MASK, {{NULL}}};
    const int train = p->phase == BRAID_PHASE_TRAIN;
    if (!train) {
        a.kind = LANES_SCALE_SHIFT;
        a.x = BN_DAPPLY_DY;
        a.z = POINTS_NONE;
    }
    for (int i = 0; i < p->streams; i++) {
        int64_t values = mask_active(b->plane[BN_DAPPLY_MASK][i], p->batch) * a.k->sample_pixels;
        const float *slope = (float *)b->workspace + a.k->first_value[i];
        make_coefficients(&a, i, values > 0 ? (double)values : 1, train);
        a.coefficient[i][0] = slope;
        a.coefficient[i][1] = slope + (train ? 1 : 2) * a.k->channels[i]; /* bend, or the offset of 0 */
        a.coefficient[i][2] = slope + 2 * a.k->channels[i];
        a.coefficient[i][3] = b->plane[BN_DAPPLY_CENTER][i];
    }
    points_run(&a, d);
    return BRAID_OK;
}

TILE_KERNEL(bn_dapply_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
TILE_KERNEL(bn_dapply__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create, launch, chunks_destroy)
TILE_KERNEL(bn_dapply__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create, launch, chunks_destroy)
TILE_KERNEL(bn_dapply__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
