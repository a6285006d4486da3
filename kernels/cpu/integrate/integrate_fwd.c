/*
 * integrate forward: one product whose sum runs over the sources, z and then the streams in order.
 * A row is an output pixel; for every source it is a pointer to the pixel that the source has there. The
 * sum over one source is a tile of gemm.h that adds to y, so sources may have channels of their own. Sums of
 * halves are kept beside y as floats, and rounded once when all sources are in them.
 * Pixels that a mask blanks are left out of the rows of their source: nothing of it is read.
 *
 * Weights are packed into panels [panel of columns][source][depth][column]; then parts are run: a
 * range of pixels times a range of panels that stay in the second-level cache. Parts depend on the
 * problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/integrate/integrate_convs.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pack.h"

#define PANEL_UNITS 65536  /* of the panels of a part: 256 KiB of the second-level cache */
#define LINE_BYTES 64      /* of a cache line */
#define SUM_FLOATS 8192    /* on the stack, where the sums wait for their rounding to halves */
#define COPIED_FLOATS 8192 /* on the stack: halves made floats */
#define TILES_IN_PART 16   /* of pixels */
#define FROM_Z (-1)

typedef struct source {
    int stream; /* or FROM_Z */
    int64_t depth, pitch;
    int64_t first; /* where its depth starts in a panel, in units */
} source;

typedef struct mix {
    const gemm_tile *tile;
    const halves *halves; /* of the planes; NULL: they hold floats */
    int64_t bytes;        /* of a number in the planes */
    int widened;          /* the planes hold halves and the tile takes floats */
    int sources;
    source source[BRAID_MAX_PLANES];
    int64_t units; /* of the depth of all sources */
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
    g->source[g->sources++] = (source){stream, depth, pitch, g->units};
    g->units += gemm_units(g->tile, depth);
}

static braid_status fill(mix *g, const braid_problem *p, size_t *workspace_bytes) {
    const int64_t pixels[3] = {p->batch, integrate_out_size(p, 0), integrate_out_size(p, 1)};
    int64_t width = g->tile->columns, units = 0;
    TRY(size_elements(pixels, 3, "output pixels", &g->pixels));
    if (p->integrated_in > 0) add_source(g, FROM_Z, p->integrated_in, p->integrated_in);
    for (int i = 0; i < p->streams; i++) add_source(g, i, p->in_channels[i], p->in_pitch[i]);
    g->pixels_in_part = (int64_t)g->tile->rows * TILES_IN_PART;
    g->pixel_parts = ceil_div(g->pixels, g->pixels_in_part);
    g->panels = ceil_div(p->integrated_out, width);
    const int64_t panels[3] = {g->panels, g->units, width};
    TRY(size_elements(panels, 3, "packed weights", &units));
    g->panels_in_part = at_most(PANEL_UNITS / (g->units * width + 1) + 1, g->panels);
    if (g->halves) g->panels_in_part = at_most(g->panels_in_part, SUM_FLOATS / (g->tile->rows * width));
    g->panel_parts = ceil_div(g->panels, g->panels_in_part);
    return size_array((size_t)units, sizeof(float), "packed weights", workspace_bytes);
}

static braid_status create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes) {
    mix *g = NULL;
    TRY(memory_calloc(1, sizeof *g, "state of integrate", (void **)&g));
    g->tile = tile;
    g->bytes = (int64_t)dtype_bytes(p->dtype);
    g->halves = gemm_halves(tile, p->dtype);
    g->widened = g->halves && !gemm_is_bf16(tile);
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
    return (float *)l->b->workspace + (panel * l->g->units + s->first) * l->g->tile->columns;
}

