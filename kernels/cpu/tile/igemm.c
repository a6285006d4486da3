/*
 * The indirect matrix product of igemm.h. A launch packs the weights, then runs parts: a part is a
 * range of pixels of one class of one group of one stream, times a range of panels that stay in the
 * second-level cache while the pixels pass. Parts depend on the problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/igemm.h"

#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/cost.h"
#include "kernels/cpu/tile/pack.h"
#include "kernels/cpu/tile/parts.h"
#include "kernels/cpu/tile/taps.h"

#define TAPS_AT_ONCE 64    /* pointers of so many taps are on the stack */
#define TILES_IN_PART 16   /* of pixels */
#define PANEL_FLOATS 65536 /* of the panels of a part: 256 KiB of the second-level cache */
#define MERGED_DEPTH 64    /* longest filter row that is read as one tap, where the channels are few */
#define MERGED_CHANNELS 16 /* fewer are few */
#define MERGED_FLOATS 8192 /* on the stack, for copies of filter rows that touch the padding */
#define PACK_FLOATS 16384  /* packed by a part, about */
#define PACK_PARTS 256     /* at most */

typedef enum igemm_direction { IGEMM_FORWARD, IGEMM_BACKWARD } igemm_direction;

/* The pixels that one set of taps reaches: origin, origin + step, ... along each axis. */
typedef struct pixel_class {
    int64_t origin[2], extent[2];
    int64_t first_tap, tap_count; /* in igemm.tap */
} pixel_class;

typedef struct stream_shape {
    int64_t depth, columns; /* of one group: channels summed over, channels made */
    int64_t in_pitch, out_pitch, out_channels;
    int64_t panels, panels_in_part; /* of one group */
    int64_t packed;                 /* where the panels start in the workspace, in floats */
    int64_t parts_of_group;
} stream_shape;

typedef struct igemm {
    const gemm_tile *tile;
    igemm_direction direction;
    int streams, merged; /* merged: the taps of a filter row are one tap of filter width * depth */
    int64_t batch, groups, step[2];
    taps map;
    int64_t tap_count;
    int32_t (*tap)[2]; /* row and column of each tap, in the order of the panels */
    int64_t class_count;
    pixel_class *classes;
    stream_shape stream[BRAID_MAX_PLANES];
    int64_t zero_floats, workspace_floats, parts, pack_units, pack_parts;
} igemm;

typedef struct launch {
    const igemm *g;
    const buffers *b;
    const float *zeros;
    float *packed;
} launch;

static int64_t class_pixels(const igemm *g, const pixel_class *c) { return g->batch * c->extent[0] * c->extent[1]; }

static int64_t class_chunks(const igemm *g, const pixel_class *c) {
    return ceil_div(class_pixels(g, c), (int64_t)g->tile->rows * TILES_IN_PART);
}

/* ---- Create -------------------------------------------------------------------------------- */

/* The class of a tap along one axis: the remainder of the pixels it reaches. */
static int64_t tap_remainder(const igemm *g, const braid_problem *p, int axis, int64_t tap) {
    int64_t step = g->step[axis];
    return ((tap * p->dilation[axis] - p->padding[axis]) % step + step) % step;
}

static void fill_class(igemm *g, const braid_problem *p, int64_t index, int64_t *next_tap) {
    pixel_class *c = &g->classes[index];
    c->origin[0] = index / g->step[1];
    c->origin[1] = index % g->step[1];
    for (int axis = 0; axis < 2; axis++) {
        int64_t size = g->map.out_size[axis];
        c->extent[axis] = c->origin[axis] < size ? ceil_div(size - c->origin[axis], g->step[axis]) : 0;
    }
    c->first_tap = *next_tap;
    for (int64_t r = 0; r < p->filter[0]; r++) {
        if (tap_remainder(g, p, 0, r) != c->origin[0]) continue;
        for (int64_t s = 0; s < p->filter[1]; s++) {
            if (tap_remainder(g, p, 1, s) != c->origin[1]) continue;
            g->tap[*next_tap][0] = (int32_t)r;
            g->tap[*next_tap][1] = (int32_t)s;
            ++*next_tap;
        }
    }
    c->tap_count = *next_tap - c->first_tap;
}

