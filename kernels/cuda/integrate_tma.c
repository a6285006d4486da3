/*
 * The launches of the integrate kernels of sm_90: tiles, shared memory and tensor maps.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/integrate_panels_launch.h"
#include "kernels/cuda/integrate_tma.h"

#define SHARED_ALONE 232448 /* bytes for the one block of a multiprocessor, and for each of two */
#define SHARED_OF_TWO 115712
#define MOST_STAGES 8
#define WEIGHT_BLOCKS 132 /* of a weight gradient: by the problem alone, so that the parts are the same everywhere */
#define WEIGHT_PANELS 4   /* of channels in a tile */

const char *integrate_tma_refuses(const braid_problem *p, const device *d) {
    const char *reason = integrate_panels_refuses(p, d);
    if (!reason && (p->stride[0] > 8 || p->stride[1] > 8)) reason = "a stride above 8";
    return reason ? reason : cuda_refuses_tensor_maps(d);
}

double integrate_tma_cost(const braid_problem *p) { return integrate_panels_cost(p, 4e14, 3.3e12); }

/* ---- Tensor maps ---------------------------------------------------------------------------------- */

braid_status integrate_tma_map_matrix(cuda_tensor_map *to, device *d, const braid_problem *p, const void *memory,
                                      int64_t columns, int64_t count, int64_t pitch, int rows) {
    return cuda_tensor_map_make(to, d,
                                &(cuda_tensor){.memory = memory,
                                               .dtype = p->dtype,
                                               .rank = 2,
                                               .size = {columns, count},
                                               .pitch = {pitch * 2},
                                               .box = {PANEL_COLUMNS, rows},
                                               .swizzle = 128});
}

braid_status integrate_tma_map_strided(cuda_tensor_map *to, device *d, const braid_problem *p, const void *memory,
                                       int rows) {
    int64_t pixel = p->integrated_in * 2;
    return cuda_tensor_map_make(to, d,
                                &(cuda_tensor){.memory = memory,
                                               .dtype = p->dtype,
                                               .rank = 4,
                                               .size = {p->integrated_in, p->size[1], p->size[0], p->batch},
                                               .pitch = {pixel, pixel * p->size[1], pixel * p->size[1] * p->size[0]},
                                               .box = {PANEL_COLUMNS, rows},
                                               .step = {1, (int)p->stride[1], (int)p->stride[0], 1},
                                               .swizzle = 128,
                                               .is_im2col = 1});
}

/* The sources, `rows` pixels at a time. */
static braid_status map_sources(struct integrate_tma_args *args, device *d, const braid_problem *p, int rows) {
    args->is_strided = p->integrated_in > 0 && (p->stride[0] > 1 || p->stride[1] > 1);
    for (int i = 0; i < args->all.sources; i++) {
        const struct integrate_panels_source *source = &args->all.source[i];
        if (args->is_strided && source->is_pathway)
            TRY(integrate_tma_map_strided(&args->x[i], d, p, source->x, rows));
        else
            TRY(integrate_tma_map_matrix(&args->x[i], d, p, source->x, source->channels, args->all.pixels,
                                         source->pitch, rows));
    }
    return BRAID_OK;
}

/* The weights, `rows` outputs at a time. */
static braid_status map_weights(struct integrate_tma_args *args, device *d, const braid_problem *p, int rows) {
    for (int i = 0; i < args->all.sources; i++) {
        const struct integrate_panels_source *source = &args->all.source[i];
        TRY(integrate_tma_map_matrix(&args->weights[i], d, p, source->weights, source->channels, args->all.outputs,
                                     source->channels, rows));
    }
    return BRAID_OK;
}

static braid_status map_y(struct integrate_tma_args *args, device *d, const braid_problem *p, int rows) {
    return integrate_tma_map_matrix(&args->y, d, p, args->all.y, args->all.outputs, args->all.pixels, args->all.outputs,
                                    rows);
}

/* ---- Shared memory -------------------------------------------------------------------------------- */

/* How many stages fit beside what stays. */
static int32_t count_stages(size_t shared, size_t staying, size_t stage) {
    if (staying + INTEGRATE_TMA_BARRIER_BYTES > shared) return 0;
    size_t stages = (shared - staying - INTEGRATE_TMA_BARRIER_BYTES) / stage;
    return (int32_t)(stages < MOST_STAGES ? stages : MOST_STAGES);
}

/* Where at least `least` stages fit: those of one block of two where that is so (and may be), else of one alone. Says
 * how many blocks run side by side; 0: they do not fit. */
static int choose_stages(struct integrate_tma_args *args, int two, int32_t least, size_t staying, size_t stage) {
    args->stages = two ? count_stages(SHARED_OF_TWO, staying, stage) : 0;
    if (args->stages >= least) return 2;
    args->stages = count_stages(SHARED_ALONE, staying, stage);
    return args->stages >= least;
}

static braid_status launch(const struct integrate_tma_args *args, device *d, const cuda_call *of) {
    cuda_call call = *of;
    call.shared_bytes += INTEGRATE_TMA_BARRIER_BYTES;
    call.args = args;
    call.args_bytes = sizeof *args;
    return cuda_launch(d, &call);
}

/* One block for each place on the device, or for each tile where those are fewer. */
static int64_t count_blocks(const struct integrate_tma_args *args, const device *d, int side_by_side) {
    int64_t blocks = (int64_t)cuda_processors(d) * side_by_side;
    return blocks < args->all.tiles ? blocks : args->all.tiles;
}

