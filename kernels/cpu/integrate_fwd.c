/*
 * integrate forward in f32: one product whose sum runs over the sources, z and then the streams in order.
 * A row is an output pixel; for every source it is a pointer to the pixel that the source has there. The
 * sum over one source is a tile of gemm.h that adds to y, so sources may have channels of their own.
 * Pixels that a mask blanks are left out of the rows of their source: nothing of it is read.
 *
 * A launch packs the weights into panels [panel of columns][source][depth][column], then runs parts: a
 * range of pixels times a range of panels that stay in the second-level cache. Parts depend on the
 * problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/integrate_convs.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/pack.h"

#define TILES_IN_PART 16   /* of pixels */
#define PANEL_FLOATS 65536 /* of the panels of a part: 256 KiB of the second-level cache */
#define LINE_FLOATS 16     /* of a cache line */
#define FROM_Z (-1)

typedef struct source {
    int stream; /* or FROM_Z */
    int64_t depth, pitch;
    int64_t first; /* where its depth starts in a panel */
} source;

typedef struct mix {
    const gemm_tile *tile;
    int sources;
    source source[BRAID_MAX_PLANES];
    int64_t depth; /* of all sources */
    int64_t pixels, pixels_in_part, pixel_parts;
    int64_t panels, panels_in_part, panel_parts;
} mix;

typedef struct launch {
    const mix *g;
    const braid_problem *p;
    const buffers *b;
} launch;

/* ---- Create -------------------------------------------------------------------------------- */

static void add_source(mix *g, int stream, int64_t depth, int64_t pitch) {
    g->source[g->sources++] = (source){stream, depth, pitch, g->depth};
    g->depth += depth;
}

static braid_status fill(mix *g, const braid_problem *p, size_t *workspace_bytes) {
    const int64_t pixels[3] = {p->batch, integrate_out_size(p, 0), integrate_out_size(p, 1)};
    int64_t width = g->tile->columns, floats = 0;
    TRY(size_elements(pixels, 3, "output pixels", &g->pixels));
    if (p->integrated_in > 0) add_source(g, FROM_Z, p->integrated_in, p->integrated_in);
    for (int i = 0; i < p->streams; i++) add_source(g, i, p->in_channels[i], p->in_pitch[i]);
    g->pixels_in_part = (int64_t)g->tile->rows * TILES_IN_PART;
    g->pixel_parts = ceil_div(g->pixels, g->pixels_in_part);
    g->panels = ceil_div(p->integrated_out, width);
    const int64_t panels[3] = {g->panels, g->depth, width};
    TRY(size_elements(panels, 3, "packed weights", &floats));
    g->panels_in_part = at_most(PANEL_FLOATS / (g->depth * width + 1) + 1, g->panels);
    g->panel_parts = ceil_div(g->panels, g->panels_in_part);
    return size_array((size_t)floats, sizeof(float), "packed weights", workspace_bytes);
}

static braid_status create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes) {
    mix *g = NULL;
    TRY(memory_calloc(1, sizeof *g, "state of integrate", (void **)&g));
    g->tile = tile;
    braid_status status = fill(g, p, workspace_bytes);
    if (status) {
        memory_free(g);
        return status;
    }
    *state = g;
    return BRAID_OK;
}

static void destroy(device *d, void *state) {
    (void)d;
    memory_free(state);
}

/* ---- Running ------------------------------------------------------------------------------- */

static int panel_columns(const launch *l, int64_t panel) {
    return (int)at_most(l->p->integrated_out - panel * l->g->tile->columns, l->g->tile->columns);
}

static float *packed(const launch *l, const source *s, int64_t panel) {
    return (float *)l->b->workspace + (panel * l->g->depth + s->first) * l->g->tile->columns;
}

/* Packs one source of one panel; its weights are [zo][depth]. */
static void pack_part(void *context, int64_t index) {
    const launch *l = context;
    const source *s = &l->g->source[index % l->g->sources];
    int64_t panel = index / l->g->sources;
    int width = l->g->tile->columns;
    const float *weights = s->stream == FROM_Z ? l->b->plane[INTEGRATE_W][0] : l->b->plane[INTEGRATE_V][s->stream];
    const pack_panel q = {.to = packed(l, s, panel),
                          .from = weights + panel * width * s->depth,
                          .pitch = s->depth,
                          .depth = s->depth,
                          .n = panel_columns(l, panel),
                          .width = width,
                          .tile = l->g->tile};
    pack_transposed(&q);
}

/* What a part works on, and the pixels of its current tile. */
typedef struct part {
    const launch *l;
    int64_t pixel_begin, pixel_end, panel_begin, panel_end;
    int m;
    int64_t pixel[GEMM_MAX_ROWS], sample[GEMM_MAX_ROWS], pixel_of_z[GEMM_MAX_ROWS];
} part;

/* The active pixels of a tile for one source. */
typedef struct rows {
    int m;
    const void *from[GEMM_MAX_ROWS];
    float *y[GEMM_MAX_ROWS];
} rows;

static void find_part(part *a, int64_t index) {
    const mix *g = a->l->g;
    a->pixel_begin = index % g->pixel_parts * g->pixels_in_part;
    a->pixel_end = at_most(a->pixel_begin + g->pixels_in_part, g->pixels);
    a->panel_begin = index / g->pixel_parts * g->panels_in_part;
    a->panel_end = at_most(a->panel_begin + g->panels_in_part, g->panels);
}

