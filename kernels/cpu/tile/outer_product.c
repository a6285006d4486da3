/*
 * The weight gradient of outer_product.h. A part makes some panels of columns of one group of one stream over one
 * split of the pixels, a few pixels at a time; blanked samples are left out when the pixels are listed,
 * before anything is read. For some rows of the weights at a time, floats of dy are laid side by side, tile by tile, so
 * that pixels which lie a power of two apart do not drive each other out of the first-level cache; halves are packed
 * or made floats, and their sums wait in the workspace for the one rounding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/outer_product.h"

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/isa/copy.h"
#include "kernels/cpu/tile/taps.h"

#define UNITS_AT_ONCE 128  /* of pixels: listed, and gathered into a panel of 16 KiB */
#define PIXELS_AT_ONCE 256 /* where a unit holds two; the sums of dbias too are made of so many */
#define ROWS_AT_ONCE 128   /* of dy that are packed, into 64 KiB on the stack */
#define LAID_ROWS 176      /* as many laid in whole vectors, by any tile */
#define FAR_APART 512      /* floats from pixel to pixel: with so many, columns are laid side by side, too */
#define PATCH_COLUMNS 160  /* with at most so many, and few channels, all columns of a pixel are gathered at once */
#define PATCH_CHANNELS 16
#define PART_FLOATS 65536 /* of dw that a part works on: 256 KiB of the second-level cache */
#define ENOUGH_PARTS 24   /* with fewer, the parts get fewer panels or the pixels are split */
#define PIXELS_IN_SPLIT 512
#define SMALL_PRODUCTS 131072 /* of all streams: below, waking another thread costs more than it does */
#define BIAS_LANES 16
#define REDUCE_FLOATS 4096

typedef struct stream_shape {
    int64_t rows, depth, columns; /* of one group: K, C, and taps * C */
    int64_t in_pitch, out_pitch, out_channels;
    int64_t rows_in_part, row_parts; /* of one group */
    int64_t panels, panels_in_part;  /* of one group */
    int64_t partial;                 /* where the partial sums start in the workspace, in floats */
    int64_t weights;                 /* floats of dw: the distance of two splits */
} stream_shape;

typedef struct outer_product {
    const gemm_tile *tile;
    const halves *halves; /* of the planes; NULL: they hold floats */
    int64_t bytes;        /* of a number in the planes */
    taps map;
    int streams, bias;
    int64_t groups, pixels, splits;
    stream_shape stream[BRAID_MAX_PLANES];
    int64_t panel_parts, bias_parts, reduce_parts, workspace_floats;
} outer_product;

typedef struct launch {
    const outer_product *g;
    const buffers *b;
} launch;

/* ---- Create -------------------------------------------------------------------------------- */

static braid_status shape_stream(outer_product *g, const braid_problem *p, int i) {
    stream_shape *s = &g->stream[i];
    const int64_t dims[4] = {p->out_channels[i], p->filter[0], p->filter[1], p->in_channels[i] / p->groups};
    s->rows = p->out_channels[i] / p->groups;
    s->depth = dims[3];
    s->columns = dims[1] * dims[2] * dims[3];
    s->in_pitch = p->in_pitch[i];
    s->out_pitch = p->out_pitch[i];
    s->out_channels = p->out_channels[i];
    s->rows_in_part = at_most(s->rows, ROWS_AT_ONCE);
    s->row_parts = ceil_div(s->rows, s->rows_in_part);
    s->panels = ceil_div(s->columns, g->tile->columns);
    s->panels_in_part = at_most(ceil_div(PART_FLOATS, s->rows_in_part * g->tile->columns), s->panels);
    if (s->panels_in_part < 1) s->panels_in_part = 1; /* no columns, no parts */
    g->bias_parts += ceil_div(s->out_channels, BIAS_LANES);
    TRY(size_elements(dims, 4, "weight gradient", &s->weights));
    g->reduce_parts += ceil_div(s->weights, REDUCE_FLOATS);
    return BRAID_OK;
}

/* Parts of one group of a stream, in one split. */
static int64_t parts_of_group(const stream_shape *s) { return ceil_div(s->panels, s->panels_in_part) * s->row_parts; }

static int64_t count_parts(const outer_product *g) {
    int64_t parts = 0;
    for (int i = 0; i < g->streams; i++) parts += g->groups * parts_of_group(&g->stream[i]);
    return parts;
}