/* Packs one source of one panel; its weights are [zo][depth]. */
static void pack_part(void *context, int64_t index) {
    const launch *l = context;
    const source *s = &l->g->source[index % l->g->sources];
    int64_t panel = index / l->g->sources;
    int width = l->g->tile->columns;
    const unsigned char *weights =
        s->stream == FROM_Z ? l->b->plane[INTEGRATE_W][0] : l->b->plane[INTEGRATE_V][s->stream];
    const pack_panel q = {.to = packed(l, s, panel),
                          .from = weights + panel * width * s->depth * l->g->bytes,
                          .pitch = s->depth,
                          .depth = s->depth,
                          .n = panel_columns(l, panel),
                          .width = width,
                          .tile = l->g->tile,
                          .halves = l->g->halves};
    pack_transposed(&q);
}

/* What a part works on, and the pixels of its current tile. */
typedef struct part {
    const launch *l;
    int64_t pixel_begin, pixel_end, panel_begin, panel_end;
    int64_t column_begin, columns;
    const float *bias; /* of the columns of the part, or NULL */
    int m;
    int64_t pixel[GEMM_MAX_ROWS], sample[GEMM_MAX_ROWS], pixel_of_z[GEMM_MAX_ROWS];
    float *sum[GEMM_MAX_ROWS]; /* of the columns of the part: in y, or beside it where that holds halves */
} part;

/* The active pixels of a tile for one source. */
typedef struct rows {
    int m;
    const void *from[GEMM_MAX_ROWS];
    float *sum[GEMM_MAX_ROWS];
} rows;

static void find_part(part *a, int64_t index) {
    const mix *g = a->l->g;
    a->pixel_begin = index % g->pixel_parts * g->pixels_in_part;
    a->pixel_end = at_most(a->pixel_begin + g->pixels_in_part, g->pixels);
    a->panel_begin = index / g->pixel_parts * g->panels_in_part;
    a->panel_end = at_most(a->panel_begin + g->panels_in_part, g->panels);
    a->column_begin = a->panel_begin * g->tile->columns;
    a->columns = at_most(a->panel_end * g->tile->columns, a->l->p->integrated_out) - a->column_begin;
}

/* Where y has the columns of the part, at row i of the tile. */
static void *find_y(const part *a, int i) {
    unsigned char *y = a->l->b->plane[INTEGRATE_Y][0];
    return y + (a->pixel[i] * a->l->p->integrated_out + a->column_begin) * a->l->g->bytes;
}

