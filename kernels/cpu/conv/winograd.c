/*
 * The convolution of winograd.h. When the weights are transformed it takes the streams one after another, so
 * that the weights of one stay in the last-level cache, and runs parts. A part is a
 * block of tiles times a group of panels of output channels: it transforms the patches of its tiles, makes
 * the 16 products, and transforms the results, all in scratch memory of the size of the second-level cache.
 * Where there are several groups, each transforms the patches anew, which costs less than sharing them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/conv/winograd.h"

#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/tile/pack.h"
#include "kernels/cpu/conv/scratch.h"

#define GROUP_COLUMNS 128    /* of a group of panels: the patches are transformed once for so many channels */
#define SCRATCH_FLOATS 98304 /* of a part, about: 384 KiB of the second-level cache */
#define LEAST_TILES 28       /* in a block: every weight that is read serves as many tiles */
#define LINE_FLOATS 16       /* of a cache line: added to distances that would be multiples of many lines */
#define PACK_DEPTH 64        /* channels transformed at once */
#define PACK_PARTS 256       /* at most */

typedef struct stream_shape {
    int64_t depth, columns; /* channels summed over, channels made */
    int64_t in_pitch, out_pitch;
    int64_t panels, panels_in_group, groups;
    int64_t blocks, block_tiles;
    int64_t pixel_pitch;                                    /* of a transformed pixel */
    int64_t weights;                                        /* where they start behind those of other streams */
    int64_t weights_stride, patches_stride, results_stride; /* floats from place to place */
} stream_shape;

typedef struct winograd {
    const winograd_tile *tile;
    int forward, streams, slots;
    int64_t batch, tiles[2];
    taps map;
    stream_shape stream[BRAID_MAX_PLANES];
    int64_t zero_floats, weights_floats, slot_floats;
} winograd;

typedef struct launch {
    const winograd *g;
    const buffers *b;
    int stream;
    const stream_shape *s;
    const product_epilogue *epilogue; /* or NULL */
    float *zeros, *weights, *scratch;
    scratch_slots slots;
} launch;

/* ---- Create -------------------------------------------------------------------------------- */

const char *winograd_supports_forward(const braid_problem *p, const device *d) {
    (void)d;
    if (p->filter[0] != 3 || p->filter[1] != 3) return "makes tiles of 3x3 filters only";
    if (p->stride[0] != 1 || p->stride[1] != 1) return "makes tiles at stride 1 only";
    if (p->dilation[0] != 1 || p->dilation[1] != 1) return "makes tiles of filters without dilation only";
    return p->groups == 1 ? NULL : "sums over all channels: one group only";
}

const char *winograd_supports_backward(const braid_problem *p, const device *d) {
    const char *reason = winograd_supports_forward(p, d);
    if (!reason) reason = conv2d_refuses_add(p);
    if (reason) return reason;
    return p->padding_mode == BRAID_PADDING_ZEROS ? NULL : "gathers gradients from zero padding only";
}

static int64_t at_least(int64_t value, int64_t least) { return value > least ? value : least; }

/* Tiles of a block: as many as the scratch memory holds, in whole rows of the matrix tile. */
static int64_t choose_block(const winograd *g, const stream_shape *s) {
    int64_t group_columns = s->panels_in_group * g->tile->gemm->columns, rows = g->tile->gemm->rows;
    int64_t tiles = SCRATCH_FLOATS / (WINOGRAD_PLACES * (s->pixel_pitch + group_columns));
    return ceil_div(at_least(tiles, LEAST_TILES), rows) * rows;
}

static braid_status shape_stream(winograd *g, const braid_problem *p, int i) {
    stream_shape *s = &g->stream[i];
    int64_t columns = g->tile->gemm->columns, all = g->batch * g->tiles[0] * g->tiles[1], floats;
    s->depth = g->forward ? p->in_channels[i] : p->out_channels[i];
    s->columns = g->forward ? p->out_channels[i] : p->in_channels[i];
    s->in_pitch = g->forward ? p->in_pitch[i] : p->out_pitch[i];
    s->out_pitch = g->forward ? p->out_pitch[i] : p->in_pitch[i];
    s->panels = at_least(ceil_div(s->columns, columns), 1);
    s->groups = at_least(s->panels * columns / GROUP_COLUMNS, 1);
    s->panels_in_group = ceil_div(s->panels, s->groups);
    s->groups = ceil_div(s->panels, s->panels_in_group);
    s->pixel_pitch = ceil_div(s->depth, LINE_FLOATS) * LINE_FLOATS + LINE_FLOATS;
    s->block_tiles = choose_block(g, s);
    s->blocks = ceil_div(all, s->block_tiles);
    const int64_t weights[3] = {s->panels, s->depth, columns};
    TRY(size_elements(weights, 3, "transformed weights", &floats));
    s->weights_stride = floats + LINE_FLOATS;
    const int64_t patches[2] = {s->block_tiles, s->pixel_pitch};
    TRY(size_elements(patches, 2, "transformed pixels", &floats));
    s->patches_stride = floats + LINE_FLOATS;
    s->results_stride = s->block_tiles * s->panels_in_group * columns + LINE_FLOATS;
    g->zero_floats = at_least(g->zero_floats, s->pixel_pitch);
    s->weights = g->weights_floats;
    g->weights_floats += WINOGRAD_PLACES * s->weights_stride;
    g->slot_floats = at_least(g->slot_floats, WINOGRAD_PLACES * (s->patches_stride + s->results_stride));
    return BRAID_OK;
}