static braid_status make_tables(igemm *g, const braid_problem *p) {
    int64_t next_tap = 0;
    TRY(g->direction == IGEMM_FORWARD ? taps_create_forward(&g->map, p) : taps_create_backward(&g->map, p));
    TRY(size_elements(p->filter, 2, "filter taps", &g->tap_count));
    TRY(memory_alloc((size_t)g->tap_count, sizeof *g->tap, "filter taps", (void **)&g->tap));
    TRY(size_elements(g->step, 2, "pixel classes", &g->class_count));
    TRY(memory_alloc((size_t)g->class_count, sizeof *g->classes, "pixel classes", (void **)&g->classes));
    for (int64_t i = 0; i < g->class_count; i++) fill_class(g, p, i, &next_tap);
    return BRAID_OK;
}

/* Adds the floats of a tensor to the workspace, in whole cache lines. */
static braid_status reserve(igemm *g, const int64_t *dims, int rank, int64_t *at) {
    int64_t floats = 0;
    TRY(size_elements(dims, rank, "packed weights", &floats));
    *at = g->workspace_floats;
    g->workspace_floats += ceil_div(floats, 16) * 16;
    return BRAID_OK;
}

static braid_status shape_stream(igemm *g, const braid_problem *p, int i) {
    stream_shape *s = &g->stream[i];
    int forward = g->direction == IGEMM_FORWARD;
    s->depth = (forward ? p->in_channels[i] : p->out_channels[i]) / p->groups;
    s->out_channels = forward ? p->out_channels[i] : p->in_channels[i];
    s->columns = s->out_channels / p->groups;
    s->in_pitch = forward ? p->in_pitch[i] : p->out_pitch[i];
    s->out_pitch = forward ? p->out_pitch[i] : p->in_pitch[i];
    s->panels = s->columns ? ceil_div(s->columns, g->tile->columns) : 1;
    int64_t panel_floats = g->tap_count * s->depth * g->tile->columns;
    s->panels_in_part = panel_floats < PANEL_FLOATS ? PANEL_FLOATS / (panel_floats + 1) + 1 : 1;
    if (s->panels_in_part > s->panels) s->panels_in_part = s->panels;
    const int64_t dims[4] = {g->groups, s->panels, panel_floats, 1};
    TRY(reserve(g, dims, 4, &s->packed));
    for (int64_t c = 0; c < g->class_count; c++) s->parts_of_group += class_chunks(g, &g->classes[c]);
    s->parts_of_group *= ceil_div(s->panels, s->panels_in_part);
    g->parts += s->parts_of_group * g->groups;
    g->pack_units += g->groups * s->panels * g->tap_count;
    return BRAID_OK;
}

static braid_status fill(igemm *g, const braid_problem *p) {
    int64_t deepest = 0, unused;
    for (int axis = 0; axis < 2; axis++) g->step[axis] = g->direction == IGEMM_FORWARD ? 1 : p->stride[axis];
    TRY(make_tables(g, p));
    for (int i = 0; i < g->streams; i++) {
        int64_t channels = g->direction == IGEMM_FORWARD ? p->in_channels[i] : p->out_channels[i];
        if (channels / p->groups > deepest) deepest = channels / p->groups;
    }
    g->merged = g->direction == IGEMM_FORWARD && p->filter[1] > 1 && deepest < MERGED_CHANNELS &&
                deepest * p->filter[1] <= MERGED_DEPTH;
    g->zero_floats = g->merged ? MERGED_DEPTH : deepest;
    TRY(reserve(g, &g->zero_floats, 1, &unused));
    for (int i = 0; i < g->streams; i++) TRY(shape_stream(g, p, i));
    g->pack_parts = at_most(ceil_div(g->workspace_floats, PACK_FLOATS), PACK_PARTS);
    return BRAID_OK;
}

static braid_status create(const braid_problem *p, igemm_direction direction, const gemm_tile *tile, void **state,
                           size_t *workspace_bytes) {
    igemm *g = NULL;
    braid_problem conv = taps_problem(p);
    TRY(memory_calloc(1, sizeof *g, "state of a convolution", (void **)&g));
    g->tile = tile;
    g->direction = direction;
    g->streams = conv.streams;
    g->batch = conv.batch;
    g->groups = conv.groups;
    braid_status status = fill(g, &conv);
    if (!status) status = size_array((size_t)g->workspace_floats, sizeof(float), "packed weights", workspace_bytes);
    if (status) {
        igemm_destroy(NULL, g);
        return status;
    }
    *state = g;
    return BRAID_OK;
}

braid_status igemm_create_forward(const braid_problem *p, const gemm_tile *tile, void **state,
                                  size_t *workspace_bytes) {
    return create(p, IGEMM_FORWARD, tile, state, workspace_bytes);
}

braid_status igemm_create_backward(const braid_problem *p, const gemm_tile *tile, void **state,
                                   size_t *workspace_bytes) {
    return create(p, IGEMM_BACKWARD, tile, state, workspace_bytes);
}

