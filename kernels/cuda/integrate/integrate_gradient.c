/*
 * How the data gradients of integrate on sm_90 are cut.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/integrate/integrate_gradient_launch.h"

#define SHARED_BYTES (232448 - INTEGRATE_GRADIENT_BARRIER_BYTES) /* of a block, for panels and factors */
#define MOST_STAGES 8
#define MOST_RESULTS 8
#define ENOUGH_RESULTS 4    /* of whole stages: two that are made, and two that come or go */
#define PANEL_RESULTS 2     /* else */
#define LEAST_STAGES 4      /* of panels */
#define LEAST_NORM_STAGES 3 /* beside results of normalisations */

/* The bytes of a tile's parts: with a normalisation, x beside each result, and the factors of a tile of columns. */
typedef struct tile_bytes {
    size_t pixels, weights, result, factors;
} tile_bytes;

static tile_bytes bytes_of(const integrate_gradient_function *f, int has_norm) {
    return (tile_bytes){.pixels = (size_t)f->rows * PANEL_ROW_BYTES,
                        .weights = (size_t)f->columns * PANEL_ROW_BYTES,
                        .result = (size_t)f->rows * (size_t)f->columns * (has_norm ? 4 : 2),
                        .factors = has_norm ? (size_t)f->columns * INTEGRATE_BN_BWD_APPLY_FACTORS * sizeof(float) : 0};
}

static void cut_columns(struct integrate_gradient_cut *cut, const struct integrate_panels_args *all, int columns) {
    cut->columns = 0;
    for (int i = 0; i < all->sources; i++) {
        cut->source[i].first_column = cut->columns;
        cut->columns += (int32_t)launch_tiles(all->source[i].lanes, columns);
    }
}

static void split(struct integrate_gradient_cut *cut, int32_t splits) {
    cut->splits = splits;
    cut->block_columns = (int32_t)launch_tiles(cut->columns, splits);
}

static int32_t at_most(size_t count, int32_t most) { return count < (size_t)most ? (int32_t)count : most; }

/* Whether the weights of a block's columns stay beside whole stages and enough results; divides the rest. */
static int fits_whole(struct integrate_gradient_cut *cut, const tile_bytes *bytes, int32_t splits) {
    size_t panels = (size_t)cut->panels, stage = panels * bytes->pixels;
    split(cut, splits);
    size_t staying = (size_t)cut->block_columns * (panels * bytes->weights + bytes->factors);
    if (staying + 2 * stage + ENOUGH_RESULTS * bytes->result > SHARED_BYTES) return 0;
    cut->stages = staying + 3 * stage + ENOUGH_RESULTS * bytes->result <= SHARED_BYTES ? 3 : 2;
    cut->results =
        at_most((SHARED_BYTES - staying - (size_t)cut->stages * stage) / bytes->result / 2 * 2, MOST_RESULTS);
    cut->stays = cut->whole = 1;
    return 1;
}

/* Stages of one panel: a block has one column, whose weights stay where they can. */
static int fits_panels(struct integrate_gradient_cut *cut, const tile_bytes *bytes, int stays) {
    size_t staying =
        stays ? (size_t)cut->panels * bytes->weights + bytes->factors : (size_t)cut->columns * bytes->factors;
    size_t stage = bytes->pixels + (stays ? 0 : bytes->weights), results = PANEL_RESULTS * bytes->result;
    split(cut, cut->columns);
    if (staying + (size_t)(bytes->factors ? LEAST_NORM_STAGES : LEAST_STAGES) * stage + results > SHARED_BYTES)
        return 0;
    cut->stages = at_most((SHARED_BYTES - staying - results) / stage, MOST_STAGES);
    cut->results = PANEL_RESULTS;
    cut->stays = stays;
    return 1;
}

