/*
 * integrate_bn_stats on CUDA by the matrix units of sm_90: one launch makes y, takes the statistics of all planes, and
 * does what bn_finalize does.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/integrate/integrate_panels_launch.h"
#include "kernels/cuda/integrate/integrate_bn_stats.h"

/* The integrate problem inside. */
static braid_problem mix_of(const braid_problem *p) {
    op_chain chain = {0};
    op_of(p)->chain(p, &chain);
    return chain.steps[0].problem;
}

static int64_t channels_of(const braid_problem *p, int i) {
    return i < p->streams ? p->in_channels[i] : p->integrated_out;
}

/* Where plane i starts in a part; of the plane behind the last: how long a part is. */
static int64_t first_channel(const braid_problem *p, int i) {
    int64_t channels = 0;
    for (int k = 0; k < i; k++) channels += channels_of(p, k);
    return channels;
}

static const char *supports(const braid_problem *p, const device *d) {
    const braid_problem mix = mix_of(p);
    const char *reason = integrate_tma_refuses(&mix, d);
    if (reason) return reason;
    if (p->integrated_out > 128) return "more than 128 outputs, where its chain is faster";
    return integrate_tma_parts(&mix) < 0 ? "not enough shared memory for the sums of so many channels" : NULL;
}

/* Sums take about 20 us on an H200, whatever the problem. launch_cost expects bn_stats_finalize to be slower than it
 * is; with this the cheaper of the two is the faster one. */
static double cost(const braid_problem *p, const machine *on) {
    const braid_problem mix = mix_of(p);
    const double sums_s = 28e-6;
    return integrate_tma_cost(&mix, on) + sums_s;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    const braid_problem mix = mix_of(p);
    const int parts = integrate_tma_parts(&mix);
    size_t moments;
    (void)d;
    *state = NULL;
    TRY(size_array((size_t)first_channel(p, p->streams + 1), parts > 1 ? (size_t)parts : 1, "partial statistics",
                   &moments));
    return size_array(moments, sizeof(struct bn_moments), "partial statistics", workspace_bytes);
}

static void fill_norm(struct bn_finalize_args *args, const braid_problem *p, const buffers *b) {
    args->batches = b->plane[INTEGRATE_BN_STATS_BATCHES][0];
    args->batch = p->batch;
    args->sample_pixels = integrate_out_size(p, 0) * integrate_out_size(p, 1);
    args->planes = p->streams + 1;
    args->train = 1;
    args->cumulative = p->average == BRAID_AVERAGE_CUMULATIVE;
    args->eps = (float)p->eps;
    args->momentum = (float)p->momentum;
    for (int i = 0; i < args->planes; i++) {
        args->plane[i] = (struct bn_finalize_plane){
            .gamma = b->plane[INTEGRATE_BN_STATS_GAMMA][i],
            .beta = b->plane[INTEGRATE_BN_STATS_BETA][i],
            .mask = i < p->streams ? b->plane[INTEGRATE_MASK][i] : NULL,
            .running_mean = b->plane[INTEGRATE_BN_STATS_RUNNING_MEAN][i],
            .running_var = b->plane[INTEGRATE_BN_STATS_RUNNING_VAR][i],
            .scale = b->plane[INTEGRATE_BN_STATS_SCALE][i],
            .shift = b->plane[INTEGRATE_BN_STATS_SHIFT][i],
            .center = b->plane[INTEGRATE_BN_STATS_CENTER][i],
            .rstd = b->plane[INTEGRATE_BN_STATS_RSTD][i],
            .channels = channels_of(p, i),
        };
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const braid_problem mix = mix_of(p);
    struct integrate_bn_stats_args args;
    buffers mixed = {0};
    (void)state;
    memset(&args, 0, sizeof args);
    memcpy(mixed.plane, b->plane, (INTEGRATE_Y + 1) * sizeof b->plane[0]);
    fill_norm(&args.norm, p, b);
    args.parts.moments = b->workspace;
    args.parts.pitch = (int32_t)first_channel(p, p->streams + 1);
    return integrate_tma_launch_adding(&mix, d, &mixed, &args);
}

const kernel_functions integrate_bn_stats__cuda_wgmma = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = launch_destroy};
