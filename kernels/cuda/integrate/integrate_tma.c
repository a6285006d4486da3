/*
 * The launches of the integrate kernels of sm_90: tiles, shared memory and tensor maps.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/integrate/integrate_panels_launch.h"
#include "kernels/cuda/integrate/integrate_bn_stats.h"
#include "kernels/cuda/integrate/moments_join.h"
#include "kernels/cuda/integrate/panel_sums.h"

#define SHARED_ALONE 232448 /* bytes for the one block of a multiprocessor, and for each of two */
#define SHARED_OF_TWO 115712
#define MOST_STAGES 8
#define WEIGHT_PANELS 4 /* of channels in a tile */
#define TREE_PARTS 4    /* that the blocks add by a tree; more are added faster by a second launch */
#define MOST_COUNTERS (LAUNCH_PROCESSORS * 2) /* of two groups that multiply */

const char *integrate_tma_refuses(const braid_problem *p, const device *d) {
    const char *reason = integrate_panels_refuses(p, d);
    if (!reason && (p->stride[0] > 8 || p->stride[1] > 8)) reason = "a stride above 8";
    return reason ? reason : cuda_refuses_tensor_maps(d);
}

double integrate_tma_cost(const braid_problem *p, const machine *on) {
    return (void)on, integrate_panels_cost(p, 4e14, 3.3e12);
}

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
    call.args = args; /* and what may lie behind them */
    if (!call.args_bytes) call.args_bytes = sizeof *args;
    return cuda_launch(d, &call);
}

/* ---- Forward -------------------------------------------------------------------------------------- */

/* A function of each dtype, for tiles of `rows` pixels by `columns` columns; the same with statistics, where there is
 * one. */
typedef struct tile_function {
    launch_names names, adding;
    int rows, columns;
} tile_function;

static const tile_function functions[] = {
    {{NULL, "integrate_fwd_wgmma_64_f16", "integrate_fwd_wgmma_64_bf16"},
     {NULL, "integrate_bn_stats_wgmma_64_f16", "integrate_bn_stats_wgmma_64_bf16"},
     128,
     64},
    {{NULL, "integrate_fwd_wgmma_128_staying_f16", "integrate_fwd_wgmma_128_staying_bf16"},
     {NULL, "integrate_bn_stats_wgmma_128_staying_f16", "integrate_bn_stats_wgmma_128_staying_bf16"},
     64,
     128},
    {{NULL, "integrate_fwd_wgmma_128_f16", "integrate_fwd_wgmma_128_bf16"}, {NULL, NULL, NULL}, 128, 128},
    {{NULL, "integrate_fwd_wgmma_256_f16", "integrate_fwd_wgmma_256_bf16"}, {NULL, NULL, NULL}, 128, 256},
};

/* How the forward pass is divided. */
typedef struct forward_plan {
    const tile_function *f;
    int adds;                    /* 1: with statistics */
    int processors;              /* with statistics by the problem alone, so that the parts are the same everywhere */
    int side_by_side;            /* blocks of a multiprocessor; 0: it does not fit */
    size_t squares_bytes, bytes; /* of shared memory: of staged results, of those and the sums */
} forward_plan;

/* Finds what statistics need beside tiles of a function. */
static void size_sums(struct integrate_tma_args *args, forward_plan *plan) {
    const struct integrate_panels_args *all = &args->all;
    plan->squares_bytes = plan->bytes = 0;
    if (!plan->adds) return;
    args->stream_channels = args->stream_panels = 0;
    for (int i = 0; i < all->sources; i++) {
        if (all->source[i].is_pathway) continue;
        args->stream_panels += integrate_panels_of(all->source[i].channels);
        args->stream_channels += all->source[i].channels;
    }
    plan->bytes = plan->squares_bytes = 2 * PANEL_SQUARE_BYTES;
    if (launch_tiles(all->pixels, plan->f->rows) > plan->processors) /* a block has several tiles */
        plan->bytes += (size_t)(args->stream_panels + plan->f->columns / PANEL_COLUMNS) * (size_t)PANEL_SUMS_BYTES;
}

/* Tries a function, with weights that stay or come with the pixels. True where it fits. */
static int try_forward(struct integrate_tma_args *args, forward_plan *plan, const tile_function *f, int stays) {
    const size_t panel = PANEL_ROW_BYTES, rows = (size_t)f->rows, columns = (size_t)f->columns;
    plan->f = f;
    args->all.stays = stays;
    size_sums(args, plan);
    plan->side_by_side =
        choose_stages(args, f->columns == 64, 3, plan->bytes + (stays ? (size_t)args->all.steps * columns * panel : 0),
                      (rows + (stays ? 0 : columns)) * panel);
    return plan->side_by_side > 0;
}

