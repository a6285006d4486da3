/*
 * The weight gradient of wgrad.h. A part makes some panels of columns of one group of one stream over one
 * split of the pixels, a few pixels at a time; blanked samples are left out when the pixels are listed,
 * before anything is read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/wgrad.h"

#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/cost.h"
#include "kernels/cpu/tile/parts.h"
#include "kernels/cpu/tile/taps.h"

#define PIXELS_AT_ONCE 128 /* listed, and gathered into a panel of 16 KiB */
#define PART_FLOATS 65536  /* of dw that a part works on: 256 KiB of the second-level cache */
#define ENOUGH_PARTS 24    /* with fewer, the parts get fewer panels or the pixels are split */
#define PIXELS_IN_SPLIT 512
#define DIRECT_ROWS 128 /* with more rows than this, gathering pays: the panel is read many times */
#define BIAS_LANES 16
#define REDUCE_FLOATS 4096

typedef struct stream_shape {
    int64_t rows, depth, columns; /* of one group: K, C, and taps * C */
    int64_t in_pitch, out_pitch, out_channels;
    int64_t panels, panels_in_part; /* of one group */
    int64_t partial;                /* where the partial sums start in the workspace, in floats */
    int64_t weights;                /* floats of dw: the distance of two splits */
} stream_shape;

typedef struct wgrad {
    const gemm_tile *tile;
    taps map;
    int streams, bias;
    int64_t groups, pixels, splits;
    stream_shape stream[BRAID_MAX_PLANES];
    int64_t panel_parts, bias_parts, reduce_parts, workspace_floats;
} wgrad;

typedef struct launch {
    const wgrad *g;
    const buffers *b;
} launch;

/* ---- Create -------------------------------------------------------------------------------- */

static braid_status shape_stream(wgrad *g, const braid_problem *p, int i) {
    stream_shape *s = &g->stream[i];
    const int64_t dims[4] = {p->out_channels[i], p->filter[0], p->filter[1], p->in_channels[i] / p->groups};
    s->rows = p->out_channels[i] / p->groups;
    s->depth = dims[3];
    s->columns = dims[1] * dims[2] * dims[3];
    s->in_pitch = p->in_pitch[i];
    s->out_pitch = p->out_pitch[i];
    s->out_channels = p->out_channels[i];
    s->panels = ceil_div(s->columns, g->tile->columns);
    s->panels_in_part = at_most(ceil_div(PART_FLOATS, s->rows * g->tile->columns), s->panels);
    if (s->panels_in_part < 1) s->panels_in_part = 1; /* no columns, no parts */
    g->bias_parts += ceil_div(s->out_channels, BIAS_LANES);
    TRY(size_elements(dims, 4, "weight gradient", &s->weights));
    g->reduce_parts += ceil_div(s->weights, REDUCE_FLOATS);
    return BRAID_OK;
}

/* Parts of one group of a stream, in one split. */
static int64_t parts_of_group(const stream_shape *s) { return ceil_div(s->panels, s->panels_in_part); }

static int64_t count_parts(const wgrad *g) {
    int64_t parts = 0;
    for (int i = 0; i < g->streams; i++) parts += g->groups * parts_of_group(&g->stream[i]);
    return parts;
}

/* Where there are more columns than pixels, parts with fewer panels are cheaper than partial sums of all weights. */
static void shrink_parts(wgrad *g) {
    int64_t parts = count_parts(g);
    for (int i = 0; i < g->streams && parts < ENOUGH_PARTS; i++) {
        stream_shape *s = &g->stream[i];
        if (s->columns > g->pixels) s->panels_in_part = ceil_div(s->panels_in_part * parts, ENOUGH_PARTS);
    }
}

static braid_status split_pixels(wgrad *g) {
    shrink_parts(g);
    g->panel_parts = count_parts(g);
    g->splits = at_most(ceil_div(ENOUGH_PARTS, g->panel_parts), ceil_div(g->pixels, PIXELS_IN_SPLIT));
    if (g->splits < 1) g->splits = 1;
    g->panel_parts *= g->splits;
    if (g->splits == 1) {
        g->reduce_parts = 0;
        return BRAID_OK;
    }
    for (int i = 0; i < g->streams; i++) {
        const int64_t dims[2] = {g->splits, g->stream[i].weights};
        int64_t floats = 0;
        TRY(size_elements(dims, 2, "partial sums", &floats));
        g->stream[i].partial = g->workspace_floats;
        g->workspace_floats += floats;
    }
    return BRAID_OK;
}