void igemm_destroy(device *d, void *state) {
    igemm *g = state;
    (void)d;
    if (!g) return;
    taps_destroy(&g->map);
    memory_free(g->tap);
    memory_free(g->classes);
    memory_free(g);
}

/* ---- Packing ------------------------------------------------------------------------------- */

static int panel_columns(const igemm *g, const stream_shape *s, int64_t panel) {
    int64_t left = s->columns - panel * g->tile->columns;
    return left < g->tile->columns ? (int)left : g->tile->columns;
}

/* Packs one tap of one panel of one group. Weights are [groups * K][taps][C] with K and C those of a group. */
static void pack_unit(const launch *l, int i, int64_t unit) {
    const igemm *g = l->g;
    const stream_shape *s = &g->stream[i];
    int width = g->tile->columns;
    int64_t tap = unit % g->tap_count, panel = unit / g->tap_count % s->panels, group = unit / g->tap_count / s->panels;
    int64_t tap_in_weights = g->tap[tap][0] * g->map.filter[1] + g->tap[tap][1];
    const float *w = l->b->plane[CONV2D_W][i];
    float *to = l->packed + s->packed + unit * s->depth * width;
    int n = panel_columns(g, s, panel);
    if (s->depth == 0 || n == 0) return;
    if (g->direction == IGEMM_FORWARD) {
        int64_t pitch = g->tap_count * s->depth, k = group * s->columns + panel * width;
        pack_transposed(to, w + k * pitch + tap_in_weights * s->depth, pitch, s->depth, n, width);
    } else {
        int64_t pitch = g->tap_count * s->columns, k = group * s->depth;
        pack_straight(to, w + k * pitch + tap_in_weights * s->columns + panel * width, pitch, s->depth, n, width);
    }
}

static void pack_part(void *context, int64_t part) {
    const launch *l = context;
    int64_t begin, end;
    threads_range(l->g->pack_units, l->g->pack_parts, part, &begin, &end);
    int i = 0;
    int64_t first = 0;
    for (int64_t unit = begin; unit < end; unit++) {
        const stream_shape *s = &l->g->stream[i];
        while (unit - first >= l->g->groups * s->panels * l->g->tap_count) {
            first += l->g->groups * s->panels * l->g->tap_count;
            s = &l->g->stream[++i];
        }
        pack_unit(l, i, unit - first);
    }
}

/* ---- Running ------------------------------------------------------------------------------- */

/* What a part works on, and the pixels of its current tile. */
typedef struct part {
    const launch *l;
    const stream_shape *s;
    const pixel_class *c;
    int stream;
    int64_t group, pixel_begin, pixel_end, panel_begin, panel_end;
    const float *source; /* first channel of the group */
    const uint32_t *mask;
    int m;
    int blank[GEMM_MAX_ROWS]; /* by the mask, or because no tap reaches the class */
    int64_t sample[GEMM_MAX_ROWS], y[GEMM_MAX_ROWS], x[GEMM_MAX_ROWS];
    float *out[GEMM_MAX_ROWS]; /* first channel of the group */
} part;

static void find_part(part *a, int64_t index) {
    const igemm *g = a->l->g;
    a->stream = 0;
    while (index >= g->stream[a->stream].parts_of_group * g->groups) {
        index -= g->stream[a->stream++].parts_of_group * g->groups;
    }
    a->s = &g->stream[a->stream];
    a->group = index / a->s->parts_of_group;
    index %= a->s->parts_of_group;
    int64_t panel_parts = ceil_div(a->s->panels, a->s->panels_in_part);
    a->c = g->classes;
    while (index >= class_chunks(g, a->c) * panel_parts) index -= class_chunks(g, a->c++) * panel_parts;
    int64_t chunk = (int64_t)g->tile->rows * TILES_IN_PART;
    int64_t pixels = class_pixels(g, a->c);
    a->pixel_begin = index % class_chunks(g, a->c) * chunk;
    a->pixel_end = a->pixel_begin + chunk < pixels ? a->pixel_begin + chunk : pixels;
    a->panel_begin = index / class_chunks(g, a->c) * a->s->panels_in_part;
    a->panel_end = a->panel_begin + a->s->panels_in_part;
    if (a->panel_end > a->s->panels) a->panel_end = a->s->panels;
}

