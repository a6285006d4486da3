/*
 * integrate data gradients on CUDA by the matrix units of sm_90: one launch for all streams and the integrated pathway.
 * The tiles, what stays in shared memory, and the rest of it for copies that are under way.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/integrate_gradient.h"
#include "kernels/cuda/integrate_panels_launch.h"

#define SHARED_BYTES (232448 - INTEGRATE_GRADIENT_BARRIER_BYTES) /* of a block, for panels */
#define MOST_STAGES 8
#define MOST_RESULTS 8
#define ENOUGH_RESULTS 4 /* of whole stages: two that are made, and two that come or go */
#define PANEL_RESULTS 2  /* else */
#define LEAST_STAGES 4

typedef struct tile_function {
    launch_names names;
    int rows, columns;
} tile_function;

/* The bytes of a tile's parts. */
typedef struct tile_bytes {
    size_t pixels, weights, result;
} tile_bytes;

static tile_bytes bytes_of(const tile_function *f) {
    return (tile_bytes){.pixels = (size_t)f->rows * PANEL_ROW_BYTES,
                        .weights = (size_t)f->columns * PANEL_ROW_BYTES,
                        .result = (size_t)f->rows * (size_t)f->columns * 2};
}

static void cut_columns(struct integrate_gradient_args *args, const struct integrate_panels_args *all, int columns) {
    args->columns = 0;
    for (int i = 0; i < all->sources; i++) {
        args->source[i].first_column = args->columns;
        args->columns += (int32_t)launch_tiles(all->source[i].lanes, columns);
    }
}

static void split(struct integrate_gradient_args *args, int32_t splits) {
    args->splits = splits;
    args->block_columns = (int32_t)launch_tiles(args->columns, splits);
}

static int32_t at_most(size_t count, int32_t most) { return count < (size_t)most ? (int32_t)count : most; }

/* Whether the weights of a block's columns stay beside whole stages and enough results; divides the rest. */
static int fits_whole(struct integrate_gradient_args *args, const tile_function *f, int32_t splits) {
    tile_bytes bytes = bytes_of(f);
    size_t panels = (size_t)args->panels, stage = panels * bytes.pixels;
    split(args, splits);
    size_t weights = (size_t)args->block_columns * panels * bytes.weights;
    if (weights + 2 * stage + ENOUGH_RESULTS * bytes.result > SHARED_BYTES) return 0;
    args->stages = weights + 3 * stage + ENOUGH_RESULTS * bytes.result <= SHARED_BYTES ? 3 : 2;
    args->results =
        at_most((SHARED_BYTES - weights - (size_t)args->stages * stage) / bytes.result / 2 * 2, MOST_RESULTS);
    args->stays = args->whole = 1;
    return 1;
}

/* Stages of one panel: a block has one column, whose weights stay where they can. */
static int fits_panels(struct integrate_gradient_args *args, const tile_function *f, int stays) {
    tile_bytes bytes = bytes_of(f);
    size_t weights = stays ? (size_t)args->panels * bytes.weights : 0;
    size_t stage = bytes.pixels + (stays ? 0 : bytes.weights), results = PANEL_RESULTS * bytes.result;
    split(args, args->columns);
    if (weights + LEAST_STAGES * stage + results > SHARED_BYTES) return 0;
    args->stages = at_most((SHARED_BYTES - weights - results) / stage, MOST_STAGES);
    args->results = PANEL_RESULTS;
    args->stays = stays;
    return 1;
}