/* The bias of the columns of the part, as floats in `to` where the planes hold halves. */
static const float *find_bias(const part *a, float *to) {
    const unsigned char *bias = a->l->b->plane[INTEGRATE_BIAS][0];
    if (!bias) return NULL;
    const void *first = bias + a->column_begin * a->l->g->bytes;
    if (!a->l->g->halves) return first;
    a->l->g->halves->widen(to, first, a->columns);
    return to;
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
static void fetch_next(const part *a, const source *s, const unsigned char *from) {
    int64_t next = a->pixel[0] + a->m, count = at_most(a->pixel_end - next, a->l->g->tile->rows);
    int64_t pitch = s->pitch * a->l->g->bytes;
    if (a->l->g->panel_parts > 1) return;
    for (int64_t j = 0; j < count * pitch; j += LINE_BYTES) __builtin_prefetch(from + next * pitch + j, 0, 2);
}

static void list_rows(const part *a, const source *s, rows *to) {
    const buffers *b = a->l->b;
    int is_z = s->stream == FROM_Z;
    const unsigned char *from = is_z ? b->plane[INTEGRATE_Z][0] : b->plane[INTEGRATE_R][s->stream];
    const uint32_t *mask = is_z ? NULL : b->plane[INTEGRATE_MASK][s->stream];
    to->m = 0;
    for (int i = 0; i < a->m; i++) {
        if (mask_blanks(mask, a->sample[i])) continue;
        to->from[to->m] = from + (is_z ? a->pixel_of_z[i] : a->pixel[i]) * s->pitch * a->l->g->bytes;
        to->sum[to->m++] = a->sum[i];
    }
    if (!is_z) fetch_next(a, s, from);
}

/* The sums become the bias or 0. */
static void start_rows(const part *a) {
    for (int i = 0; i < a->m; i++) {
        if (a->bias)
            copy_floats(a->sum[i], a->bias, a->columns);
        else
            zero_floats(a->sum[i], a->columns);
    }
}

/* All panels for `depth` numbers of a source, from number `begin` on. */
static void run_panels(const part *a, const source *s, const rows *r, gemm_rows *run, int64_t begin) {
    const gemm_tile *tile = a->l->g->tile;
    for (int64_t panel = a->panel_begin; panel < a->panel_end; panel++) {
        int64_t column = (panel - a->panel_begin) * tile->columns;
        float *out[GEMM_MAX_ROWS];
        for (int i = 0; i < r->m; i++) out[i] = r->sum[i] + column;
        run->n = panel_columns(a->l, panel);
        run->panel = packed(a->l, s, panel) + gemm_units(tile, begin) * tile->columns;
        run->init = a->bias ? a->bias + column : NULL;
        run->out = out;
        tile->run_rows(run);
    }
}

static void run_source(const part *a, const source *s, const rows *r, int accumulate) {
    gemm_rows run = {.m = r->m, .accumulate = accumulate, .taps = 1, .depth = s->depth, .row = r->from};
    run_panels(a, s, r, &run, 0);
}

/* The same where halves are made floats: as much of the depth at once as there is room for. */
static void run_widened(const part *a, const source *s, const rows *r, int accumulate) {
    float copies[COPIED_FLOATS];
    const void *row[GEMM_MAX_ROWS];
    const int64_t most = COPIED_FLOATS / a->l->g->tile->rows;
    gemm_rows run = {.m = r->m, .accumulate = accumulate, .taps = 1, .row = row};
    for (int64_t begin = 0; begin < s->depth; begin += run.depth, run.accumulate = 1) {
        run.depth = at_most(s->depth - begin, most);
        for (int i = 0; i < r->m; i++) {
            row[i] = copies + i * run.depth;
            a->l->g->halves->widen(copies + i * run.depth, (const uint16_t *)r->from[i] + begin, run.depth);
        }
        run_panels(a, s, r, &run, begin);
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
        if (r.m) (g->widened ? run_widened : run_source)(a, &g->source[j], &r, started);
        started = 1;
    }
}

/* Where the sums of the current tile are made. */
static void find_sums(part *a, float *beside) {
    int64_t pitch = (a->panel_end - a->panel_begin) * a->l->g->tile->columns;
    for (int i = 0; i < a->m; i++) a->sum[i] = a->l->g->halves ? beside + i * pitch : find_y(a, i);
}

static void run_part(void *context, int64_t index) {
    part found = {.l = context}, *a = &found;
    const mix *g = a->l->g;
    float beside[SUM_FLOATS], bias[SUM_FLOATS / GEMM_MIN_ROWS];
    find_part(a, index);
    a->bias = find_bias(a, bias);
    gemm_enter(g->tile);
    for (int64_t first = a->pixel_begin; first < a->pixel_end; first += a->m) {
        a->m = (int)at_most(a->pixel_end - first, g->tile->rows);
        find_pixels(a, first);
        find_sums(a, beside);
        run_tile(a);
        for (int i = 0; i < a->m && g->halves; i++) g->halves->narrow(find_y(a, i), a->sum[i], a->columns);
    }
    gemm_leave(g->tile);
}

static braid_status pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    launch l = {state, p, b};
    (void)d;
    threads_for(l.g->panels * l.g->sources, pack_part, &l);
    return BRAID_OK;
}

static braid_status run(const braid_problem *p, device *d, void *state, const buffers *b) {
    launch l = {state, p, b};
    (void)d;
    threads_for(l.g->pixel_parts * l.g->panel_parts, run_part, &l);
    return BRAID_OK;
}

#define WEIGHTS (KERNEL_SLOT(INTEGRATE_V) | KERNEL_SLOT(INTEGRATE_W))

PACKED_KERNELS(AMX_BF16, integrate_fwd, cpu_indirect_gemm, gemm, supports_all, integrate_cost, create, WEIGHTS, pack,
               run, destroy)