/* Finds the m pixels from `first` on. True where at least one of them is active. */
static int find_pixels(part *a, int64_t first) {
    const igemm *g = a->l->g;
    int forward = g->direction == IGEMM_FORWARD, active = 0;
    float *out = a->l->b->plane[forward ? CONV2D_Y : CONV2D_X][a->stream];
    int64_t x = first % a->c->extent[1], y = first / a->c->extent[1] % a->c->extent[0];
    int64_t sample = first / a->c->extent[1] / a->c->extent[0];
    for (int i = 0; i < a->m; i++) {
        a->sample[i] = sample;
        a->y[i] = a->c->origin[0] + y * g->step[0];
        a->x[i] = a->c->origin[1] + x * g->step[1];
        a->blank[i] = a->c->tap_count == 0 || mask_blanks(a->mask, sample);
        active |= !a->blank[i];
        int64_t pixel = (sample * g->map.out_size[0] + a->y[i]) * g->map.out_size[1] + a->x[i];
        a->out[i] = out + pixel * a->s->out_pitch + a->group * a->s->columns;
        if (++x < a->c->extent[1]) continue;
        x = 0;
        if (++y < a->c->extent[0]) continue;
        y = 0;
        sample++;
    }
    return active;
}

/* Where the source of pixel i starts: its sample, at the first channel of the group. */
static const float *sample_source(const part *a, int i) {
    const taps *map = &a->l->g->map;
    return a->source + a->sample[i] * map->in_size[0] * map->in_size[1] * a->s->in_pitch;
}

/* row[t][i] for the taps [first, first + count) of the class. */
static void point_at_taps(const part *a, const float **row, int64_t first, int64_t count) {
    const taps *map = &a->l->g->map;
    const int64_t width = map->in_size[1], pitch = a->s->in_pitch, step = a->l->g->tile->rows;
    const int32_t(*tap)[2] = a->l->g->tap + a->c->first_tap + first;
    const float *zeros = a->l->zeros;
    for (int i = 0; i < a->m; i++) {
        const int32_t *rows = map->source[0] + a->y[i] * map->filter[0];
        const int32_t *columns = map->source[1] + a->x[i] * map->filter[1];
        const float *base = sample_source(a, i);
        for (int64_t t = 0; t < count; t++) {
            int64_t y = rows[tap[t][0]], x = columns[tap[t][1]];
            row[t * step + i] = a->blank[i] || (y | x) < 0 ? zeros : base + (y * width + x) * pitch;
        }
    }
}

/* The same for filter rows [first, first + count) of a pixel whose taps are dense: each row is one tap. */
static void point_at_dense_rows(const part *a, const float **row, int i, int64_t first, int64_t count) {
    const taps *map = &a->l->g->map;
    const int64_t line = map->in_size[1] * a->s->in_pitch, step = a->l->g->tile->rows;
    const int32_t *rows = map->source[0] + a->y[i] * map->filter[0] + first;
    const float *zeros = a->l->zeros;
    const float *base = sample_source(a, i) + map->source[1][a->x[i] * map->filter[1]] * a->s->in_pitch;
    for (int64_t t = 0; t < count; t++) row[t * step + i] = rows[t] < 0 ? zeros : base + rows[t] * line;
}

/* The same for any other pixel: its filter rows are gathered in `copies`, of which the rest is returned. */
static float *gather_rows(const part *a, const float **row, int i, int64_t first, int64_t count, float *copies) {
    const taps *map = &a->l->g->map;
    const int32_t *rows = map->source[0] + a->y[i] * map->filter[0] + first;
    const int32_t *columns = map->source[1] + a->x[i] * map->filter[1];
    const float *base = sample_source(a, i);
    for (int64_t t = 0; t < count; t++) {
        row[t * a->l->g->tile->rows + i] = a->blank[i] || rows[t] < 0 ? a->l->zeros : copies;
        for (int64_t s = 0; s < map->filter[1] && !a->blank[i] && rows[t] >= 0; s++, copies += a->s->depth) {
            int64_t pixel = rows[t] * map->in_size[1] + columns[s];
            copy_floats(copies, columns[s] < 0 ? a->l->zeros : base + pixel * a->s->in_pitch, a->s->depth);
        }
    }
    return copies;
}

/* All panels of the part for the current tile, from one set of pointers. */
static void run_panels(const part *a, gemm_rows *run, int64_t first_tap) {
    const igemm *g = a->l->g;
    const float *bias = a->l->b->plane[CONV2D_BIAS][a->stream];
    int64_t width = g->tile->columns, panel_floats = g->tap_count * a->s->depth * width;
    const float *group = a->l->packed + a->s->packed + a->group * a->s->panels * panel_floats;
    for (int64_t panel = a->panel_begin; panel < a->panel_end; panel++) {
        float *out[GEMM_MAX_ROWS];
        for (int i = 0; i < a->m; i++) out[i] = a->out[i] + panel * width;
        run->n = panel_columns(g, a->s, panel);
        run->panel = group + panel * panel_floats + (a->c->first_tap + first_tap) * a->s->depth * width;
        run->init = bias && g->direction == IGEMM_FORWARD ? bias + a->group * a->s->columns + panel * width : NULL;
        run->out = out;
        if (run->n) g->tile->run_rows(run);
    }
}

