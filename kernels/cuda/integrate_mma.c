/*
 * The launches of the integrate kernels by the instructions of a warp.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/integrate_panels_launch.h"

#define SHARED_BYTES 98304 /* that a block may have on every sm_80 and newer */
#define WEIGHT_BLOCKS 264  /* of a weight gradient: by the problem alone, so that the parts are the same everywhere */
#define PIXEL_BYTES (INTEGRATE_ROWS * PANEL_ROW_BYTES)

double integrate_mma_cost(const braid_problem *p) { return integrate_panels_cost(p, 1.5e14, 2.5e12); }

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

braid_status integrate_mma_launch(const braid_problem *p, device *d, const buffers *b, const integrate_way *way) {
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

braid_status integrate_mma_workspace(const braid_problem *p, size_t *bytes) {
    struct integrate_panels_args args;
    fill_weights(&args, p, NULL);
    return integrate_panels_workspace(&args, bytes);
}

braid_status integrate_mma_launch_weights(const braid_problem *p, device *d, const buffers *b,
                                          const integrate_way *way) {
    struct integrate_panels_args args;
    int is_wide = p->integrated_out > 64;
    size_t panels = is_wide ? 4 : 5; /* of a stage */
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

int integrate_mma_sums(const braid_problem *p, const void *state, const buffers *b, void *to) {
    struct integrate_panels_args args;
    (void)state;
    fill_weights(&args, p, b);
    return integrate_panels_sums(&args, p->dtype, to);
}