/* ---- The passes ----------------------------------------------------------------------------------- */

/* A function of each dtype, for tiles of `rows` pixels by `columns` columns. */
typedef struct tile_function {
    launch_names names;
    int rows, columns;
} tile_function;

/* The function whose tiles are as wide as the device can be kept busy with, and whether the weights stay. */
static const tile_function *choose_forward(struct integrate_tma_args *args, const device *d, int *side_by_side) {
    static const tile_function functions[] = {
        {{NULL, "integrate_fwd_wgmma_f16_64", "integrate_fwd_wgmma_bf16_64"}, 128, 64},
        {{NULL, "integrate_fwd_wgmma_f16_128_staying", "integrate_fwd_wgmma_bf16_128_staying"}, 64, 128},
        {{NULL, "integrate_fwd_wgmma_f16_128", "integrate_fwd_wgmma_bf16_128"}, 128, 128},
        {{NULL, "integrate_fwd_wgmma_f16_256", "integrate_fwd_wgmma_bf16_256"}, 128, 256},
    };
    const struct integrate_panels_args *all = &args->all;
    size_t panel = PANEL_ROW_BYTES, steps = (size_t)all->steps;
    if (all->outputs <= 64) {
        *side_by_side = choose_stages(args, 1, 3, steps * 64 * panel, 128 * panel);
        args->all.stays = *side_by_side > 0;
        if (!args->all.stays) *side_by_side = choose_stages(args, 1, 3, 0, (128 + 64) * panel);
        return &functions[0];
    }
    *side_by_side = all->outputs <= 128 ? choose_stages(args, 0, 3, steps * 128 * panel, 64 * panel) : 0;
    args->all.stays = *side_by_side > 0;
    if (args->all.stays) return &functions[1];
    int64_t tiles = launch_tiles(all->pixels, 128) * launch_tiles(all->outputs, 256);
    const tile_function *f = &functions[all->outputs > 128 && tiles * 4 >= (int64_t)cuda_processors(d) * 3 ? 3 : 2];
    *side_by_side = choose_stages(args, 0, 3, 0, (128 + (size_t)f->columns) * panel);
    return f;
}

braid_status integrate_tma_launch_forward(const braid_problem *p, device *d, const buffers *b) {
    struct integrate_tma_args args;
    struct integrate_panels_args *all = &args.all;
    int side_by_side = 0;
    memset(&args, 0, sizeof args);
    integrate_panels_fill(all, p, b);
    for (int i = 0; i < all->sources; i++) all->steps += integrate_panels_of(all->source[i].channels);
    const tile_function *f = choose_forward(&args, d, &side_by_side);
    all->columns = (int32_t)launch_tiles(all->outputs, f->columns);
    all->tiles = (int32_t)launch_tiles(all->pixels, f->rows) * all->columns;
    if (all->tiles == 0) return BRAID_OK;
    TRY(map_sources(&args, d, p, f->rows));
    TRY(map_weights(&args, d, p, f->columns));
    size_t pixels = (size_t)f->rows * PANEL_ROW_BYTES, weights = (size_t)f->columns * PANEL_ROW_BYTES;
    size_t panels = all->stays ? (size_t)all->steps * weights + (size_t)args.stages * pixels
                               : (size_t)args.stages * (pixels + weights);
    return launch(&args, d,
                  &(cuda_call){.stem = "integrate_fwd_sm90a",
                               .function = launch_name(&f->names, p->dtype),
                               .blocks = count_blocks(&args, d, side_by_side),
                               .threads = INTEGRATE_TMA_THREADS,
                               .shared_bytes = panels});
}

static void fill_weights(struct integrate_panels_args *all, const braid_problem *p, const buffers *b) {
    integrate_panels_fill(all, p, b);
    integrate_panels_cut_weights(all, p->integrated_out > 64 ? 128 : 64, WEIGHT_PANELS, WEIGHT_BLOCKS);
}

braid_status integrate_tma_workspace(const braid_problem *p, size_t *bytes) {
    struct integrate_panels_args all;
    fill_weights(&all, p, NULL);
    return integrate_panels_workspace(&all, bytes);
}

braid_status integrate_tma_launch_weights(const braid_problem *p, device *d, const buffers *b) {
    static const launch_names narrow = {NULL, "integrate_bwd_weight_wgmma_f16_64",
                                        "integrate_bwd_weight_wgmma_bf16_64"},
                              wide = {NULL, "integrate_bwd_weight_wgmma_f16_128",
                                      "integrate_bwd_weight_wgmma_bf16_128"};
    struct integrate_tma_args args;
    int is_wide = p->integrated_out > 64;
    size_t stage = (size_t)(WEIGHT_PANELS + (is_wide ? 2 : 1)) * PANEL_SQUARE_BYTES;
    memset(&args, 0, sizeof args);
    fill_weights(&args.all, p, b);
    args.stages = count_stages(SHARED_ALONE, 0, stage);
    if (args.all.parts > 0) {
        TRY(map_sources(&args, d, p, 64));
        TRY(map_y(&args, d, p, 64));
        TRY(launch(&args, d,
                   &(cuda_call){.stem = "integrate_bwd_weight_sm90a",
                                .function = launch_name(is_wide ? &wide : &narrow, p->dtype),
                                .blocks = (int64_t)args.all.tiles * args.all.parts,
                                .threads = INTEGRATE_TMA_THREADS,
                                .shared_bytes = (size_t)args.stages * stage}));
    }
    return integrate_panels_sum(&args.all, d, p->dtype);
}