static void run_taps(const part *a) {
    const float *row[TAPS_AT_ONCE * GEMM_MAX_ROWS];
    int64_t first = 0;
    do {
        int64_t left = a->c->tap_count - first, count = left < TAPS_AT_ONCE ? left : TAPS_AT_ONCE;
        gemm_rows run = {.m = a->m, .accumulate = first > 0, .taps = count, .depth = a->s->depth, .row = row};
        point_at_taps(a, row, first, count);
        run_panels(a, &run, first);
        first += count;
    } while (first < a->c->tap_count);
}

static void run_filter_rows(const part *a) {
    const float *row[TAPS_AT_ONCE * GEMM_MAX_ROWS];
    float copies[MERGED_FLOATS];
    const taps *map = &a->l->g->map;
    int64_t depth = map->filter[1] * a->s->depth;
    int64_t most = depth ? MERGED_FLOATS / (GEMM_MAX_ROWS * depth) : TAPS_AT_ONCE;
    if (most > TAPS_AT_ONCE) most = TAPS_AT_ONCE;
    for (int64_t first = 0; first < map->filter[0]; first += most) {
        int64_t left = map->filter[0] - first, count = left < most ? left : most;
        gemm_rows run = {.m = a->m, .accumulate = first > 0, .taps = count, .depth = depth, .row = row};
        float *room = copies;
        for (int i = 0; i < a->m; i++) {
            int dense = a->s->in_pitch == a->s->depth && map->dense[a->x[i]] && !a->blank[i];
            if (dense)
                point_at_dense_rows(a, row, i, first, count);
            else
                room = gather_rows(a, row, i, first, count, room);
        }
        run_panels(a, &run, first * map->filter[1]);
    }
}

/* Blanked pixels become zeros, and so do the lanes behind the last channel. */
static void clear_rest(const part *a) {
    const igemm *g = a->l->g;
    int64_t begin = a->panel_begin * g->tile->columns, end = a->panel_end * g->tile->columns;
    if (end > a->s->columns) end = a->s->columns;
    int last = a->group == g->groups - 1 && a->panel_end == a->s->panels;
    for (int i = 0; i < a->m; i++) {
        if (a->blank[i]) zero_floats(a->out[i] + begin, end - begin);
        if (last) zero_floats(a->out[i] + end, a->s->out_pitch - a->s->out_channels);
    }
}

static void run_part(void *context, int64_t index) {
    part a = {.l = context};
    const igemm *g = a.l->g;
    find_part(&a, index);
    a.source = a.l->b->plane[g->direction == IGEMM_FORWARD ? CONV2D_X : CONV2D_Y][a.stream];
    a.source += a.group * a.s->depth;
    a.mask = a.l->b->plane[CONV2D_MASK][a.stream];
    for (int64_t first = a.pixel_begin; first < a.pixel_end; first += g->tile->rows) {
        a.m = a.pixel_end - first < g->tile->rows ? (int)(a.pixel_end - first) : g->tile->rows;
        if (find_pixels(&a, first)) {
            if (g->merged)
                run_filter_rows(&a);
            else
                run_taps(&a);
        }
        clear_rest(&a);
    }
}

braid_status igemm_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const igemm *g = state;
    launch l = {g, b, b->workspace, b->workspace};
    (void)p;
    (void)d;
    if (g->parts == 0) return BRAID_OK;
    zero_floats(b->workspace, g->zero_floats);
    threads_for(g->pack_parts, pack_part, &l);
    threads_for(g->parts, run_part, &l);
    return BRAID_OK;
}

double igemm_cost(const braid_problem *p, const gemm_tile *tile) {
    double weights = 0, taps_in_filter = p->op == BRAID_OP_LINEAR ? 1 : (double)p->filter[0] * (double)p->filter[1];
    for (int i = 0; i < p->streams; i++)
        weights += (double)p->in_channels[i] * (double)p->out_channels[i] * taps_in_filter;
    return cost_seconds(p, tile->flops, 2, 2e-6) + weights * 3 * sizeof(float) / COST_COPY_BYTES;
}