static braid_status fill(winograd *g, const braid_problem *p, size_t *workspace_bytes) {
    int64_t parts = 1, floats = 0;
    TRY(g->forward ? taps_create_forward(&g->map, p) : taps_create_backward(&g->map, p));
    for (int axis = 0; axis < 2; axis++) g->tiles[axis] = ceil_div(g->map.out_size[axis], 2);
    for (int i = 0; i < g->streams; i++) {
        TRY(shape_stream(g, p, i));
        parts = at_least(parts, g->stream[i].blocks * g->stream[i].groups);
    }
    g->slots = (int)at_most(at_most(parts, threads_get()), SCRATCH_MOST);
    const int64_t dims[2] = {g->slots, g->slot_floats};
    TRY(size_elements(dims, 2, "scratch memory of a convolution", &floats));
    return size_array((size_t)(g->zero_floats + g->weights_floats + floats), sizeof(float), "transformed weights",
                      workspace_bytes);
}

static braid_status create(const braid_problem *p, int forward, const winograd_tile *tile, void **state,
                           size_t *workspace_bytes) {
    winograd *g = NULL;
    TRY(memory_calloc(1, sizeof *g, "state of a convolution", (void **)&g));
    g->tile = tile;
    g->forward = forward;
    g->streams = p->streams;
    g->batch = p->batch;
    braid_status status = fill(g, p, workspace_bytes);
    if (status) {
        winograd_destroy(NULL, g);
        return status;
    }
    *state = g;
    return BRAID_OK;
}

braid_status winograd_create_forward(const braid_problem *p, const winograd_tile *tile, void **state, size_t *bytes) {
    return create(p, 1, tile, state, bytes);
}

braid_status winograd_create_backward(const braid_problem *p, const winograd_tile *tile, void **state, size_t *bytes) {
    return create(p, 0, tile, state, bytes);
}

void winograd_destroy(device *d, void *state) {
    winograd *g = state;
    (void)d;
    if (!g) return;
    taps_destroy(&g->map);
    memory_free(g);
}

/* ---- Weights ------------------------------------------------------------------------------- */

static int64_t weight_units(const stream_shape *s) { return s->panels * ceil_div(s->depth, PACK_DEPTH); }

/* Transforms PACK_DEPTH channels of one panel. Weights are [K][taps][C]. */
static void transform_unit(const launch *l, int64_t unit) {
    const stream_shape *s = l->s;
    const int columns = l->g->tile->gemm->columns;
    const int64_t panel = unit % s->panels, first = unit / s->panels * PACK_DEPTH;
    const int64_t depth = at_most(s->depth - first, PACK_DEPTH), column = panel * columns;
    const int n = (int)at_most(s->columns - column, columns);
    const float *w = l->b->plane[CONV2D_W][l->stream];
    float taps_of[WINOGRAD_TAPS * PACK_DEPTH * GEMM_MAX_COLUMNS];
    float *to = l->weights + s->weights + (panel * s->depth + first) * columns;
    for (int t = 0; t < WINOGRAD_TAPS; t++) {
        pack_panel q = {.to = taps_of + t * PACK_DEPTH * columns, .depth = depth, .n = n, .width = columns};
        q.tile = l->g->tile->gemm;
        q.pitch = WINOGRAD_TAPS * (l->g->forward ? s->depth : s->columns);
        if (l->g->forward) {
            q.from = w + (column * WINOGRAD_TAPS + t) * s->depth + first;
            pack_transposed(&q);
        } else {
            q.from = w + (first * WINOGRAD_TAPS + WINOGRAD_TAPS - 1 - t) * s->columns + column;
            pack_straight(&q);
        }
    }
    for (int64_t d = 0; d < depth; d++)
        l->g->tile->weights(to + d * columns, s->weights_stride, taps_of + d * columns, (int64_t)PACK_DEPTH * columns);
}

