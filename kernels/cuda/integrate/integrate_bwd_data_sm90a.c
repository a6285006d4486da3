/*
 * integrate data gradients on CUDA by the matrix units of sm_90: one launch for all streams and the integrated pathway.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/integrate/integrate_gradient_launch.h"

static const integrate_gradient_way way = {
    .narrow = {{NULL, "integrate_bwd_data_wgmma_128x64_f16", "integrate_bwd_data_wgmma_128x64_bf16"}, 128, 64},
    .staying = {{NULL, "integrate_bwd_data_wgmma_64x128_f16", "integrate_bwd_data_wgmma_64x128_bf16"}, 64, 128},
    .streaming = {{NULL, "integrate_bwd_data_wgmma_128x128_f16", "integrate_bwd_data_wgmma_128x128_bf16"}, 128, 128},
};

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    struct integrate_panels_args all;
    struct integrate_gradient_args args;
    integrate_gradient_plan plan;
    (void)state;
    memset(&args, 0, sizeof args);
    integrate_panels_fill(&all, p, b);
    if (!integrate_gradient_cut(&args.cut, p, &all, cuda_processors(d), &way, &plan))
        return fail(BRAID_ERROR_ARGUMENT, "integrate_bwd_data: expected tiles that fit into shared memory");
    if (plan.blocks == 0) return BRAID_OK;
    const int rows = plan.function->rows;
    const integrate_gradient_maps maps = {args.x, args.added, args.weights};
    TRY(integrate_tma_map_matrix(&args.y, d, p, all.y, all.outputs, all.pixels, all.outputs, rows));
    for (int i = 0; i < all.sources; i++) TRY(integrate_gradient_map(&args.cut, &maps, i, d, p, &all.source[i], rows));
    return cuda_launch(d, &(cuda_call){.stem = "integrate_bwd_data_sm90a",
                                       .function = launch_name(&plan.function->names, p->dtype),
                                       .blocks = plan.blocks,
                                       .threads = INTEGRATE_GRADIENT_THREADS,
                                       .shared_bytes = plan.shared,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

const kernel_functions integrate_bwd_data__cuda_wgmma = {
    .supports = integrate_tma_refuses, .cost = integrate_tma_cost, .launch = launch};
