/*
 * integrate_bn_bwd_apply on CUDA by the matrix units of sm_90: the kernel of integrate's data gradients, which makes
 * what is added to the streams from the gradient behind their normalisation and their raw output.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/integrate/integrate_gradient_launch.h"

static const integrate_gradient_way way = {
    .narrow = {{NULL, "integrate_bn_bwd_apply_wgmma_128x64_f16", "integrate_bn_bwd_apply_wgmma_128x64_bf16"}, 128, 64},
    .staying = {{NULL, "integrate_bn_bwd_apply_wgmma_64x128_f16", "integrate_bn_bwd_apply_wgmma_64x128_bf16"}, 64, 128},
    .streaming = {{NULL, "integrate_bn_bwd_apply_wgmma_64x128_f16", "integrate_bn_bwd_apply_wgmma_64x128_bf16"},
                  64,
                  128},
    .has_norm = 1,
};

/* The memory of the integrate problem inside. */
static buffers mix_buffers(const braid_problem *p, const buffers *b) {
    buffers of_mix = {0};
    for (int i = 0; i < p->streams; i++) {
        of_mix.plane[INTEGRATE_R][i] = b->plane[INTEGRATE_BN_BWD_APPLY_DX][i];
        of_mix.plane[INTEGRATE_V][i] = b->plane[INTEGRATE_BN_BWD_APPLY_V][i];
        of_mix.plane[INTEGRATE_MASK][i] = b->plane[INTEGRATE_BN_BWD_APPLY_MASK][i];
        of_mix.plane[INTEGRATE_A][i] = b->plane[INTEGRATE_BN_BWD_APPLY_DY][i];
    }
    of_mix.plane[INTEGRATE_Z][0] = b->plane[INTEGRATE_BN_BWD_APPLY_DZ][0];
    of_mix.plane[INTEGRATE_W][0] = b->plane[INTEGRATE_BN_BWD_APPLY_W][0];
    of_mix.plane[INTEGRATE_Y][0] = b->plane[INTEGRATE_BN_BWD_APPLY_DMIX][0];
    of_mix.plane[INTEGRATE_AZ][0] = b->plane[INTEGRATE_BN_BWD_APPLY_AZ][0];
    return of_mix;
}

static const char *supports(const braid_problem *p, const device *d) {
    struct integrate_panels_args all;
    struct integrate_gradient_cut cut;
    integrate_gradient_plan plan;
    const braid_problem mix = integrate_bn_bwd_apply_mix(p);
    if (p->activation != BRAID_ACTIVATION_RELU && p->activation != BRAID_ACTIVATION_NONE)
        return "an activation other than ReLU";
    if (p->streams + (p->integrated_in > 0) > INTEGRATE_BN_BWD_APPLY_SOURCES) return "more than 6 sources";
    const char *reason = integrate_tma_refuses(&mix, d);
    if (reason) return reason;
    integrate_panels_fill(&all, &mix, NULL);
    return integrate_gradient_cut(&cut, &mix, &all, cuda_processors(d), &way, &plan)
               ? NULL
               : "its tiles do not fit into shared memory";
}

static void fill_norm(struct integrate_bn_bwd_apply_norm *to, const buffers *b, int i) {
    to->gamma = b->plane[INTEGRATE_BN_BWD_APPLY_GAMMA][i];
    to->rstd = b->plane[INTEGRATE_BN_BWD_APPLY_RSTD][i];
    to->center = b->plane[INTEGRATE_BN_BWD_APPLY_CENTER][i];
    to->dgamma = b->plane[INTEGRATE_BN_BWD_APPLY_DGAMMA][i];
    to->dbeta = b->plane[INTEGRATE_BN_BWD_APPLY_DBETA][i];
    to->scale = b->plane[INTEGRATE_BN_BWD_APPLY_SCALE][i];
    to->shift = b->plane[INTEGRATE_BN_BWD_APPLY_SHIFT][i];
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    struct integrate_panels_args all;
    struct integrate_bn_bwd_apply_args args;
    integrate_gradient_plan plan;
    const braid_problem mix = integrate_bn_bwd_apply_mix(p);
    const buffers of_mix = mix_buffers(p, b);
    const int pathways = p->integrated_in > 0;
    (void)state;
    memset(&args, 0, sizeof args);
    integrate_panels_fill(&all, &mix, &of_mix);
    if (!integrate_gradient_cut(&args.cut, &mix, &all, cuda_processors(d), &way, &plan))
        return fail(BRAID_ERROR_ARGUMENT, "integrate_bn_bwd_apply: expected tiles that fit into shared memory");
    if (plan.blocks == 0) return BRAID_OK;
    const int rows = plan.function->rows;
    const integrate_gradient_maps maps = {args.x, args.added, args.weights};
    TRY(integrate_tma_map_matrix(&args.y, d, &mix, all.y, all.outputs, all.pixels, all.outputs, rows));
    for (int i = 0; i < all.sources; i++)
        TRY(integrate_gradient_map(&args.cut, &maps, i, d, &mix, &all.source[i], rows));
    args.batch = (int32_t)p->batch;
    for (int i = 0; i < p->streams; i++) {
        const int source = i + pathways;
        fill_norm(&args.norm[source], b, i);
        args.channels[source] = (int32_t)p->in_channels[i];
        TRY(integrate_tma_map_matrix(&args.raw[source], d, &mix, b->plane[INTEGRATE_BN_BWD_APPLY_X][i],
                                     p->in_channels[i], all.pixels, p->in_pitch[i], rows));
    }
    return cuda_launch(d, &(cuda_call){.stem = "integrate_bwd_data_sm90a",
                                       .function = launch_name(&plan.function->names, p->dtype),
                                       .blocks = plan.blocks,
                                       .threads = INTEGRATE_GRADIENT_THREADS,
                                       .shared_bytes = plan.shared,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

/* The products do not hide behind the copies, as they do without normalisations; least of all where their sums are so
 * long that the weights do not stay. */
static double cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double launch_s = 3e-6, bytes_per_s = 3.9e12, flops_per_s = p->integrated_out > 256 ? 3.5e14 : 6e14;
    return launch_s + op_bytes(p) / bytes_per_s + op_of(p)->flops(p) / flops_per_s;
}

const kernel_functions integrate_bn_bwd_apply__cuda_wgmma = {.supports = supports, .cost = cost, .launch = launch};
