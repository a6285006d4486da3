/*
 * The weight gradient of winograd_weight.h. A part makes a block of output channels by input channels of one stream
 * over one split of the tiles: it transforms the gradients and the patches of a few tiles, adds their 16 products to
 * sums that stay in the second-level cache, and transforms the sums at its end. Each block transforms what it reads
 * anew, which costs less than keeping four times the pixels. Samples that are blanked are left out when tiles are
 * listed, before anything is read. Blocks and splits depend on the problem alone; partial sums are added in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/conv/winograd_weight.h"

#include <math.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/isa/copy.h"
#include "kernels/cpu/conv/scratch.h"
#include "kernels/cpu/tile/outer_product.h"

#define BLOCK_CHANNELS 64 /* of a block, each way: its sums take 256 KiB */
#define TILES_AT_ONCE 64  /* transformed, then multiplied: 512 KiB of a block */
#define LINE_FLOATS 16    /* of a cache line: added to distances that would be multiples of many lines */
#define ENOUGH_PARTS 24   /* with fewer blocks, the tiles are split */
#define REDUCE_FLOATS 4096

/* Floats from place to place: of transformed tiles, and of sums. Rows have BLOCK_CHANNELS. */
#define TILES_STRIDE (TILES_AT_ONCE * BLOCK_CHANNELS + LINE_FLOATS)
#define SUMS_STRIDE (BLOCK_CHANNELS * BLOCK_CHANNELS + LINE_FLOATS)
#define SLOT_FLOATS (WINOGRAD_PLACES * (2 * TILES_STRIDE + SUMS_STRIDE))

typedef struct stream_shape {
    int64_t rows, columns; /* output channels, input channels */
    int64_t row_blocks, column_blocks;
    int64_t weights; /* floats of dw: the distance of two splits */
    int64_t partial; /* where the partial sums start in the workspace, in floats */
} stream_shape;

typedef struct weight_gradient {
    const winograd_tile *tile;
    int streams, slots;
    int64_t batch, tiles[2], all_tiles, splits, blocks, reduce_parts;
    int64_t in_pitch[BRAID_MAX_PLANES], out_pitch[BRAID_MAX_PLANES];
    taps map;
    stream_shape stream[BRAID_MAX_PLANES];
    int64_t scratch; /* where the slots start in the workspace, in floats; zeros lie before them */
    braid_problem biases;
    void *biases_state; /* NULL: no dbias is wanted */
} weight_gradient;

typedef struct launch {
    const weight_gradient *g;
    const buffers *b;
    float *zeros, *scratch, *partial;
    scratch_slots slots;
} launch;

/* ---- Create -------------------------------------------------------------------------------- */

const char *winograd_weight_supports(const braid_problem *p, const device *d) {
    for (int axis = 0; axis < 2; axis++) {
        if (p->size[axis] + p->padding[axis] < 3)
            return "mixes taps: each must read a pixel, from 2 rows and columns on";
    }
    return winograd_supports_forward(p, d);
}

static braid_status shape_stream(weight_gradient *g, const braid_problem *p, int i) {
    stream_shape *s = &g->stream[i];
    const int64_t dims[3] = {p->out_channels[i], WINOGRAD_TAPS, p->in_channels[i]};
    s->rows = dims[0];
    s->columns = dims[2];
    s->row_blocks = ceil_div(s->rows, BLOCK_CHANNELS);
    s->column_blocks = ceil_div(s->columns, BLOCK_CHANNELS);
    g->in_pitch[i] = p->in_pitch[i];
    g->out_pitch[i] = p->out_pitch[i];
    g->blocks += s->row_blocks * s->column_blocks;
    TRY(size_elements(dims, 3, "weight gradient", &s->weights));
    g->reduce_parts += ceil_div(s->weights, REDUCE_FLOATS);
    return BRAID_OK;
}

/* Cuts the tiles, and adds the partial sums of the splits to the workspace. */
static braid_status split_tiles(weight_gradient *g, int64_t *floats) {
    g->splits = 1;
    if (g->blocks > 0 && g->blocks < ENOUGH_PARTS)
        g->splits = at_most(ceil_div(ENOUGH_PARTS, g->blocks), ceil_div(g->all_tiles, 2 * TILES_AT_ONCE));
    if (g->splits <= 1) {
        g->splits = 1;
        g->reduce_parts = 0;
        return BRAID_OK;
    }
    for (int i = 0; i < g->streams; i++) {
        const int64_t dims[2] = {g->splits, g->stream[i].weights};
        int64_t more = 0;
        TRY(size_elements(dims, 2, "partial sums", &more));
        g->stream[i].partial = *floats;
        *floats += more;
    }
    return BRAID_OK;
}

