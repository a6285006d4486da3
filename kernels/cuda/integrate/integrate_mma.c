/*
 * integrate by the matrix instructions of a warp (sm_80 and newer): forward and data gradients in one launch for all
 * streams and the integrated pathway; weight gradients as sums of parts of the pixels, and weight_sum, which adds them
 * in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/integrate/integrate_panels_launch.h"

#define SHARED_BYTES 98304 /* that a block may have on every sm_80 and newer */
/* Of a weight gradient: by the problem alone, so that the parts are the same everywhere. */
#define WEIGHT_BLOCKS (2 * LAUNCH_PROCESSORS)
#define PIXEL_BYTES (INTEGRATE_ROWS * PANEL_ROW_BYTES)

/* A kernel by the instructions of a warp: its functions for up to 64 and up to 128 columns at a time (in bwd_weight
 * outputs), and the stages of copies that they have in shared memory. */
typedef struct integrate_way {
    const char *stem;
    launch_names narrow, wide;
    int stages_narrow, stages_wide;
} integrate_way;

static const integrate_way of_forward = {
    .stem = "integrate_fwd_mma",
    .narrow = {NULL, "integrate_fwd_mma_64_f16", "integrate_fwd_mma_64_bf16"},
    .stages_narrow = 3,
    .wide = {NULL, "integrate_fwd_mma_128_f16", "integrate_fwd_mma_128_bf16"},
    .stages_wide = 3,
};
static const integrate_way of_data = {
    .stem = "integrate_bwd_data_mma",
    .narrow = {NULL, "integrate_bwd_data_mma_64_f16", "integrate_bwd_data_mma_64_bf16"},
    .stages_narrow = 3,
    .wide = {NULL, "integrate_bwd_data_mma_128_f16", "integrate_bwd_data_mma_128_bf16"},
    .stages_wide = 3,
};
static const integrate_way of_weights = {
    .stem = "integrate_bwd_weight_mma",
    .narrow = {NULL, "integrate_bwd_weight_mma_64_f16", "integrate_bwd_weight_mma_64_bf16"},
    .stages_narrow = 2,
    .wide = {NULL, "integrate_bwd_weight_mma_128_f16", "integrate_bwd_weight_mma_128_bf16"},
    .stages_wide = 3,
};

static double cost(const braid_problem *p, const machine *on) {
    return (void)on, integrate_panels_cost(p, 1.5e14, 2.5e12);
}

/* Cuts into tiles of `columns` columns, and says how much shared memory a block has. */
static size_t cut_forward(struct integrate_panels_args *args, int columns, int stages) {
    size_t weights = (size_t)columns * PANEL_ROW_BYTES;
    for (int i = 0; i < args->sources; i++) args->steps += integrate_panels_of(args->source[i].channels);
    args->columns = (int32_t)launch_tiles(args->outputs, columns);
    args->tiles = (int32_t)launch_tiles(args->pixels, INTEGRATE_ROWS) * args->columns;
    size_t staying = (size_t)args->steps * weights + (size_t)stages * PIXEL_BYTES;
    args->stays = args->columns == 1 && staying <= SHARED_BYTES;
    return args->stays ? staying : (size_t)stages * (PIXEL_BYTES + weights);
}

static size_t cut_backward(struct integrate_panels_args *args, int columns, int stages) {
    size_t weights = (size_t)columns * PANEL_ROW_BYTES, panels = (size_t)integrate_panels_of(args->outputs);
    for (int i = 0; i < args->sources; i++) {
        args->source[i].first_column = args->columns;
        args->columns += (int32_t)launch_tiles(args->source[i].lanes, columns);
    }
    size_t staying = panels * ((size_t)args->columns * weights + (size_t)stages * PIXEL_BYTES);
    args->stays = staying <= SHARED_BYTES;
    args->steps = args->stays ? 1 : (int32_t)panels;
    args->tiles = (int32_t)launch_tiles(args->pixels, INTEGRATE_ROWS) * (args->stays ? 1 : args->columns);
    return args->stays ? staying : (size_t)stages * (PIXEL_BYTES + weights);
}

static braid_status launch_way(const braid_problem *p, device *d, const buffers *b, const integrate_way *way) {
    struct integrate_panels_args args;
    int is_forward = p->pass == BRAID_PASS_FWD, is_wide = 0;
    integrate_panels_fill(&args, p, b);
    for (int i = 0; i < args.sources; i++) is_wide = is_wide || args.source[i].lanes > 64;
    if (is_forward) is_wide = args.outputs > 64;
    size_t shared = (is_forward ? cut_forward : cut_backward)(&args, is_wide ? 128 : 64,
                                                              is_wide ? way->stages_wide : way->stages_narrow);
    int64_t blocks = 2 * (int64_t)cuda_processors(d);
    return cuda_launch(d, &(cuda_call){.stem = way->stem,
                                       .function = launch_name(is_wide ? &way->wide : &way->narrow, p->dtype),
                                       .blocks = blocks < args.tiles ? blocks : args.tiles,
                                       .threads = INTEGRATE_THREADS,
                                       .shared_bytes = shared,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

static void fill_weights(struct integrate_panels_args *args, const braid_problem *p, const buffers *b) {
    int is_wide = p->integrated_out > 64;
    integrate_panels_fill(args, p, b);
    integrate_panels_cut_weights(args, is_wide ? 128 : 64, is_wide ? 2 : 4, WEIGHT_BLOCKS);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct integrate_panels_args args;
    (void)d;
    *state = NULL;
    fill_weights(&args, p, NULL);
    return integrate_panels_workspace(&args, workspace_bytes);
}

static braid_status parts(const braid_problem *p, device *d, void *state, const buffers *b) {
    struct integrate_panels_args args;
    const integrate_way *way = &of_weights;
    int is_wide = p->integrated_out > 64;
    size_t panels = is_wide ? 4 : 5; /* of a stage */
    (void)state;
    fill_weights(&args, p, b);
    return cuda_launch(d, &(cuda_call){.stem = way->stem,
                                       .function = launch_name(is_wide ? &way->wide : &way->narrow, p->dtype),
                                       .blocks = (int64_t)args.tiles * args.parts,
                                       .threads = INTEGRATE_THREADS,
                                       .shared_bytes = (size_t)(is_wide ? way->stages_wide : way->stages_narrow) *
                                                       panels * PANEL_SQUARE_BYTES,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

static int sums(const braid_problem *p, const void *state, const buffers *b, void *to) {
    struct integrate_panels_args args;
    (void)state;
    fill_weights(&args, p, b);
    return integrate_panels_sums(&args, p->dtype, to);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)state;
    return launch_way(p, d, b, p->pass == BRAID_PASS_FWD ? &of_forward : &of_data);
}

const kernel_functions integrate_fwd__cuda_mma = {.supports = integrate_panels_refuses, .cost = cost, .launch = launch};
const kernel_functions integrate_bwd_data__cuda_mma = {
    .supports = integrate_panels_refuses, .cost = cost, .launch = launch};
const kernel_functions integrate_bwd_weight__cuda_mma = {.supports = integrate_panels_refuses,
                                                         .cost = cost,
                                                         .create = create,
                                                         .destroy = launch_destroy,
                                                         .parts = parts,
                                                         .adder = &weight_sum_adder,
                                                         .sums = sums};