static void weights_part(void *context, int64_t index) {
    const launch *l = context;
    int64_t begin, end, units = weight_units(l->s);
    threads_range(units, at_most(units, PACK_PARTS), index, &begin, &end);
    for (int64_t unit = begin; unit < end; unit++) transform_unit(l, unit);
}

/* ---- Tiles --------------------------------------------------------------------------------- */

/* What a part works on. */
typedef struct part {
    const launch *l;
    const stream_shape *s;
    int64_t first_tile, tiles, first_panel, panels;
    float *patches, *results; /* [place][tile][channel] */
} part;

/* A tile: its sample, and its first output row and column. */
typedef struct place {
    int64_t sample, at[2];
    int blank;
} place;

static place find_tile(const part *a, int64_t tile) {
    const winograd *g = a->l->g;
    place t = {.at = {tile / g->tiles[1] % g->tiles[0] * 2, tile % g->tiles[1] * 2}};
    t.sample = tile / g->tiles[1] / g->tiles[0];
    t.blank = mask_blanks(a->l->b->plane[CONV2D_MASK][a->l->stream], t.sample);
    return t;
}

int64_t winograd_patch_line(const taps *map, int forward, int axis, int64_t at, int i) {
    int second = i == 3; /* seen by the second output of the tile alone, which may not be there */
    if (at + second >= map->out_size[axis]) return -1;
    int tap = second ? 2 : i;
    return map->source[axis][(at + second) * 3 + (forward ? tap : 2 - tap)];
}

static void transform_patch(const part *a, int64_t tile) {
    const launch *l = a->l;
    const taps *map = &l->g->map;
    const float *patch[WINOGRAD_PLACES];
    place t = find_tile(a, a->first_tile + tile);
    const float *source = l->b->plane[l->g->forward ? CONV2D_X : CONV2D_Y][l->stream];
    source += t.sample * map->in_size[0] * map->in_size[1] * a->s->in_pitch;
    for (int i = 0; i < 4; i++) {
        int64_t row = winograd_patch_line(map, l->g->forward, 0, t.at[0], i);
        for (int j = 0; j < 4; j++) {
            int64_t column = winograd_patch_line(map, l->g->forward, 1, t.at[1], j);
            int zero = t.blank || (row | column) < 0;
            patch[4 * i + j] = zero ? l->zeros : source + (row * map->in_size[1] + column) * a->s->in_pitch;
        }
    }
    l->g->tile->input(a->patches + tile * a->s->pixel_pitch, a->s->patches_stride, patch, a->s->depth);
}

/* One product: the tiles of the block by a panel, at one place of the patches. */
static void multiply(const part *a, int at, int64_t panel) {
    const gemm_tile *gemm = a->l->g->tile->gemm;
    const void *row[GEMM_MAX_ROWS];
    float *out[GEMM_MAX_ROWS];
    int64_t pitch = a->panels * gemm->columns, left = a->s->columns - (a->first_panel + panel) * gemm->columns;
    gemm_rows run = {.taps = 1, .depth = a->s->depth, .row = row, .out = out};
    run.panel = a->l->weights + a->s->weights + at * a->s->weights_stride +
                (a->first_panel + panel) * a->s->depth * gemm->columns;
    run.n = left > gemm->columns / 2 ? gemm->columns : gemm->columns / 2;
    for (int64_t first = 0; first < a->tiles; first += gemm->rows) {
        run.m = (int)at_most(a->tiles - first, gemm->rows);
        for (int i = 0; i < run.m; i++) {
            row[i] = a->patches + at * a->s->patches_stride + (first + i) * a->s->pixel_pitch;
            out[i] = a->results + at * a->s->results_stride + (first + i) * pitch + panel * gemm->columns;
        }
        gemm->run_rows(&run);
    }
}

/* Writes what is zero of a pixel's channels from `first` on: all where it is blanked, and the lanes behind the last. */
static void clear_pixel(const part *a, float *pixel, int64_t first, int64_t channels, int blank) {
    if (blank) zero_floats(pixel, channels);
    if (first + channels == a->s->columns) zero_floats(pixel + channels, a->s->out_pitch - a->s->columns);
}