static braid_status fill(weight_gradient *g, const braid_problem *p, size_t *workspace_bytes) {
    int64_t floats = 0;
    size_t bias_bytes = 0;
    TRY(taps_create_forward(&g->map, p));
    for (int axis = 0; axis < 2; axis++) g->tiles[axis] = ceil_div(g->map.out_size[axis], 2);
    const int64_t tiles[3] = {p->batch, g->tiles[0], g->tiles[1]};
    TRY(size_elements(tiles, 3, "tiles of outputs", &g->all_tiles));
    for (int i = 0; i < g->streams; i++) TRY(shape_stream(g, p, i));
    TRY(split_tiles(g, &floats));
    g->slots = (int)at_most(at_most(g->blocks * g->splits, threads_get()), SCRATCH_MOST);
    if (g->slots < 1) g->slots = 1;
    g->scratch = ceil_div(floats, LINE_FLOATS) * LINE_FLOATS + BLOCK_CHANNELS;
    TRY(size_array((size_t)(g->scratch + g->slots * SLOT_FLOATS), sizeof(float), "transformed tiles", workspace_bytes));
    if (!p->bias) return BRAID_OK;
    g->biases = outer_product_bias_problem(p);
    TRY(outer_product_create(&g->biases, g->tile->gemm, &g->biases_state, &bias_bytes));
    if (bias_bytes > *workspace_bytes) *workspace_bytes = bias_bytes;
    return BRAID_OK;
}

braid_status winograd_weight_create(const braid_problem *p, const winograd_tile *tile, void **state, size_t *bytes) {
    weight_gradient *g = NULL;
    TRY(memory_calloc(1, sizeof *g, "state of a weight gradient", (void **)&g));
    g->tile = tile;
    g->streams = p->streams;
    g->batch = p->batch;
    braid_status status = fill(g, p, bytes);
    if (status) {
        winograd_weight_destroy(NULL, g);
        return status;
    }
    *state = g;
    return BRAID_OK;
}

void winograd_weight_destroy(device *d, void *state) {
    weight_gradient *g = state;
    if (!g) return;
    taps_destroy(&g->map);
    outer_product_destroy(d, g->biases_state);
    memory_free(g);
}

/* ---- Parts --------------------------------------------------------------------------------- */

/* What a part works on. */
typedef struct part {
    const launch *l;
    const stream_shape *s;
    int stream;
    int64_t first_row, rows, first_column, columns;
    float *gradients, *patches; /* [place][tile][channel] */
    float *sums;                /* [place][row][column] */
} part;

static void transform_tile(const part *a, int64_t tile, int64_t sample, int64_t to) {
    const weight_gradient *g = a->l->g;
    const taps *map = &g->map;
    const int64_t at[2] = {tile / g->tiles[1] * 2, tile % g->tiles[1] * 2};
    const int64_t in_pitch = g->in_pitch[a->stream], out_pitch = g->out_pitch[a->stream];
    const float *x = a->l->b->plane[CONV2D_X][a->stream], *dy = a->l->b->plane[CONV2D_Y][a->stream];
    const float *patch[WINOGRAD_PLACES], *pixel[WINOGRAD_OUTPUTS];
    int64_t column[4];
    x += sample * map->in_size[0] * map->in_size[1] * in_pitch + a->first_column;
    dy += sample * map->out_size[0] * map->out_size[1] * out_pitch + a->first_row;
    for (int j = 0; j < 4; j++) column[j] = winograd_patch_line(map, 1, 1, at[1], j);
    for (int i = 0; i < 4; i++) {
        const int64_t row = winograd_patch_line(map, 1, 0, at[0], i);
        for (int j = 0; j < 4; j++)
            patch[4 * i + j] = (row | column[j]) < 0 ? a->l->zeros : x + (row * map->in_size[1] + column[j]) * in_pitch;
    }
    for (int j = 0; j < WINOGRAD_OUTPUTS; j++) {
        const int64_t row = at[0] + j / 2, line = at[1] + j % 2;
        const int inside = row < map->out_size[0] && line < map->out_size[1];
        pixel[j] = inside ? dy + (row * map->out_size[1] + line) * out_pitch : a->l->zeros;
    }
    g->tile->input(a->patches + to * BLOCK_CHANNELS, TILES_STRIDE, patch, a->columns);
    g->tile->gradient(a->gradients + to * BLOCK_CHANNELS, TILES_STRIDE, pixel, a->rows);
}

/* Transforms active tiles from *next on, as many as there is room for. Returns how many. */
static int64_t transform_tiles(const part *a, int64_t *next, int64_t end) {
    const weight_gradient *g = a->l->g;
    const uint32_t *mask = a->l->b->plane[CONV2D_MASK][a->stream];
    const int64_t of_sample = g->tiles[0] * g->tiles[1];
    int64_t count = 0;
    while (*next < end && count < TILES_AT_ONCE) {
        const int64_t sample = *next / of_sample;
        if (mask_blanks(mask, sample)) {
            *next = at_most((sample + 1) * of_sample, end);
            continue;
        }
        transform_tile(a, *next % of_sample, sample, count++);
        ++*next;
    }
    return count;
}