/* The tile, and how shared memory is divided; NULL: it does not fit. */
static const integrate_gradient_function *choose(struct integrate_gradient_cut *cut,
                                                 const struct integrate_panels_args *all, int processors,
                                                 const integrate_gradient_way *way) {
    int is_narrow = 1;
    for (int i = 0; i < all->sources; i++) is_narrow = is_narrow && all->source[i].lanes <= 64;
    cut->panels = integrate_panels_of(all->outputs);
    cut_columns(cut, all, is_narrow ? 64 : 128);
    const integrate_gradient_function *f = is_narrow ? &way->narrow : &way->staying;
    tile_bytes bytes = bytes_of(f, way->has_norm);
    if (fits_whole(cut, &bytes, 1)) return f;
    /* A strided pathway has more to write than the streams, so its columns go round among the blocks. */
    if (!cut->is_strided && cut->columns > 1 && fits_whole(cut, &bytes, 2)) return f;
    if (!cut->is_strided && cut->columns <= processors && fits_panels(cut, &bytes, 1)) return f;
    if (!is_narrow) f = &way->streaming;
    bytes = bytes_of(f, way->has_norm);
    return fits_panels(cut, &bytes, 0) ? f : NULL;
}

int integrate_gradient_cut(struct integrate_gradient_cut *cut, const braid_problem *p,
                           const struct integrate_panels_args *all, int processors, const integrate_gradient_way *way,
                           integrate_gradient_plan *plan) {
    memset(cut, 0, sizeof *cut);
    cut->sources = all->sources;
    cut->pixels = all->pixels;
    cut->is_strided = p->integrated_in > 0 && (p->stride[0] > 1 || p->stride[1] > 1);
    cut->z_channels = (int32_t)p->integrated_in;
    for (int axis = 0; axis < 2; axis++) {
        cut->out_size[axis] = all->out_size[axis];
        cut->size[axis] = all->size[axis];
        cut->stride[axis] = all->stride[axis];
    }
    const integrate_gradient_function *f = choose(cut, all, processors, way);
    if (!f) return 0;
    tile_bytes bytes = bytes_of(f, way->has_norm);
    size_t panels = (size_t)cut->panels;
    size_t staying = cut->stays ? (size_t)cut->block_columns * panels * bytes.weights : 0;
    size_t stage = (cut->whole ? panels : 1) * bytes.pixels + (cut->stays ? 0 : bytes.weights);
    size_t factors = (size_t)(cut->stays ? cut->block_columns : cut->columns) * bytes.factors;
    int64_t blocks = cut->stays ? processors / cut->splits * cut->splits : processors;
    cut->tiles = (int32_t)launch_tiles(cut->pixels, f->rows) * cut->splits;
    *plan =
        (integrate_gradient_plan){.function = f,
                                  .shared = INTEGRATE_GRADIENT_BARRIER_BYTES + staying + (size_t)cut->stages * stage +
                                            (size_t)cut->results * bytes.result + factors,
                                  .blocks = blocks < cut->tiles ? blocks : cut->tiles};
    return 1;
}

braid_status integrate_gradient_map(struct integrate_gradient_cut *cut, const integrate_gradient_maps *maps, int source,
                                    device *d, const braid_problem *p, const struct integrate_panels_source *from,
                                    int rows) {
    cut->source[source].mask = from->mask;
    cut->source[source].adds = from->add != NULL;
    TRY(integrate_tma_map_matrix(&maps->weights[source], d, p, from->weights, from->channels, p->integrated_out,
                                 from->channels, PANEL_COLUMNS));
    if (from->is_pathway && cut->is_strided) {
        cut->z = from->x;
        cut->added_z = from->add;
        return from->add ? integrate_tma_map_strided(&maps->added[source], d, p, from->add, rows) : BRAID_OK;
    }
    TRY(integrate_tma_map_matrix(&maps->x[source], d, p, from->x, from->lanes, cut->pixels, from->pitch, rows));
    if (!from->add) return BRAID_OK;
    return integrate_tma_map_matrix(&maps->added[source], d, p, from->add, from->channels, cut->pixels, from->pitch,
                                    rows);
}