static void find_pixels(part *a, int64_t first) {
    const braid_problem *p = a->l->p;
    int64_t height = integrate_out_size(p, 0), width = integrate_out_size(p, 1);
    int64_t column = first % width, row = first / width % height, sample = first / width / height;
    for (int i = 0; i < a->m; i++) {
        a->pixel[i] = first + i;
        a->sample[i] = sample;
        a->pixel_of_z[i] = (sample * p->size[0] + row * p->stride[0]) * p->size[1] + column * p->stride[1];
        if (++column < width) continue;
        column = 0;
        if (++row < height) continue;
        row = 0;
        sample++;
    }
}

/* Fetches what the next tile will read of a stream, where all panels are in one part; with more, later parts find it
 * cached. */
static void fetch_next(const part *a, const source *s, const float *from) {
    int64_t next = a->pixel[0] + a->m, count = at_most(a->pixel_end - next, a->l->g->tile->rows);
    if (a->l->g->panel_parts > 1) return;
    for (int64_t j = 0; j < count * s->pitch; j += LINE_FLOATS) __builtin_prefetch(from + next * s->pitch + j, 0, 2);
}

static void list_rows(const part *a, const source *s, rows *to) {
    const buffers *b = a->l->b;
    int is_z = s->stream == FROM_Z;
    const float *from = is_z ? b->plane[INTEGRATE_Z][0] : b->plane[INTEGRATE_R][s->stream];
    const uint32_t *mask = is_z ? NULL : b->plane[INTEGRATE_MASK][s->stream];
    float *y = b->plane[INTEGRATE_Y][0];
    to->m = 0;
    for (int i = 0; i < a->m; i++) {
        if (mask_blanks(mask, a->sample[i])) continue;
        to->from[to->m] = from + (is_z ? a->pixel_of_z[i] : a->pixel[i]) * s->pitch;
        to->y[to->m++] = y + a->pixel[i] * a->l->p->integrated_out;
    }
    if (!is_z) fetch_next(a, s, from);
}

/* y = bias or 0, in the columns of the part. */
static void start_rows(const part *a) {
    const float *bias = a->l->b->plane[INTEGRATE_BIAS][0];
    int64_t columns = a->l->p->integrated_out, begin = a->panel_begin * a->l->g->tile->columns;
    int64_t count = at_most(a->panel_end * a->l->g->tile->columns, columns) - begin;
    for (int i = 0; i < a->m; i++) {
        float *y = (float *)a->l->b->plane[INTEGRATE_Y][0] + a->pixel[i] * columns + begin;
        if (bias)
            copy_floats(y, bias + begin, count);
        else
            zero_floats(y, count);
    }
}

static void run_panels(const part *a, const source *s, const rows *r, int accumulate) {
    const gemm_tile *tile = a->l->g->tile;
    const float *bias = a->l->b->plane[INTEGRATE_BIAS][0];
    gemm_rows run = {.m = r->m, .accumulate = accumulate, .taps = 1, .depth = s->depth, .row = r->from};
    for (int64_t panel = a->panel_begin; panel < a->panel_end; panel++) {
        float *out[GEMM_MAX_ROWS];
        for (int i = 0; i < r->m; i++) out[i] = r->y[i] + panel * tile->columns;
        run.n = panel_columns(a->l, panel);
        run.panel = packed(a->l, s, panel);
        run.init = bias ? bias + panel * tile->columns : NULL;
        run.out = out;
        tile->run_rows(&run);
    }
}

/* All sources of the current tile. The first one starts the sums, unless it leaves pixels out. */
static void run_tile(const part *a) {
    const mix *g = a->l->g;
    int started = 0;
    for (int j = 0; j < g->sources; j++) {
        rows r;
        list_rows(a, &g->source[j], &r);
        if (!started && r.m < a->m) {
            start_rows(a);
            started = 1;
        }
        if (r.m) run_panels(a, &g->source[j], &r, started);
        started = 1;
    }
}

static void run_part(void *context, int64_t index) {
    part a = {.l = context};
    find_part(&a, index);
    for (int64_t first = a.pixel_begin; first < a.pixel_end; first += a.m) {
        a.m = (int)at_most(a.pixel_end - first, a.l->g->tile->rows);
        find_pixels(&a, first);
        run_tile(&a);
    }
}

static braid_status run(const braid_problem *p, device *d, void *state, const buffers *b) {
    const mix *g = state;
    launch l = {g, p, b};
    (void)d;
    threads_for(g->panels * g->sources, pack_part, &l);
    threads_for(g->pixel_parts * g->panel_parts, run_part, &l);
    return BRAID_OK;
}

TILE_KERNEL(integrate_fwd_f32__cpu_rows_avx512, gemm_avx512, supports_all, integrate_cost, create, run, destroy)
TILE_KERNEL(integrate_fwd_f32__cpu_rows_avx2, gemm_avx2, supports_all, integrate_cost, create, run, destroy)
TILE_KERNEL(integrate_fwd_f32__cpu_rows_portable, gemm_portable, supports_all, integrate_cost, create, run, destroy)