static braid_status fill(wgrad *g, const braid_problem *p) {
    TRY(taps_create_forward(&g->map, p));
    const int64_t pixels[3] = {p->batch, g->map.out_size[0], g->map.out_size[1]};
    TRY(size_elements(pixels, 3, "output pixels", &g->pixels));
    for (int i = 0; i < g->streams; i++) TRY(shape_stream(g, p, i));
    return split_pixels(g);
}

braid_status wgrad_create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes) {
    wgrad *g = NULL;
    braid_problem conv = taps_problem(p);
    TRY(memory_calloc(1, sizeof *g, "state of a weight gradient", (void **)&g));
    g->tile = tile;
    g->streams = conv.streams;
    g->bias = conv.bias;
    g->groups = conv.groups;
    braid_status status = fill(g, &conv);
    if (!status) status = size_array((size_t)g->workspace_floats, sizeof(float), "partial sums", workspace_bytes);
    if (status) {
        wgrad_destroy(NULL, g);
        return status;
    }
    *state = g;
    return BRAID_OK;
}

void wgrad_destroy(device *d, void *state) {
    wgrad *g = state;
    (void)d;
    if (!g) return;
    taps_destroy(&g->map);
    memory_free(g);
}

/* ---- Panels -------------------------------------------------------------------------------- */

typedef struct part {
    const launch *l;
    const stream_shape *s;
    int stream;
    int64_t group, panel_begin, panel_end, pixel_begin, pixel_end;
    float *out; /* dw of the group, or the partial sums of the split */
} part;

/* A few active pixels: where their dy is, and the sample, row and column of the output they stand for. */
typedef struct pixel_list {
    int64_t count;
    const float *dy[PIXELS_AT_ONCE], *sample[PIXELS_AT_ONCE];
    int64_t y[PIXELS_AT_ONCE], x[PIXELS_AT_ONCE];
} pixel_list;

/* Columns that lie side by side in the source: of one tap, or of one filter row where that is dense. */
typedef struct segment {
    int64_t r, s, channel, count;
} segment;

/* Some columns of the weights, and what the filter saw there at the listed pixels. */
typedef struct column_panel {
    int n, direct; /* direct: the columns are whole vectors of one tap, and are used where they lie */
    int64_t first_column;
    int taps, rows;
    segment tap[GEMM_MAX_COLUMNS], row[GEMM_MAX_COLUMNS];
    const float *column[PIXELS_AT_ONCE];
    float gathered[PIXELS_AT_ONCE * GEMM_MAX_COLUMNS] __attribute__((aligned(64)));
    float zeros[GEMM_MAX_COLUMNS] __attribute__((aligned(64)));
} column_panel;

static void find_part(part *a, int64_t index) {
    const wgrad *g = a->l->g;
    int64_t split = index % g->splits;
    index /= g->splits;
    while (index >= g->groups * parts_of_group(&g->stream[a->stream])) {
        index -= g->groups * parts_of_group(&g->stream[a->stream++]);
    }
    a->s = &g->stream[a->stream];
    a->group = index / parts_of_group(a->s);
    a->panel_begin = index % parts_of_group(a->s) * a->s->panels_in_part;
    a->panel_end = at_most(a->panel_begin + a->s->panels_in_part, a->s->panels);
    threads_range(g->pixels, g->splits, split, &a->pixel_begin, &a->pixel_end);
    a->out = a->l->b->plane[CONV2D_W][a->stream];
    if (g->splits > 1) a->out = (float *)a->l->b->workspace + a->s->partial + split * a->s->weights;
    a->out += a->group * a->s->rows * a->s->columns;
}

/* Adds pixels from `next` on, up to `end` in the same sample or until there is no room. Returns the first not added. */
static int64_t add_pixels(const part *a, pixel_list *to, int64_t next, int64_t end) {
    const taps *map = &a->l->g->map;
    const float *dy = a->l->b->plane[CONV2D_Y][a->stream], *sample = a->l->b->plane[CONV2D_X][a->stream];
    int64_t x = next % map->out_size[1], y = next / map->out_size[1] % map->out_size[0];
    sample += next / map->out_size[1] / map->out_size[0] * map->in_size[0] * map->in_size[1] * a->s->in_pitch;
    for (; next < end && to->count < PIXELS_AT_ONCE; next++, to->count++) {
        to->dy[to->count] = dy + next * a->s->out_pitch + a->group * a->s->rows;
        to->sample[to->count] = sample;
        to->y[to->count] = y;
        to->x[to->count] = x;
        if (++x == map->out_size[1]) x = 0, y++;
    }
    return next;
}