/* sums = (accumulate ? sums : 0) + the products of `count` tiles. */
static void multiply(const part *a, int64_t count, int accumulate) {
    const gemm_tile *gemm = a->l->g->tile->gemm;
    const int64_t row_tiles = ceil_div(a->rows, gemm->rows);
    const float *column[TILES_AT_ONCE];
    gemm_outer run = {.accumulate = accumulate, .depth = count, .pitch = BLOCK_CHANNELS, .row_pitch = BLOCK_CHANNELS};
    run.column = column;
    for (int at = 0; at < WINOGRAD_PLACES; at++) {
        for (int64_t first = 0; first < a->columns; first += gemm->columns) {
            const float *panel = a->patches + at * TILES_STRIDE + first;
            for (int64_t t = 0; t < count; t++) column[t] = panel + t * BLOCK_CHANNELS;
            run.n = a->columns - first > gemm->columns / 2 ? gemm->columns : gemm->columns / 2;
            for (int64_t t = 0; t < row_tiles; t++) {
                int64_t begin, end;
                threads_range(a->rows, row_tiles, t, &begin, &end);
                run.m = (int)(end - begin);
                run.rows = a->gradients + at * TILES_STRIDE + begin;
                run.out = a->sums + at * SUMS_STRIDE + begin * BLOCK_CHANNELS + first;
                gemm->run_outer(&run);
            }
        }
    }
}

/* Finds block `index` of all streams. */
static void find_block(part *a, int64_t index) {
    const weight_gradient *g = a->l->g;
    while (index >= g->stream[a->stream].row_blocks * g->stream[a->stream].column_blocks) {
        index -= g->stream[a->stream].row_blocks * g->stream[a->stream].column_blocks;
        a->stream++;
    }
    a->s = &g->stream[a->stream];
    a->first_row = index / a->s->column_blocks * BLOCK_CHANNELS;
    a->rows = at_most(a->s->rows - a->first_row, BLOCK_CHANNELS);
    a->first_column = index % a->s->column_blocks * BLOCK_CHANNELS;
    a->columns = at_most(a->s->columns - a->first_column, BLOCK_CHANNELS);
}

static void run_part(void *context, int64_t index) {
    launch *l = context;
    const weight_gradient *g = l->g;
    const int64_t split = index % g->splits;
    const int slot = scratch_take(&l->slots);
    part a = {.l = l};
    int64_t next, end;
    find_block(&a, index / g->splits);
    a.gradients = l->scratch + slot * SLOT_FLOATS;
    a.patches = a.gradients + WINOGRAD_PLACES * TILES_STRIDE;
    a.sums = a.patches + WINOGRAD_PLACES * TILES_STRIDE;
    threads_range(g->all_tiles, g->splits, split, &next, &end);
    int accumulate = 0;
    do {
        const int64_t count = transform_tiles(&a, &next, end);
        if (count || !accumulate) multiply(&a, count, accumulate);
        accumulate = 1;
    } while (next < end);
    float *out = l->b->plane[CONV2D_W][a.stream];
    if (g->reduce_parts) out = l->partial + a.s->partial + split * a.s->weights;
    for (int64_t k = 0; k < a.rows; k++) {
        float *row = out + (a.first_row + k) * WINOGRAD_TAPS * a.s->columns + a.first_column;
        g->tile->filter(row, a.s->columns, a.sums + k * BLOCK_CHANNELS, SUMS_STRIDE, a.columns);
    }
    scratch_give(&l->slots, slot);
}

static void reduce_part(void *context, int64_t index) {
    const launch *l = context;
    int i = 0;
    while (index >= ceil_div(l->g->stream[i].weights, REDUCE_FLOATS))
        index -= ceil_div(l->g->stream[i++].weights, REDUCE_FLOATS);
    const stream_shape *s = &l->g->stream[i];
    const int64_t begin = index * REDUCE_FLOATS, count = at_most(s->weights - begin, REDUCE_FLOATS);
    add_splits((float *)l->b->plane[CONV2D_W][i] + begin, l->partial + s->partial + begin, s->weights, l->g->splits,
               count);
}

braid_status winograd_weight_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const weight_gradient *g = state;
    launch l = {.g = g, .b = b, .partial = b->workspace, .slots = {.count = g->slots}};
    (void)p;
    l.scratch = l.partial + g->scratch;
    l.zeros = l.scratch - BLOCK_CHANNELS;
    zero_floats(l.zeros, BLOCK_CHANNELS);
    threads_for(g->blocks * g->splits, run_part, &l);
    threads_for(g->reduce_parts, reduce_part, &l);
    return g->biases_state ? outer_product_launch(&g->biases, d, g->biases_state, b) : BRAID_OK;
}

double winograd_weight_cost(const braid_problem *p, const machine *on, const winograd_tile *tile) {
    double pixels = 0;
    for (int i = 0; i < p->streams; i++) {
        const double rows = (double)p->out_channels[i], columns = (double)p->in_channels[i];
        pixels += rows * ceil(columns / BLOCK_CHANNELS) + columns * ceil(rows / BLOCK_CHANNELS);
    }
    pixels *= (double)p->batch * (double)p->size[0] * (double)p->size[1] * WINOGRAD_PLACES / WINOGRAD_OUTPUTS;
    return cost_seconds(p, on, tile->gemm->flops * 2, 2, 2e-6) + cost_copy_seconds(pixels) / on->threads;
}