/* The function whose tiles are as wide as the device can be kept busy with, and whether the weights stay. */
static void choose_forward(struct integrate_tma_args *args, forward_plan *plan) {
    const struct integrate_panels_args *all = &args->all;
    int64_t tiles = launch_tiles(all->pixels, 128) * launch_tiles(all->outputs, 256);
    if (all->outputs <= 64) {
        if (!try_forward(args, plan, &functions[0], 1)) try_forward(args, plan, &functions[0], 0);
        return;
    }
    if (all->outputs <= 128 && try_forward(args, plan, &functions[1], 1)) return;
    if (plan->adds) {
        plan->f = &functions[1];
        plan->side_by_side = 0;
        return;
    }
    if (all->outputs > 128 && tiles * 4 >= (int64_t)plan->processors * 3 && try_forward(args, plan, &functions[3], 0))
        return;
    try_forward(args, plan, &functions[2], 0);
}

/* The tiles, and one block for each place on the device, or for each tile where those are fewer. With statistics a
 * block keeps to one column of tiles. */
static int64_t plan_forward(struct integrate_tma_args *args, forward_plan *plan) {
    struct integrate_panels_args *all = &args->all;
    for (int i = 0; i < all->sources; i++) all->steps += integrate_panels_of(all->source[i].channels);
    choose_forward(args, plan);
    all->columns = (int32_t)launch_tiles(all->outputs, plan->f->columns);
    all->tiles = (int32_t)launch_tiles(all->pixels, plan->f->rows) * all->columns;
    int64_t blocks = (int64_t)plan->processors * plan->side_by_side;
    if (plan->adds) blocks = blocks < all->columns ? all->columns : blocks / all->columns * all->columns;
    return blocks < all->tiles ? blocks : all->tiles;
}

static braid_status launch_forward(struct integrate_tma_args *args, const forward_plan *plan, const braid_problem *p,
                                   device *d, int64_t blocks) {
    const struct integrate_panels_args *all = &args->all;
    const tile_function *f = plan->f;
    if (all->tiles > 0) {
        TRY(map_sources(args, d, p, f->rows));
        TRY(map_weights(args, d, p, f->columns));
    }
    size_t pixels = (size_t)f->rows * PANEL_ROW_BYTES, weights = (size_t)f->columns * PANEL_ROW_BYTES;
    size_t panels = all->stays ? (size_t)all->steps * weights + (size_t)args->stages * pixels
                               : (size_t)args->stages * (pixels + weights);
    args->squares_at = (int32_t)(INTEGRATE_TMA_BARRIER_BYTES + panels);
    args->sums_at = args->squares_at + (int32_t)plan->squares_bytes;
    return launch(args, d,
                  &(cuda_call){.stem = plan->adds ? "integrate_bn_stats_sm90a" : "integrate_fwd_sm90a",
                               .function = launch_name(plan->adds ? &f->adding : &f->names, p->dtype),
                               .blocks = blocks,
                               .threads = plan->adds ? INTEGRATE_BN_STATS_THREADS : INTEGRATE_TMA_THREADS,
                               .shared_bytes = panels + plan->bytes,
                               .args_bytes = plan->adds ? sizeof(struct integrate_bn_stats_args) : sizeof *args});
}

braid_status integrate_tma_launch_forward(const braid_problem *p, device *d, const buffers *b) {
    struct integrate_tma_args args;
    forward_plan plan = {.processors = cuda_processors(d)};
    memset(&args, 0, sizeof args);
    integrate_panels_fill(&args.all, p, b);
    int64_t blocks = plan_forward(&args, &plan);
    return launch_forward(&args, &plan, p, d, blocks);
}

int integrate_tma_parts(const braid_problem *p) {
    struct integrate_tma_args args;
    forward_plan plan = {.adds = 1, .processors = LAUNCH_PROCESSORS};
    memset(&args, 0, sizeof args);
    integrate_panels_fill(&args.all, p, NULL);
    int64_t blocks = plan_forward(&args, &plan);
    return plan.side_by_side ? (int)(blocks / args.all.columns) : -1;
}

/* How the statistics are divided into groups of parts. */
static void plan_statistics(struct moments_parts *parts, const struct integrate_panels_args *all, int64_t blocks) {
    parts->parts = (int32_t)(blocks / all->columns);
    parts->columns = all->columns;
    parts->group = 1;
    while (parts->group * parts->group < parts->parts) parts->group++;
}