/* Lists up to PIXELS_AT_ONCE active pixels from `next` on. Returns the first not looked at. */
static int64_t list_pixels(const part *a, pixel_list *to, int64_t next) {
    const uint32_t *mask = a->l->b->plane[CONV2D_MASK][a->stream];
    int64_t sample_pixels = a->l->g->map.out_size[0] * a->l->g->map.out_size[1];
    to->count = 0;
    while (next < a->pixel_end && to->count < PIXELS_AT_ONCE) {
        int64_t sample = next / sample_pixels, end = at_most((sample + 1) * sample_pixels, a->pixel_end);
        next = mask_blanks(mask, sample) ? end : add_pixels(a, to, next, end);
    }
    return next;
}

/* Cuts the columns of the panel into segments, each within `unit` columns: a tap or a filter row. */
static int find_segments(const part *a, const column_panel *c, int64_t unit, segment *to) {
    int64_t column = c->first_column, end = c->first_column + c->n;
    int count = 0;
    while (column < end) {
        segment *t = &to[count++];
        int64_t tap = column / a->s->depth;
        t->r = tap / a->l->g->map.filter[1];
        t->s = tap % a->l->g->map.filter[1];
        t->channel = a->group * a->s->depth + column % a->s->depth;
        t->count = at_most(unit - column % unit, end - column);
        column += t->count;
    }
    return count;
}

static void find_columns(const part *a, column_panel *c, int64_t panel) {
    const gemm_tile *tile = a->l->g->tile;
    c->first_column = panel * tile->columns;
    c->n = (int)at_most(a->s->columns - c->first_column, tile->columns);
    c->taps = find_segments(a, c, a->s->depth, c->tap);
    c->rows = 0;
    if (a->s->in_pitch == a->s->depth) c->rows = find_segments(a, c, a->l->g->map.filter[1] * a->s->depth, c->row);
    c->direct = c->taps == 1 && (c->n == tile->columns || c->n == tile->columns / 2) && a->s->rows <= DIRECT_ROWS;
}

/* Where a segment starts for listed pixel i; NULL: in the padding. */
static inline const float *find_source(const part *a, const segment *t, const pixel_list *from, int64_t i) {
    const taps *map = &a->l->g->map;
    int64_t row = map->source[0][from->y[i] * map->filter[0] + t->r];
    int64_t column = map->source[1][from->x[i] * map->filter[1] + t->s];
    if ((row | column) < 0) return NULL;
    return from->sample[i] + (row * map->in_size[1] + column) * a->s->in_pitch + t->channel;
}

/* Copies what the filter saw at listed pixel i. */
static void gather(const part *a, const column_panel *c, const pixel_list *from, int64_t i, float *to) {
    int dense = c->rows && a->l->g->map.dense[from->x[i]];
    const segment *segments = dense ? c->row : c->tap;
    int count = dense ? c->rows : c->taps;
    for (int j = 0; j < count; j++) {
        const float *source = find_source(a, &segments[j], from, i);
        if (source)
            copy_floats(to, source, segments[j].count);
        else
            zero_floats(to, segments[j].count);
        to += segments[j].count;
    }
}

static void fill_columns(const part *a, column_panel *c, const pixel_list *from) {
    int64_t width = a->l->g->tile->columns;
    for (int64_t i = 0; i < from->count; i++) {
        const float *source = c->direct ? find_source(a, c->tap, from, i) : c->gathered + i * width;
        if (!c->direct) gather(a, c, from, i, c->gathered + i * width);
        c->column[i] = source ? source : c->zeros;
    }
}

static void run_panel(const part *a, const column_panel *c, const pixel_list *from, int accumulate) {
    const gemm_tile *tile = a->l->g->tile;
    gemm_outer run = {.n = c->n, .accumulate = accumulate, .depth = from->count, .pitch = a->s->columns};
    int64_t tiles = ceil_div(a->s->rows, tile->rows);
    run.row = from->dy;
    run.column = c->column;
    for (int64_t t = 0; t < tiles; t++) {
        int64_t end;
        threads_range(a->s->rows, tiles, t, &run.first, &end);
        run.m = (int)(end - run.first);
        run.out = a->out + run.first * a->s->columns + c->first_column;
        tile->run_outer(&run);
    }
}