/* Where there are more columns than pixels, parts with fewer panels are cheaper than partial sums of all weights. */
static void shrink_parts(outer_product *g) {
    int64_t parts = count_parts(g);
    double products = 0;
    for (int i = 0; i < g->streams; i++) products += (double)g->stream[i].weights * (double)g->pixels;
    if (products < SMALL_PRODUCTS) return;
    for (int i = 0; i < g->streams && parts < ENOUGH_PARTS; i++) {
        stream_shape *s = &g->stream[i];
        if (s->columns > g->pixels) s->panels_in_part = ceil_div(s->panels_in_part * parts, ENOUGH_PARTS);
    }
}

static braid_status split_pixels(outer_product *g) {
    shrink_parts(g);
    g->panel_parts = count_parts(g);
    g->splits = 1; /* also where no stream has a column: dbias alone is wanted */
    if (g->panel_parts > 0)
        g->splits = at_most(ceil_div(ENOUGH_PARTS, g->panel_parts), ceil_div(g->pixels, PIXELS_IN_SPLIT));
    if (g->splits < 1) g->splits = 1;
    g->panel_parts *= g->splits;
    if (g->splits == 1 && !g->halves) {
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

static braid_status fill(outer_product *g, const braid_problem *p) {
    TRY(taps_create_forward(&g->map, p));
    const int64_t pixels[3] = {p->batch, g->map.out_size[0], g->map.out_size[1]};
    TRY(size_elements(pixels, 3, "output pixels", &g->pixels));
    for (int i = 0; i < g->streams; i++) TRY(shape_stream(g, p, i));
    return split_pixels(g);
}

braid_status outer_product_create(const braid_problem *p, const gemm_tile *tile, void **state,
                                  size_t *workspace_bytes) {
    outer_product *g = NULL;
    braid_problem conv = taps_problem(p);
    TRY(memory_calloc(1, sizeof *g, "state of a weight gradient", (void **)&g));
    g->tile = tile;
    g->bytes = (int64_t)dtype_bytes(p->dtype);
    g->halves = gemm_halves(tile, p->dtype);
    g->streams = conv.streams;
    g->bias = conv.bias;
    g->groups = conv.groups;
    braid_status status = fill(g, &conv);
    if (!status) status = size_array((size_t)g->workspace_floats, sizeof(float), "partial sums", workspace_bytes);
    if (status) {
        outer_product_destroy(NULL, g);
        return status;
    }
    *state = g;
    return BRAID_OK;
}

void outer_product_destroy(device *d, void *state) {
    outer_product *g = state;
    (void)d;
    if (!g) return;
    taps_destroy(&g->map);
    memory_free(g);
}

braid_problem outer_product_bias_problem(const braid_problem *conv) {
    braid_problem q = *conv;
    q.groups = 1;
    for (int axis = 0; axis < 2; axis++) {
        q.size[axis] = conv2d_out_size(conv, axis);
        q.filter[axis] = q.stride[axis] = q.dilation[axis] = 1;
        q.padding[axis] = q.extra_padding[axis] = 0;
    }
    for (int i = 0; i < q.streams; i++) q.in_channels[i] = q.in_pitch[i] = 0;
    return q;
}

/* ---- Panels -------------------------------------------------------------------------------- */

typedef struct part {
    const launch *l;
    const stream_shape *s;
    int stream;
    int64_t group, row_begin, row_end, panel_begin, panel_end, pixel_begin, pixel_end;
    float *out; /* dw of the group, or the partial sums of the split */
} part;

/* A few active pixels: where their dy is, and the sample, row and column of the output they stand for. */
typedef struct pixel_list {
    int64_t most, count;
    union {
        const float *floats[PIXELS_AT_ONCE];
        const uint16_t *halves[PIXELS_AT_ONCE];
    } dy; /* from the first row of the part on */
    const unsigned char *sample[PIXELS_AT_ONCE];
    int64_t y[PIXELS_AT_ONCE], x[PIXELS_AT_ONCE];
} pixel_list;

/* Columns that lie side by side in the source: of one tap, or of one filter row where that is dense. */
typedef struct segment {
    int64_t r, s, channel, count;
} segment;

/* Some columns of the weights, and what the filter saw there at the listed pixels. */
typedef struct column_panel {
    int n, direct; /* direct: the columns are floats, whole vectors of one tap, and need no gathering */
    int64_t first_column;
    int taps, rows;
    segment tap[GEMM_MAX_COLUMNS], row[GEMM_MAX_COLUMNS];
    const float *column[UNITS_AT_ONCE];
    float gathered[UNITS_AT_ONCE * PATCH_COLUMNS] __attribute__((aligned(64))); /* [panel], or units of another kind */
    float zeros[GEMM_MAX_COLUMNS] __attribute__((aligned(64)));
} column_panel;

static void find_part(part *a, int64_t index) {
    const outer_product *g = a->l->g;
    int64_t split = index % g->splits;
    index /= g->splits;
    while (index >= g->groups * parts_of_group(&g->stream[a->stream])) {
        index -= g->groups * parts_of_group(&g->stream[a->stream++]);
    }
    a->s = &g->stream[a->stream];
    a->group = index / parts_of_group(a->s);
    index %= parts_of_group(a->s);
    a->row_begin = index % a->s->row_parts * a->s->rows_in_part;
    a->row_end = at_most(a->row_begin + a->s->rows_in_part, a->s->rows);
    a->panel_begin = index / a->s->row_parts * a->s->panels_in_part;
    a->panel_end = at_most(a->panel_begin + a->s->panels_in_part, a->s->panels);
    threads_range(g->pixels, g->splits, split, &a->pixel_begin, &a->pixel_end);
    a->out = a->l->b->plane[CONV2D_W][a->stream];
    if (g->reduce_parts) a->out = (float *)a->l->b->workspace + a->s->partial + split * a->s->weights;
    a->out += (a->group * a->s->rows + a->row_begin) * a->s->columns;
}

/* Adds pixels from `next` on, up to `end` in the same sample or until there is no room. Returns the first not added. */
static int64_t add_pixels(const part *a, pixel_list *to, int64_t next, int64_t end) {
    const taps *map = &a->l->g->map;
    const void *dy = a->l->b->plane[CONV2D_Y][a->stream];
    const unsigned char *sample = a->l->b->plane[CONV2D_X][a->stream];
    int64_t x = next % map->out_size[1], y = next / map->out_size[1] % map->out_size[0];
    int64_t first_pixel = next / map->out_size[1] / map->out_size[0] * map->in_size[0] * map->in_size[1];
    sample += first_pixel * a->s->in_pitch * a->l->g->bytes;
    for (; next < end && to->count < to->most; next++, to->count++) {
        int64_t at = next * a->s->out_pitch + a->group * a->s->rows + a->row_begin;
        if (a->l->g->halves)
            to->dy.halves[to->count] = (const uint16_t *)dy + at;
        else
            to->dy.floats[to->count] = (const float *)dy + at;
        to->sample[to->count] = sample;
        to->y[to->count] = y;
        to->x[to->count] = x;
        if (++x == map->out_size[1]) x = 0, y++;
    }
    return next;
}

/* Lists active pixels from `next` on, as many as there is room for. Returns the first not looked at. */
static int64_t list_pixels(const part *a, pixel_list *to, int64_t next) {
    const uint32_t *mask = a->l->b->plane[CONV2D_MASK][a->stream];
    int64_t sample_pixels = a->l->g->map.out_size[0] * a->l->g->map.out_size[1];
    to->count = 0;
    while (next < a->pixel_end && to->count < to->most) {
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
    c->direct = c->taps == 1 && (c->n == tile->columns || c->n == tile->columns / 2) && !a->l->g->halves;
}

/* Where a segment starts for listed pixel i; NULL: in the padding. */
static inline const void *find_source(const part *a, const segment *t, const pixel_list *from, int64_t i) {
    const taps *map = &a->l->g->map;
    int64_t row = map->source[0][from->y[i] * map->filter[0] + t->r];
    int64_t column = map->source[1][from->x[i] * map->filter[1] + t->s];
    if ((row | column) < 0) return NULL;
    return from->sample[i] + ((row * map->in_size[1] + column) * a->s->in_pitch + t->channel) * a->l->g->bytes;
}

/* Copies what the filter saw at listed pixel i: numbers of the planes, or floats where `wide`. */
static void gather(const part *a, const column_panel *c, const pixel_list *from, int64_t i, void *to, int wide) {
    const outer_product *g = a->l->g;
    int dense = c->rows && g->map.dense[from->x[i]];
    const segment *segments = dense ? c->row : c->tap;
    int count = dense ? c->rows : c->taps;
    int64_t bytes = wide ? (int64_t)sizeof(float) : g->bytes;
    unsigned char *at = to;
    for (int j = 0; j < count; at += segments[j++].count * bytes) {
        const void *source = find_source(a, &segments[j], from, i);
        if (!source)
            zero_bytes(at, segments[j].count * bytes);
        else if (wide)
            g->halves->widen((float *)(void *)at, source, segments[j].count);
        else
            copy_bytes(at, source, segments[j].count * bytes);
    }
}

/* The numbers of listed pixel i, where they lie if that is in one place, else in `copy`. */
static const uint16_t *find_numbers(const part *a, const column_panel *c, const pixel_list *from, int64_t i,
                                    uint16_t *copy) {
    if (c->taps == 1) {
        const void *source = find_source(a, c->tap, from, i);
        return source ? source : (const void *)c->zeros;
    }
    gather(a, c, from, i, copy, 0);
    return copy;
}

/* The same for every column there is: filter rows that are dense are copied whole. */
static void gather_patch(const part *a, const pixel_list *from, int64_t i, uint16_t *to) {
    const taps *map = &a->l->g->map;
    const int64_t depth = a->s->depth, pitch = a->s->in_pitch, line = map->filter[1] * depth;
    const int dense = map->dense[from->x[i]] && pitch == depth;
    const int32_t *columns = map->source[1] + from->x[i] * map->filter[1];
    const uint16_t *sample = (const uint16_t *)(const void *)from->sample[i] + a->group * depth;
    for (int64_t r = 0; r < map->filter[0]; r++, to += line) {
        const int64_t row = map->source[0][from->y[i] * map->filter[0] + r];
        const uint16_t *source = sample + row * map->in_size[1] * pitch;
        if (row < 0)
            zero_bytes(to, line * 2);
        else if (dense)
            copy_bytes(to, source + columns[0] * pitch, line * 2);
        for (int64_t s = 0; s < map->filter[1] && row >= 0 && !dense; s++) {
            if (columns[s] < 0)
                zero_bytes(to + s * depth, depth * 2);
            else
                copy_bytes(to + s * depth, source + columns[s] * pitch, depth * 2);
        }
    }
}

/* All panels of the part, where the columns are few: [panel][units][tile->columns]. */
static void fill_patches(const part *a, column_panel *c, const pixel_list *from) {
    const gemm_tile *tile = a->l->g->tile;
    const int64_t units = gemm_units(tile, from->count), padded = ceil_div(units, GEMM_PACKED_STEP) * GEMM_PACKED_STEP;
    uint16_t patch[2][PATCH_COLUMNS] = {{0}};
    for (int64_t t = 0; t < padded; t++) {
        const int some = t < units, both = 2 * t + 1 < from->count;
        if (some) gather_patch(a, from, 2 * t, patch[0]);
        if (both) gather_patch(a, from, 2 * t + 1, patch[1]);
        for (int64_t panel = a->panel_begin; panel < a->panel_end; panel++) {
            const int64_t first = panel * tile->columns;
            float *to = c->gathered + ((panel - a->panel_begin) * UNITS_AT_ONCE + t) * tile->columns;
            if (some)
                tile->pack_pair((uint32_t *)(void *)to, patch[0] + first, both ? patch[1] + first : NULL,
                                tile->columns);
            else
                zero_floats(to, tile->columns);
        }
    }
}

static void fill_pairs(const part *a, column_panel *c, const pixel_list *from) {
    const gemm_tile *tile = a->l->g->tile;
    const int64_t units = gemm_units(tile, from->count), padded = ceil_div(units, GEMM_PACKED_STEP) * GEMM_PACKED_STEP;
    uint32_t *to = (uint32_t *)(void *)c->gathered;
    for (int64_t t = 0; t < units; t++, to += tile->columns) {
        uint16_t copy[2][GEMM_MAX_COLUMNS];
        const uint16_t *low = find_numbers(a, c, from, 2 * t, copy[0]), *high = NULL;
        if (2 * t + 1 < from->count) high = find_numbers(a, c, from, 2 * t + 1, copy[1]);
        tile->pack_pair(to, low, high, c->n);
    }
    zero_floats(c->gathered + units * tile->columns, (padded - units) * tile->columns);
}

static void fill_columns(const part *a, column_panel *c, const pixel_list *from) {
    int64_t width = a->l->g->tile->columns;
    if (gemm_is_bf16(a->l->g->tile)) {
        fill_pairs(a, c, from);
        return;
    }
    for (int64_t i = 0; i < from->count; i++) {
        const float *source = c->direct ? find_source(a, c->tap, from, i) : c->gathered + i * width;
        if (!c->direct) {
            gather(a, c, from, i, c->gathered + i * width, a->l->g->halves != NULL);
            zero_floats(c->gathered + i * width + c->n, width - c->n); /* so that these lanes are numbers */
        }
        c->column[i] = source ? source : c->zeros;
    }
    if (!c->direct || a->s->in_pitch < FAR_APART) return;
    a->l->g->tile->lay(c->gathered, c->column, from->count, 0, c->n);
    for (int64_t i = 0; i < from->count; i++) c->column[i] = c->gathered + i * c->n;
}

/* The rows of dy at the listed pixels: as the tile packs them, [pixel][rows] where they were halves, or
 * [tile][pixel][a vector]. */
typedef struct row_panel {
    float packed[UNITS_AT_ONCE * LAID_ROWS] __attribute__((aligned(64))); /* or units of another kind */
} row_panel;

static void fill_rows(const part *a, row_panel *r, const pixel_list *from) {
    const outer_product *g = a->l->g;
    int64_t rows = a->row_end - a->row_begin;
    if (gemm_is_bf16(g->tile)) {
        g->tile->pack_rows((uint32_t *)(void *)r->packed, from->dy.halves, from->count, rows);
        return;
    }
    for (int64_t i = 0; i < from->count && g->halves; i++)
        g->halves->widen(r->packed + i * rows, from->dy.halves[i], rows);
    const int64_t tiles = ceil_div(rows, g->tile->rows);
    for (int64_t t = 0; t < tiles && !g->halves; t++) {
        int64_t begin, end;
        threads_range(rows, tiles, t, &begin, &end);
        g->tile->lay(r->packed + t * from->count * (g->tile->columns / 2), from->dy.floats, from->count, begin,
                     (int)(end - begin));
    }
}

/* `columns` are the gathered columns of the panel. */
static void run_panel(const part *a, const row_panel *r, const column_panel *c, const float *columns, int64_t depth,
                      int accumulate) {
    const gemm_tile *tile = a->l->g->tile;
    int64_t rows = a->row_end - a->row_begin, tiles = ceil_div(rows, tile->rows);
    int in_blocks = tile->rows % GEMM_PACKED_STEP == 0;
    gemm_outer run = {.n = c->n, .accumulate = accumulate, .depth = depth, .pitch = a->s->columns};
    run.column = c->column;
    run.packed_rows = (const uint32_t *)(const void *)r->packed;
    run.packed_columns = (const uint32_t *)(const void *)columns;
    run.row_count = rows;
    run.row_pitch = a->l->g->halves ? rows : tile->columns / 2;
    for (int64_t t = 0; t < tiles; t++) {
        int64_t end;
        threads_range(rows, tiles, t, &run.first, &end);
        if (in_blocks) {
            run.first = t * tile->rows;
            end = at_most(run.first + tile->rows, rows);
        }
        run.m = (int)(end - run.first);
        run.rows = r->packed + (a->l->g->halves ? run.first : t * depth * run.row_pitch);
        run.out = a->out + run.first * a->s->columns + c->first_column;
        tile->run_outer(&run);
    }
}

static void run_panels(const launch *l, int64_t index) {
    part a = {.l = l};
    pixel_list list;
    row_panel r;
    column_panel c;
    list.most = gemm_is_bf16(l->g->tile) ? PIXELS_AT_ONCE : UNITS_AT_ONCE;
    zero_floats(c.zeros, GEMM_MAX_COLUMNS);
    find_part(&a, index);
    const int patches =
        gemm_is_bf16(l->g->tile) && a.s->depth < PATCH_CHANNELS && a.s->panels * l->g->tile->columns <= PATCH_COLUMNS;
    int64_t next = a.pixel_begin;
    gemm_enter(l->g->tile);
    do {
        int accumulate = next > a.pixel_begin;
        next = list_pixels(&a, &list, next);
        fill_rows(&a, &r, &list);
        if (patches) fill_patches(&a, &c, &list);
        for (int64_t panel = a.panel_begin; panel < a.panel_end; panel++) {
            int64_t at = patches ? (panel - a.panel_begin) * UNITS_AT_ONCE * l->g->tile->columns : 0;
            find_columns(&a, &c, panel);
            if (!patches) fill_columns(&a, &c, &list);
            run_panel(&a, &r, &c, c.gathered + at, list.count, accumulate);
        }
    } while (next < a.pixel_end);
    gemm_leave(l->g->tile);
}

/* ---- Bias and reduction -------------------------------------------------------------------- */

/* sum[j] += channel j of one pixel, for n channels from number `at` of dy on. */
static inline void sum_pixel(const outer_product *g, float *sum, const void *dy, int64_t at, int n) {
    float wide[BIAS_LANES];
    const float *pixel = wide;
    if (g->halves)
        g->halves->widen(wide, (const uint16_t *)dy + at, n);
    else
        pixel = (const float *)dy + at;
    if (n == BIAS_LANES) {
        for (int j = 0; j < BIAS_LANES; j++) sum[j] += pixel[j];
    } else {
        for (int j = 0; j < n; j++) sum[j] += pixel[j];
    }
}

/* total += the sum of n channels from `first` on, over [begin, end) pixels, in pieces of floats. */
static void sum_pixels(const outer_product *g, double *total, const void *dy, int64_t first, int64_t pitch,
                       int64_t begin, int64_t end, int n) {
    while (begin < end) {
        int64_t stop = at_most(begin + UNITS_AT_ONCE, end);
        float sum[BIAS_LANES] = {0};
        for (; begin < stop; begin++) sum_pixel(g, sum, dy, first + begin * pitch, n);
        for (int j = 0; j < n; j++) total[j] += (double)sum[j];
    }
}

static void run_bias(const launch *l, int64_t index) {
    const outer_product *g = l->g;
    int i = 0;
    while (index >= ceil_div(g->stream[i].out_channels, BIAS_LANES)) {
        index -= ceil_div(g->stream[i++].out_channels, BIAS_LANES);
    }
    const stream_shape *s = &g->stream[i];
    const uint32_t *mask = l->b->plane[CONV2D_MASK][i];
    void *dbias = l->b->plane[CONV2D_BIAS][i];
    if (!dbias) return;
    int64_t first = index * BIAS_LANES, sample_pixels = g->map.out_size[0] * g->map.out_size[1];
    int n = (int)at_most(s->out_channels - first, BIAS_LANES);
    double total[BIAS_LANES] = {0};
    float sum[BIAS_LANES];
    for (int64_t at = 0; at < g->pixels; at += sample_pixels) {
        if (mask_blanks(mask, at / sample_pixels)) continue;
        sum_pixels(g, total, l->b->plane[CONV2D_Y][i], first, s->out_pitch, at, at + sample_pixels, n);
    }
    for (int j = 0; j < n; j++) sum[j] = (float)total[j];
    if (g->halves)
        g->halves->narrow((uint16_t *)dbias + first, sum, n);
    else
        copy_floats((float *)dbias + first, sum, n);
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
    const outer_product *g = l->g;
    int i = 0;
    while (index >= ceil_div(g->stream[i].weights, REDUCE_FLOATS))
        index -= ceil_div(g->stream[i++].weights, REDUCE_FLOATS);
    const stream_shape *s = &g->stream[i];
    int64_t begin = index * REDUCE_FLOATS, end = at_most(begin + REDUCE_FLOATS, s->weights);
    const float *partial = (const float *)l->b->workspace + s->partial;
    float sums[REDUCE_FLOATS], *dw = g->halves ? sums : (float *)l->b->plane[CONV2D_W][i] + begin;
    add_splits(dw, partial + begin, s->weights, g->splits, end - begin);
    if (g->halves) g->halves->narrow((uint16_t *)l->b->plane[CONV2D_W][i] + begin, sums, end - begin);
}

braid_status outer_product_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const outer_product *g = state;
    launch l = {g, b};
    (void)p;
    (void)d;
    threads_for(g->panel_parts + (g->bias ? g->bias_parts : 0), run_part, &l);
    threads_for(g->reduce_parts, reduce_part, &l);
    return BRAID_OK;
}

double outer_product_cost(const braid_problem *p, const machine *on, const gemm_tile *tile) {
    return cost_seconds(p, on, tile->flops, 2, 2e-6);
}