/* The tile, and how shared memory is divided. */
static const tile_function *choose(struct integrate_gradient_args *args, const struct integrate_panels_args *all,
                                   int processors) {
    static const tile_function
        narrow = {{NULL, "integrate_bwd_data_wgmma_f16_128x64", "integrate_bwd_data_wgmma_bf16_128x64"}, 128, 64},
        staying = {{NULL, "integrate_bwd_data_wgmma_f16_64x128", "integrate_bwd_data_wgmma_bf16_64x128"}, 64, 128},
        streaming = {{NULL, "integrate_bwd_data_wgmma_f16_128x128", "integrate_bwd_data_wgmma_bf16_128x128"}, 128, 128};
    int is_narrow = 1;
    for (int i = 0; i < all->sources; i++) is_narrow = is_narrow && all->source[i].lanes <= 64;
    args->panels = integrate_panels_of(all->outputs);
    cut_columns(args, all, is_narrow ? 64 : 128);
    const tile_function *f = is_narrow ? &narrow : &staying;
    if (fits_whole(args, f, 1)) return f;
    /* A strided pathway has more to write than the streams, so its columns go round among the blocks. */
    if (!args->is_strided && args->columns > 1 && fits_whole(args, f, 2)) return f;
    if (!args->is_strided && args->columns <= processors && fits_panels(args, f, 1)) return f;
    if (!is_narrow) f = &streaming;
    (void)fits_panels(args, f, 0);
    return f;
}

static braid_status fill_source(struct integrate_gradient_args *args, device *d, const braid_problem *p,
                                const struct integrate_panels_source *from, int i, const tile_function *f) {
    args->source[i].mask = from->mask;
    args->source[i].adds = from->add != NULL;
    TRY(integrate_tma_map_matrix(&args->weights[i], d, p, from->weights, from->channels, p->integrated_out,
                                 from->channels, PANEL_COLUMNS));
    if (from->is_pathway && args->is_strided) {
        args->z = from->x;
        args->added_z = from->add;
        return from->add ? integrate_tma_map_strided(&args->added[i], d, p, from->add, f->rows) : BRAID_OK;
    }
    TRY(integrate_tma_map_matrix(&args->x[i], d, p, from->x, from->lanes, args->pixels, from->pitch, f->rows));
    if (!from->add) return BRAID_OK;
    return integrate_tma_map_matrix(&args->added[i], d, p, from->add, from->channels, args->pixels, from->pitch,
                                    f->rows);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    struct integrate_panels_args all;
    struct integrate_gradient_args args;
    (void)state;
    memset(&args, 0, sizeof args);
    integrate_panels_fill(&all, p, b);
    args.sources = all.sources;
    args.pixels = all.pixels;
    args.is_strided = p->integrated_in > 0 && (p->stride[0] > 1 || p->stride[1] > 1);
    args.z_channels = (int32_t)p->integrated_in;
    for (int axis = 0; axis < 2; axis++) {
        args.out_size[axis] = all.out_size[axis];
        args.size[axis] = all.size[axis];
        args.stride[axis] = all.stride[axis];
    }
    const tile_function *f = choose(&args, &all, cuda_processors(d));
    tile_bytes bytes = bytes_of(f);
    size_t panels = (size_t)args.panels;
    size_t staying = args.stays ? (size_t)args.block_columns * panels * bytes.weights : 0;
    size_t stage = (args.whole ? panels : 1) * bytes.pixels + (args.stays ? 0 : bytes.weights);
    int64_t blocks = args.stays ? cuda_processors(d) / args.splits * args.splits : cuda_processors(d);
    args.tiles = (int32_t)launch_tiles(args.pixels, f->rows) * args.splits;
    if (args.tiles == 0) return BRAID_OK;
    TRY(integrate_tma_map_matrix(&args.y, d, p, all.y, all.outputs, all.pixels, all.outputs, f->rows));
    for (int i = 0; i < all.sources; i++) TRY(fill_source(&args, d, p, &all.source[i], i, f));
    return cuda_launch(d,
                       &(cuda_call){.stem = "integrate_bwd_data_sm90a",
                                    .function = launch_name(&f->names, p->dtype),
                                    .blocks = blocks < args.tiles ? blocks : args.tiles,
                                    .threads = INTEGRATE_GRADIENT_THREADS,
                                    .shared_bytes = INTEGRATE_GRADIENT_BARRIER_BYTES + staying +
                                                    (size_t)args.stages * stage + (size_t)args.results * bytes.result,
                                    .args = &args,
                                    .args_bytes = sizeof args});
}

const kernel_functions integrate_bwd_data__cuda_wgmma = {
    .supports = integrate_tma_refuses, .cost = integrate_tma_cost, .launch = launch};