static void run_panels(const launch *l, int64_t index) {
    part a = {.l = l};
    pixel_list list;
    column_panel c;
    zero_floats(c.gathered, PIXELS_AT_ONCE * GEMM_MAX_COLUMNS); /* so that lanes behind the last column are numbers */
    zero_floats(c.zeros, GEMM_MAX_COLUMNS);
    find_part(&a, index);
    int64_t next = a.pixel_begin;
    do {
        int accumulate = next > a.pixel_begin;
        next = list_pixels(&a, &list, next);
        for (int64_t panel = a.panel_begin; panel < a.panel_end; panel++) {
            find_columns(&a, &c, panel);
            fill_columns(&a, &c, &list);
            run_panel(&a, &c, &list, accumulate);
        }
    } while (next < a.pixel_end);
}

/* ---- Bias and reduction -------------------------------------------------------------------- */

/* total += the sum of n channels from `first` on, over [begin, end) pixels. */
static void sum_pixels(double *total, const float *first, int64_t pitch, int64_t begin, int64_t end, int n) {
    while (begin < end) {
        int64_t stop = at_most(begin + PIXELS_AT_ONCE, end);
        float sum[BIAS_LANES] = {0};
        for (; begin < stop; begin++) {
            const float *pixel = first + begin * pitch;
            if (n == BIAS_LANES) {
                for (int j = 0; j < BIAS_LANES; j++) sum[j] += pixel[j];
            } else {
                for (int j = 0; j < n; j++) sum[j] += pixel[j];
            }
        }
        for (int j = 0; j < n; j++) total[j] += (double)sum[j];
    }
}

static void run_bias(const launch *l, int64_t index) {
    const wgrad *g = l->g;
    int i = 0;
    while (index >= ceil_div(g->stream[i].out_channels, BIAS_LANES)) {
        index -= ceil_div(g->stream[i++].out_channels, BIAS_LANES);
    }
    const stream_shape *s = &g->stream[i];
    const uint32_t *mask = l->b->plane[CONV2D_MASK][i];
    float *dbias = l->b->plane[CONV2D_BIAS][i];
    if (!dbias) return;
    int64_t first = index * BIAS_LANES, sample_pixels = g->map.out_size[0] * g->map.out_size[1];
    int n = (int)at_most(s->out_channels - first, BIAS_LANES);
    double total[BIAS_LANES] = {0};
    for (int64_t at = 0; at < g->pixels; at += sample_pixels) {
        if (mask_blanks(mask, at / sample_pixels)) continue;
        sum_pixels(total, (const float *)l->b->plane[CONV2D_Y][i] + first, s->out_pitch, at, at + sample_pixels, n);
    }
    for (int j = 0; j < n; j++) dbias[first + j] = (float)total[j];
}

static void run_part(void *context, int64_t index) {
    const launch *l = context;
    if (index < l->g->panel_parts)
        run_panels(l, index);
    else
        run_bias(l, index - l->g->panel_parts);
}

/* dw = the partial sums of the splits, added in their order. */
static void reduce_part(void *context, int64_t index) {
    const launch *l = context;
    const wgrad *g = l->g;
    int i = 0;
    while (index >= ceil_div(g->stream[i].weights, REDUCE_FLOATS))
        index -= ceil_div(g->stream[i++].weights, REDUCE_FLOATS);
    const stream_shape *s = &g->stream[i];
    int64_t begin = index * REDUCE_FLOATS, end = at_most(begin + REDUCE_FLOATS, s->weights);
    const float *partial = (const float *)l->b->workspace + s->partial;
    float *dw = l->b->plane[CONV2D_W][i];
    memcpy(dw + begin, partial + begin, (size_t)(end - begin) * sizeof *dw);
    for (int64_t split = 1; split < g->splits; split++) {
        for (int64_t j = begin; j < end; j++) dw[j] += partial[split * s->weights + j];
    }
}

braid_status wgrad_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const wgrad *g = state;
    launch l = {g, b};
    (void)p;
    (void)d;
    threads_for(g->panel_parts + (g->bias ? g->bias_parts : 0), run_part, &l);
    threads_for(g->reduce_parts, reduce_part, &l);
    return BRAID_OK;
}

double wgrad_cost(const braid_problem *p, const gemm_tile *tile) { return cost_seconds(p, tile->flops, 2, 2e-6); }