braid_status integrate_tma_launch_adding(const braid_problem *p, device *d, const buffers *b,
                                         struct integrate_bn_stats_args *args) {
    struct integrate_tma_args *const mix = &args->mix;
    forward_plan plan = {.adds = 1, .processors = LAUNCH_PROCESSORS};
    integrate_panels_fill(&mix->all, p, b);
    int64_t blocks = plan_forward(mix, &plan);
    plan_statistics(&args->parts, &mix->all, blocks);
    args->parts.counters = cuda_counters(d, MOMENTS_COUNTERS(args->parts));
    if (!args->parts.counters) return fail(BRAID_ERROR_ARGUMENT, "integrate_bn_stats: %s", launch_too_large);
    if (blocks > 0) return launch_forward(mix, &plan, p, d, blocks);
    mix->all.stays = 0; /* nothing is copied, and the blocks write what follows from no value at all */
    return launch_forward(mix, &plan, p, d, mix->all.columns);
}

/* ---- bwd_weight ----------------------------------------------------------------------------------- */

/* Outputs of a tile. */
static int weight_rows(const braid_problem *p) { return p->integrated_out > 64 ? 128 : 64; }

static void fill_weights(struct integrate_panels_args *all, const braid_problem *p, const buffers *b) {
    integrate_panels_fill(all, p, b);
    integrate_panels_cut_weights(all, weight_rows(p), WEIGHT_PANELS, LAUNCH_PROCESSORS);
}

/* Without pixels there are no parts, and weight_sum writes zeros. */
static int has_tree(const struct integrate_panels_args *all) { return all->parts > 0 && all->parts <= TREE_PARTS; }

braid_status integrate_tma_workspace(const braid_problem *p, size_t *bytes) {
    struct integrate_panels_args all;
    fill_weights(&all, p, NULL);
    if (!has_tree(&all)) return integrate_panels_workspace(&all, bytes);
    size_t tile_bytes = (size_t)weight_rows(p) * WEIGHT_PANELS * PANEL_COLUMNS * sizeof(float);
    size_t slots = all.parts > 1 ? 2 * (size_t)all.tiles * (size_t)all.parts : 0;
    return size_array(slots, tile_bytes, "partial weight gradients", bytes);
}

braid_status integrate_tma_launch_weights(const braid_problem *p, device *d, const buffers *b) {
    static const launch_names names[2][2] = {
        {{NULL, "integrate_bwd_weight_wgmma_64_f16", "integrate_bwd_weight_wgmma_64_bf16"},
         {NULL, "integrate_bwd_weight_wgmma_128_f16", "integrate_bwd_weight_wgmma_128_bf16"}},
        {{NULL, "integrate_bwd_weight_wgmma_64_tree_f16", "integrate_bwd_weight_wgmma_64_tree_bf16"},
         {NULL, "integrate_bwd_weight_wgmma_128_tree_f16", "integrate_bwd_weight_wgmma_128_tree_bf16"}},
    };
    struct integrate_tma_args args;
    int is_wide = weight_rows(p) == 128;
    size_t stage = (size_t)(WEIGHT_PANELS + (is_wide ? 2 : 1)) * PANEL_SQUARE_BYTES;
    memset(&args, 0, sizeof args);
    fill_weights(&args.all, p, b);
    args.stages = count_stages(SHARED_ALONE, 0, stage);
    int tree = has_tree(&args.all);
    args.counters = cuda_counters(d, MOST_COUNTERS);
    if (args.all.parts == 0) return BRAID_OK;
    TRY(map_sources(&args, d, p, 64));
    TRY(map_y(&args, d, p, 64));
    return launch(&args, d,
                  &(cuda_call){.stem = "integrate_bwd_weight_sm90a",
                               .function = launch_name(&names[tree][is_wide], p->dtype),
                               .blocks = (int64_t)args.all.tiles * args.all.parts,
                               .threads = INTEGRATE_TMA_THREADS,
                               .shared_bytes = (size_t)args.stages * stage});
}

int integrate_tma_sums(const braid_problem *p, const void *state, const buffers *b, void *to) {
    struct integrate_panels_args all;
    (void)state;
    fill_weights(&all, p, b);
    return has_tree(&all) ? 0 : integrate_panels_sums(&all, p->dtype, to);
}

_Static_assert(MOST_COUNTERS <= CUDA_MOST_COUNTERS, "there is a counter for every group");