/* Writes the outputs of a tile: its results, or zeros where it is blanked; and the lanes behind the last channel. */
static void write_tile(const part *a, int64_t tile) {
    const launch *l = a->l;
    const taps *map = &l->g->map;
    const int64_t width = l->g->tile->gemm->columns, first = a->first_panel * width;
    const int64_t channels = at_most(a->s->columns - first, a->panels * width);
    const float *bias = l->g->forward ? l->b->plane[CONV2D_BIAS][l->stream] : NULL;
    float *out = l->b->plane[l->g->forward ? CONV2D_Y : CONV2D_X][l->stream], *pixel[WINOGRAD_OUTPUTS] = {NULL};
    place t = find_tile(a, a->first_tile + tile);
    for (int j = 0; j < WINOGRAD_OUTPUTS; j++) {
        int64_t row = t.at[0] + j / 2, column = t.at[1] + j % 2;
        if (row >= map->out_size[0] || column >= map->out_size[1]) continue;
        pixel[j] = out + ((t.sample * map->out_size[0] + row) * map->out_size[1] + column) * a->s->out_pitch + first;
        clear_pixel(a, pixel[j], first, channels, t.blank);
    }
    if (t.blank) return;
    l->g->tile->output(pixel, a->results + tile * a->panels * width, a->s->results_stride, bias ? bias + first : NULL,
                       channels);
    for (int j = 0; j < WINOGRAD_OUTPUTS && l->epilogue; j++) {
        if (!pixel[j]) continue;
        epilogue_row(l->epilogue, l->stream, first, channels, (pixel[j] - out) * (int64_t)sizeof(float), pixel[j],
                     pixel[j]);
    }
}

static void tiles_part(void *context, int64_t index) {
    launch *l = context;
    const winograd *g = l->g;
    const stream_shape *s = l->s;
    int slot = scratch_take(&l->slots);
    part a = {.l = l, .s = s, .first_tile = index % s->blocks * s->block_tiles};
    a.tiles = at_most(g->batch * g->tiles[0] * g->tiles[1] - a.first_tile, s->block_tiles);
    a.first_panel = index / s->blocks * s->panels_in_group;
    a.panels = at_most(s->panels - a.first_panel, s->panels_in_group);
    a.patches = l->scratch + slot * g->slot_floats;
    a.results = a.patches + WINOGRAD_PLACES * s->patches_stride;
    for (int64_t tile = 0; tile < a.tiles; tile++) transform_patch(&a, tile);
    for (int at = 0; at < WINOGRAD_PLACES; at++) {
        for (int64_t panel = 0; panel < a.panels; panel++) multiply(&a, at, panel);
    }
    for (int64_t tile = 0; tile < a.tiles; tile++) write_tile(&a, tile);
    scratch_give(&l->slots, slot);
}

static launch start(const winograd *g, const buffers *b, const product_epilogue *epilogue) {
    launch l = {.g = g, .b = b, .epilogue = epilogue, .zeros = b->workspace, .slots = {.count = g->slots}};
    l.weights = l.zeros + g->zero_floats;
    l.scratch = l.weights + g->weights_floats;
    return l;
}

braid_status winograd_pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    const winograd *g = state;
    launch l = start(g, b, NULL);
    (void)p;
    (void)d;
    zero_floats(l.zeros, g->zero_floats);
    for (l.stream = 0; l.stream < g->streams; l.stream++) {
        l.s = &g->stream[l.stream];
        if (l.s->blocks) threads_for(at_most(weight_units(l.s), PACK_PARTS), weights_part, &l);
    }
    return BRAID_OK;
}

void winograd_run_epilogue(const void *state, const buffers *b, const product_epilogue *epilogue) {
    const winograd *g = state;
    launch l = start(g, b, epilogue);
    for (l.stream = 0; l.stream < g->streams; l.stream++) {
        l.s = &g->stream[l.stream];
        threads_for(l.s->blocks * l.s->groups, tiles_part, &l);
    }
}

braid_status winograd_run(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)p;
    (void)d;
    winograd_run_epilogue(state, b, NULL);
    return BRAID_OK;
}

double winograd_cost(const braid_problem *p, const machine *on, const winograd_tile *tile) {
    double weights = 0, pixels = 0;
    for (int i = 0; i < p->streams; i++) {
        weights += (double)p->in_channels[i] * (double)p->out_channels[i] * WINOGRAD_PLACES;
        pixels += (double)(p->in_channels[i] + p->out_channels[i]);
    }
    pixels *= (double)p->batch * (double)p->size[0] * (double)p->size[1] * WINOGRAD_PLACES / WINOGRAD_OUTPUTS;
    double copies = cost_copy_seconds(4 * (weights + pixels)) / on->threads; /* floats */
    return cost_seconds(p, on, tile->gemm->flops * 2, 2 * p->streams, 2e-6) + copies;
}
