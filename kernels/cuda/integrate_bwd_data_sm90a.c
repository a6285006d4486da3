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
#define LEAST_RESULTS 4 /* where weights stay: two that are made, and two that come or go */
#define STREAMED_RESULTS 2

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

/* Whether the weights stay beside two stages of dy and some results; divides the rest. */
static int fits_staying(struct integrate_gradient_args *args, const tile_function *f) {
    tile_bytes bytes = bytes_of(f);
    size_t panels = (size_t)args->panels, weights = (size_t)args->columns * panels * bytes.weights;
    size_t stage = panels * bytes.pixels;
    args->stages = 2;
    if (weights + 2 * stage + LEAST_RESULTS * bytes.result > SHARED_BYTES) return 0;
    if (weights + 3 * stage + MOST_RESULTS * bytes.result <= SHARED_BYTES) args->stages = 3;
    size_t results = (SHARED_BYTES - weights - (size_t)args->stages * stage) / bytes.result;
    args->results = (int32_t)(results < MOST_RESULTS ? results / 2 * 2 : MOST_RESULTS);
    args->stays = 1;
    return 1;
}

static void fit_streaming(struct integrate_gradient_args *args, const tile_function *f) {
    tile_bytes bytes = bytes_of(f);
    size_t stages = (SHARED_BYTES - STREAMED_RESULTS * bytes.result) / (bytes.pixels + bytes.weights);
    args->results = STREAMED_RESULTS;
    args->stages = (int32_t)(stages < MOST_STAGES ? stages : MOST_STAGES);
    args->stays = 0;
}

/* The tile, and how shared memory is divided. */
static const tile_function *choose(struct integrate_gradient_args *args, const struct integrate_panels_args *all) {
    static const tile_function
        narrow = {{NULL, "integrate_bwd_data_wgmma_f16_128x64", "integrate_bwd_data_wgmma_bf16_128x64"}, 128, 64},
        staying = {{NULL, "integrate_bwd_data_wgmma_f16_64x128", "integrate_bwd_data_wgmma_bf16_64x128"}, 64, 128},
        streaming = {{NULL, "integrate_bwd_data_wgmma_f16_128x128", "integrate_bwd_data_wgmma_bf16_128x128"}, 128, 128};
    int is_narrow = 1;
    for (int i = 0; i < all->sources; i++) is_narrow = is_narrow && all->source[i].lanes <= 64;
    args->panels = integrate_panels_of(all->outputs);
    cut_columns(args, all, is_narrow ? 64 : 128);
    const tile_function *f = is_narrow ? &narrow : &staying;
    if (fits_staying(args, f)) return f;
    if (!is_narrow) f = &streaming;
    fit_streaming(args, f);
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
    const tile_function *f = choose(&args, &all);
    tile_bytes bytes = bytes_of(f);
    size_t panels = (size_t)args.panels;
    size_t staying = args.stays ? (size_t)args.columns * panels * bytes.weights : 0;
    size_t stage = args.stays ? panels * bytes.pixels : bytes.pixels + bytes.weights;
    args.tiles = (int32_t)launch_tiles(args.pixels, f->rows) * (args.stays ? 1 : args.columns);
    if (args.tiles == 0) return BRAID_OK;
    TRY(integrate_tma_map_matrix(&args.y, d, p, all.y, all.outputs, all.pixels, all.outputs, f->rows));
    for (int i = 0; i < all.sources; i++) TRY(fill_source(&args, d, p, &all.source[i], i, f));
    return cuda_launch(d,
                       &(cuda_call){.stem = "integrate_bwd_data_sm90a",
                                    .function = launch_name(&f->names, p->dtype),
                                    .blocks = args.tiles < cuda_processors(d) ? args.tiles : cuda_processors(d),
                                    .threads = INTEGRATE_GRADIENT_THREADS,
                                    .shared_bytes = INTEGRATE_GRADIENT_BARRIER_BYTES + staying +
                                                    (size_t)args.stages * stage + (size_t)args.results * bytes.result,
                                    .args = &args,
                                    .args_bytes = sizeof args});
}

const kernel_functions integrate_bwd_data__cuda_wgmma = {
    .supports = integrate_tma_refuses, .cost = integrate_tma_cost, .launch = launch};
