/*
 * The indirect matrix product of indirect_gemm.h. When the weights are packed it runs parts: a part is a
 * range of pixels of one class of one group of one stream, times a range of panels that stay in the
 * second-level cache while the pixels pass. Parts depend on the problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/indirect_gemm.h"

#include "core/threads.h"
#include "kernels/cpu/tile/indirect_gemm_state.h"
#include "kernels/cpu/tile/pack.h"
#include "kernels/cpu/isa/copy.h"

#define TAPS_AT_ONCE 64   /* pointers of so many taps are on the stack */
#define ADDED_AT_ONCE 64  /* numbers made floats on the stack */
#define COPIED_UNITS 8192 /* on the stack: copies of filter rows that touch the padding, and of halves made floats */

typedef struct launch {
    const indirect_gemm *g;
    const buffers *b;
    const void *zeros;
    float *packed;                    /* or units of another kind: gemm.h */
    const product_epilogue *epilogue; /* or NULL */
} launch;

/* ---- Packing ------------------------------------------------------------------------------- */

static int panel_columns(const indirect_gemm *g, const stream_shape *s, int64_t panel) {
    int64_t left = s->columns - panel * g->tile->columns;
    return left < g->tile->columns ? (int)left : g->tile->columns;
}

/* Packs one tap of one panel of one group. Weights are [groups * K][taps][C] with K and C those of a group. */
static void pack_step(const launch *l, int i, int64_t step) {
    const indirect_gemm *g = l->g;
    const stream_shape *s = &g->stream[i];
    int64_t tap = step % g->tap_count, panel = step / g->tap_count % s->panels, group = step / g->tap_count / s->panels;
    int64_t row = g->merged ? tap : g->tap[tap].at[0], column = g->merged ? 0 : g->tap[tap].at[1];
    int64_t taps_before = row * g->map.filter[1] + column, taps_in_all = g->map.filter[0] * g->map.filter[1];
    pack_panel q = {.to = l->packed + s->packed + step * s->tap_units * g->tile->columns,
                    .width = g->tile->columns,
                    .n = panel_columns(g, s, panel),
                    .depth = s->tap_depth,
                    .halves = g->halves,
                    .tile = g->tile};
    const unsigned char *w = l->b->plane[CONV2D_W][i];
    if (q.depth == 0 || q.n == 0) return;
    if (g->direction == INDIRECT_GEMM_FORWARD) {
        q.pitch = taps_in_all * s->depth;
        int64_t k = group * s->columns + panel * q.width;
        q.from = w + (k * q.pitch + taps_before * s->depth) * g->bytes;
        pack_transposed(&q);
    } else {
        q.pitch = taps_in_all * s->columns;
        q.from = w + (group * s->depth * q.pitch + taps_before * s->columns + panel * q.width) * g->bytes;
        pack_straight(&q);
    }
}

static void pack_part(void *context, int64_t part) {
    const launch *l = context;
    int64_t begin, end;
    threads_range(l->g->pack_steps, l->g->pack_parts, part, &begin, &end);
    int i = 0;
    int64_t first = 0;
    for (int64_t step = begin; step < end; step++) {
        const stream_shape *s = &l->g->stream[i];
        while (step - first >= l->g->groups * s->panels * l->g->tap_count) {
            first += l->g->groups * s->panels * l->g->tap_count;
            s = &l->g->stream[++i];
        }
        pack_step(l, i, step - first);
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
    const unsigned char *source; /* first channel of the group */
    const uint32_t *mask;
    const unsigned char *added; /* the plane that dx is added to, or NULL */
    const float *bias;          /* of the group, from the first panel of the part on, or NULL */
    int m, active;              /* active: not all of them are blank */
    int blank[GEMM_MAX_ROWS];   /* by the mask, or because no tap reaches the class */
    int64_t sample[GEMM_MAX_ROWS], y[GEMM_MAX_ROWS], x[GEMM_MAX_ROWS];
    unsigned char *out[GEMM_MAX_ROWS]; /* first channel of the group */
    float *sums;                       /* where they are beside the output: [m][columns of the part] */
    const struct part *next;           /* with as many pixels, which are worked on after these; or NULL */
} part;

static void find_part(part *a, int64_t index) {
    const indirect_gemm *g = a->l->g;
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
    int64_t chunk = (int64_t)g->tile->rows * INDIRECT_GEMM_TILES_IN_CHUNK;
    int64_t pixels = class_pixels(g, a->c);
    a->pixel_begin = index % class_chunks(g, a->c) * chunk;
    a->pixel_end = a->pixel_begin + chunk < pixels ? a->pixel_begin + chunk : pixels;
    a->panel_begin = index / class_chunks(g, a->c) * a->s->panels_in_part;
    a->panel_end = a->panel_begin + a->s->panels_in_part;
    if (a->panel_end > a->s->panels) a->panel_end = a->s->panels;
}

/* Finds the pixels of a tile from `first` on. */
static void find_pixels(part *a, int64_t first) {
    const indirect_gemm *g = a->l->g;
    int forward = g->direction == INDIRECT_GEMM_FORWARD;
    unsigned char *out = a->l->b->plane[forward ? CONV2D_Y : CONV2D_X][a->stream];
    int64_t x = first % a->c->extent[1], y = first / a->c->extent[1] % a->c->extent[0];
    int64_t sample = first / a->c->extent[1] / a->c->extent[0];
    a->m = (int)at_most(a->pixel_end - first, g->tile->rows);
    a->active = 0;
    for (int i = 0; i < a->m; i++) {
        a->sample[i] = sample;
        a->y[i] = a->c->origin[0] + y * g->step[0];
        a->x[i] = a->c->origin[1] + x * g->step[1];
        a->blank[i] = a->c->tap_count == 0 || mask_blanks(a->mask, sample);
        a->active |= !a->blank[i];
        int64_t pixel = (sample * g->map.out_size[0] + a->y[i]) * g->map.out_size[1] + a->x[i];
        a->out[i] = out + (pixel * a->s->out_pitch + a->group * a->s->columns) * g->bytes;
        if (++x < a->c->extent[1]) continue;
        x = 0;
        if (++y < a->c->extent[0]) continue;
        y = 0;
        sample++;
    }
}

/* Where the source of pixel i starts: its sample, at the first channel of the group. */
static const unsigned char *sample_source(const part *a, int i) {
    const taps *map = &a->l->g->map;
    return a->source + a->sample[i] * map->in_size[0] * map->in_size[1] * a->s->in_pitch * a->l->g->bytes;
}

/* row[t][i] for the taps [first, first + count) of the class. */
static void point_at_taps(const part *a, const void **row, int64_t first, int64_t count) {
    const taps *map = &a->l->g->map;
    const int64_t width = map->in_size[1], pitch = a->s->in_pitch * a->l->g->bytes, step = a->l->g->tile->rows;
    const filter_tap *tap = a->l->g->tap + a->c->first_tap + first;
    const void *zeros = a->l->zeros;
    for (int i = 0; i < a->m; i++) {
        const int32_t *rows = map->source[0] + a->y[i] * map->filter[0];
        const int32_t *columns = map->source[1] + a->x[i] * map->filter[1];
        const unsigned char *base = sample_source(a, i);
        for (int64_t t = 0; t < count; t++) {
            int64_t y = rows[tap[t].at[0]], x = columns[tap[t].at[1]];
            row[t * step + i] = a->blank[i] || (y | x) < 0 ? zeros : base + (y * width + x) * pitch;
        }
    }
}

/* The same for the next tile: of taps that read what others have read before, no more than a NULL. */
static void point_ahead(const part *a, const void **row, int64_t first, int64_t count) {
    const filter_tap *tap = a->l->g->tap + a->c->first_tap + first;
    for (int64_t t = 0; t < count; t++) {
        row[t * a->l->g->tile->rows] = NULL;
        if (tap[t].first_reads) point_at_taps(a, row + t * a->l->g->tile->rows, first + t, 1);
    }
}

/* The same for filter rows [first, first + count) of a pixel whose taps are dense: each row is one tap. */
static void point_at_dense_rows(const part *a, const void **row, int i, int64_t first, int64_t count) {
    const taps *map = &a->l->g->map;
    const int64_t pitch = a->s->in_pitch * a->l->g->bytes, step = a->l->g->tile->rows;
    const int32_t *rows = map->source[0] + a->y[i] * map->filter[0] + first;
    const void *zeros = a->l->zeros;
    const unsigned char *base = sample_source(a, i) + map->source[1][a->x[i] * map->filter[1]] * pitch;
    for (int64_t t = 0; t < count; t++)
        row[t * step + i] = rows[t] < 0 ? zeros : base + rows[t] * map->in_size[1] * pitch;
}

/* The same for any other pixel: its filter rows are gathered in `copies`, of which the rest is returned. */
static unsigned char *gather_rows(const part *a, const void **row, int i, int64_t first, int64_t count,
                                  unsigned char *copies) {
    const taps *map = &a->l->g->map;
    const int64_t bytes = a->l->g->bytes;
    const int32_t *rows = map->source[0] + a->y[i] * map->filter[0] + first;
    const int32_t *columns = map->source[1] + a->x[i] * map->filter[1];
    const unsigned char *base = sample_source(a, i);
    for (int64_t t = 0; t < count; t++) {
        row[t * a->l->g->tile->rows + i] = a->blank[i] || rows[t] < 0 ? a->l->zeros : copies;
        for (int64_t s = 0; s < map->filter[1] && !a->blank[i] && rows[t] >= 0; s++, copies += a->s->depth * bytes) {
            int64_t pixel = rows[t] * map->in_size[1] + columns[s];
            copy_bytes(copies, columns[s] < 0 ? a->l->zeros : base + pixel * a->s->in_pitch * bytes,
                       a->s->depth * bytes);
        }
    }
    return copies;
}

/* A piece of the sum: taps [tap, tap + taps), all of their depth, or [begin, begin + depth) of one of them. */
typedef struct piece {
    int64_t tap, taps, begin, depth;
} piece;

/* All panels of the part for the current tile, from one set of pointers; ahead as in gemm_rows. */
static void run_panels(const part *a, const piece *q, const void *const *row, const void *const *ahead) {
    const indirect_gemm *g = a->l->g;
    const int64_t width = g->tile->columns, panel_units = g->tap_count * a->s->tap_units * width;
    const int64_t sum_pitch = (a->panel_end - a->panel_begin) * width;
    const int64_t first_tap = g->merged ? q->tap : a->c->first_tap + q->tap;
    const float *group = a->l->packed + a->s->packed + a->group * a->s->panels * panel_units;
    gemm_rows run = {.m = a->m, .taps = q->taps, .depth = q->depth, .row = row, .ahead = ahead};
    run.ahead_step = (int)(a->panel_end - a->panel_begin);
    run.accumulate = q->tap > 0 || q->begin > 0;
    int64_t panel = a->panel_begin;
    do { /* a part has at least one */
        const int64_t column = (panel - a->panel_begin) * width;
        float *out[GEMM_MAX_ROWS];
        for (int i = 0; i < a->m; i++)
            out[i] = g->beside ? a->sums + i * sum_pitch + column : (float *)(void *)a->out[i] + panel * width;
        run.n = panel_columns(g, a->s, panel);
        run.ahead_first = (int)(panel - a->panel_begin);
        run.panel = group + panel * panel_units + (first_tap * a->s->tap_units + gemm_units(g->tile, q->begin)) * width;
        run.init = a->bias ? a->bias + column : NULL;
        run.out = out;
        if (run.n) g->tile->run_rows(&run);
    } while (++panel < a->panel_end);
}

/* The numbers of a piece as floats; row points at them from now on. Blanks and padding are zeros already. */
static void widen_rows(const part *a, const piece *q, const void **row, float *to) {
    for (int64_t t = 0; t < q->taps; t++) {
        for (int i = 0; i < a->m; i++, to += q->depth) {
            const void **from = &row[t * a->l->g->tile->rows + i];
            a->l->g->halves->widen(to, (const uint16_t *)*from + q->begin, q->depth);
            *from = to;
        }
    }
}

/* One piece after another, where halves are made floats: as much as there is room for copies. */
static void run_widened(const part *a) {
    float copies[COPIED_UNITS];
    const void *row[TAPS_AT_ONCE * GEMM_MAX_ROWS];
    const int64_t rows = a->l->g->tile->rows, most = COPIED_UNITS / rows, depth = a->s->depth;
    const int64_t taps_at_once = depth > most ? 1 : depth ? at_most(most / depth, TAPS_AT_ONCE) : TAPS_AT_ONCE;
    piece q = {0};
    do {
        q.taps = at_most(a->c->tap_count - q.tap, taps_at_once);
        q.begin = 0;
        do {
            q.depth = at_most(depth - q.begin, most);
            point_at_taps(a, row, q.tap, q.taps);
            widen_rows(a, &q, row, copies);
            run_panels(a, &q, row, NULL);
            q.begin += q.depth;
        } while (q.begin < depth);
        q.tap += q.taps;
    } while (q.tap < a->c->tap_count);
}

static void run_taps(const part *a) {
    const void *row[TAPS_AT_ONCE * GEMM_MAX_ROWS], *ahead[TAPS_AT_ONCE * GEMM_MAX_ROWS];
    piece q = {.depth = a->s->depth};
    do {
        q.taps = at_most(a->c->tap_count - q.tap, TAPS_AT_ONCE);
        point_at_taps(a, row, q.tap, q.taps);
        if (a->next) point_ahead(a->next, ahead, q.tap, q.taps);
        run_panels(a, &q, row, a->next ? ahead : NULL);
        q.tap += q.taps;
    } while (q.tap < a->c->tap_count);
}

static void run_filter_rows(const part *a) {
    const void *row[TAPS_AT_ONCE * GEMM_MAX_ROWS];
    float copies[COPIED_UNITS], wide[COPIED_UNITS];
    const taps *map = &a->l->g->map;
    const int64_t depth = a->s->tap_depth;
    const int64_t most = depth ? at_most(COPIED_UNITS / (a->l->g->tile->rows * depth), TAPS_AT_ONCE) : TAPS_AT_ONCE;
    piece q = {.depth = depth};
    do {
        q.taps = at_most(map->filter[0] - q.tap, most);
        unsigned char *room = (unsigned char *)copies;
        for (int i = 0; i < a->m; i++) {
            int dense = a->s->in_pitch == a->s->depth && map->dense[a->x[i]] && !a->blank[i];
            if (dense)
                point_at_dense_rows(a, row, i, q.tap, q.taps);
            else
                room = gather_rows(a, row, i, q.tap, q.taps, room);
        }
        if (a->l->g->widened) widen_rows(a, &q, row, wide);
        run_panels(a, &q, row, NULL);
        q.tap += q.taps;
    } while (q.tap < map->filter[0]);
}

/* Where pixel i begins, in bytes from the start of a plane as the output's. */
static int64_t pixel_place(const part *a, int i) {
    const void *plane = a->l->b->plane[a->l->g->direction == INDIRECT_GEMM_FORWARD ? CONV2D_Y : CONV2D_X][a->stream];
    return a->out[i] - (const unsigned char *)plane;
}

/* `count` sums gain what they are added to. */
static void add_row(const part *a, const unsigned char *added, float *sums, int64_t count) {
    float wide[ADDED_AT_ONCE];
    for (int64_t first = 0; first < count; first += ADDED_AT_ONCE) {
        const int64_t some = at_most(count - first, ADDED_AT_ONCE);
        const void *from = added + first * a->l->g->bytes;
        if (a->l->g->halves) a->l->g->halves->widen(wide, from, some);
        const float *floats = a->l->g->halves ? wide : from;
        for (int64_t j = 0; j < some; j++) sums[first + j] += floats[j];
    }
}

/* Stores the sums of the current tile: finished, or rounded where the planes hold halves. */
static void store_sums(const part *a) {
    const indirect_gemm *g = a->l->g;
    const int64_t begin = a->panel_begin * g->tile->columns, pitch = a->panel_end * g->tile->columns - begin;
    const int64_t count = at_most(a->s->columns - begin, pitch);
    for (int i = 0; i < a->m; i++) {
        void *out = a->out[i] + begin * g->bytes;
        const int64_t place = pixel_place(a, i) + begin * g->bytes;
        float *sums = g->beside ? a->sums + i * pitch : out;
        if (a->blank[i]) continue;
        if (a->added) add_row(a, a->added + place, sums, count);
        if (a->l->epilogue)
            epilogue_row(a->l->epilogue, a->stream, a->group * a->s->columns + begin, count, place, sums, out);
        else if (g->halves)
            g->halves->narrow(out, sums, count);
        else if (g->beside)
            copy_floats(out, sums, count);
    }
}

/* Numbers without a sum become what they are added to, or 0. */
static void clear_bytes(const part *a, unsigned char *out, int64_t bytes) {
    if (!a->added) {
        zero_bytes(out, bytes);
        return;
    }
    const unsigned char *from = a->added + (out - (const unsigned char *)a->l->b->plane[CONV2D_X][a->stream]);
    if (from != out) copy_bytes(out, from, bytes);
}

/* Clears the columns of the part at one pixel, and the lanes behind the last channel. */
static void clear_pixel(const part *a, unsigned char *out, int blank) {
    const indirect_gemm *g = a->l->g;
    int64_t begin = a->panel_begin * g->tile->columns, end = a->panel_end * g->tile->columns;
    if (end > a->s->columns) end = a->s->columns;
    if (blank) clear_bytes(a, out + begin * g->bytes, (end - begin) * g->bytes);
    if (a->group == g->groups - 1 && a->panel_end == a->s->panels)
        zero_bytes(out + end * g->bytes, (a->s->out_pitch - a->s->out_channels) * g->bytes);
}

/* The pixels up to the next one of the first class, where no tap reaches them: one by one, or a row of them at once
 * where the part has all of their columns. */
static void clear_neighbours(const part *a, int i) {
    const indirect_gemm *g = a->l->g;
    const int64_t pixel_bytes = a->s->out_pitch * g->bytes;
    const int64_t columns = at_most(g->step[1], g->map.out_size[1] - a->x[i]);
    const int whole = g->groups == 1 && a->panel_begin == 0 && a->panel_end == a->s->panels;
    for (int64_t row = 0; row < g->step[0] && a->y[i] + row < g->map.out_size[0]; row++) {
        unsigned char *out = a->out[i] + row * g->map.out_size[1] * pixel_bytes;
        for (int64_t column = 0, count = 1; column < columns; column += count, count = 1) {
            const pixel_class *c = &g->classes[row * g->step[1] + column];
            if (!is_left_to_first(g, c)) continue;
            while (whole && column + count < columns && is_left_to_first(g, c + count)) count++;
            if (whole)
                clear_bytes(a, out + column * pixel_bytes, count * pixel_bytes);
            else
                clear_pixel(a, out + column * pixel_bytes, 1);
        }
    }
}

/* Blanked pixels become zeros, and so do the lanes behind the last channel. */
static void clear_rest(const part *a) {
    for (int i = 0; i < a->m; i++) {
        clear_pixel(a, a->out[i], a->blank[i]);
        if (a->l->epilogue && a->l->epilogue->raw[a->stream])
            clear_pixel(a, (unsigned char *)a->l->epilogue->raw[a->stream] + pixel_place(a, i), a->blank[i]);
        if (a->c == a->l->g->classes && a->l->g->class_count > 1) clear_neighbours(a, i);
    }
}

/* The bias of the columns of the part, as floats in `to` where the planes hold halves. */
static const float *find_bias(const part *a, float *to) {
    const indirect_gemm *g = a->l->g;
    const unsigned char *bias = a->l->b->plane[CONV2D_BIAS][a->stream];
    const int64_t begin = a->panel_begin * g->tile->columns;
    if (!bias || g->direction != INDIRECT_GEMM_FORWARD) return NULL;
    bias += (a->group * a->s->columns + begin) * g->bytes;
    if (!g->halves) return (const float *)(const void *)bias;
    g->halves->widen(to, (const uint16_t *)(const void *)bias,
                     at_most(a->s->columns, a->panel_end * g->tile->columns) - begin);
    return to;
}

static void run_tile(const part *a) {
    const indirect_gemm *g = a->l->g;
    if (a->active) {
        if (g->merged)
            run_filter_rows(a);
        else if (g->widened)
            run_widened(a);
        else
            run_taps(a);
        store_sums(a);
    }
    clear_rest(a);
}

static void run_part(void *context, int64_t index) {
    part both[2] = {{.l = context}}, *a = both; /* the tile that is worked on, and the one behind it */
    const indirect_gemm *g = a->l->g;
    float sums[SUM_FLOATS], bias[SUM_FLOATS / GEMM_MIN_ROWS];
    find_part(a, index);
    a->source = a->l->b->plane[g->direction == INDIRECT_GEMM_FORWARD ? CONV2D_X : CONV2D_Y][a->stream];
    a->source += a->group * a->s->depth * g->bytes;
    a->mask = a->l->b->plane[CONV2D_MASK][a->stream];
    a->added = g->added ? a->l->b->plane[CONV2D_A][a->stream] : NULL;
    a->bias = find_bias(a, bias);
    a->sums = sums;
    both[1] = both[0];
    gemm_enter(g->tile);
    find_pixels(a, a->pixel_begin);
    for (int64_t next = a->pixel_begin + a->m; a->m; next += a->m) {
        part *behind = a == both ? both + 1 : both;
        find_pixels(behind, next);
        a->next = behind->m == a->m ? behind : NULL;
        run_tile(a);
        a = behind;
    }
    gemm_leave(g->tile);
}

static launch launch_of(const indirect_gemm_work *w) {
    return (launch){w->state, w->b, w->b->workspace, w->b->workspace, w->epilogue};
}

braid_status indirect_gemm_pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    launch l = launch_of(&(indirect_gemm_work){state, b, NULL});
    (void)p;
    (void)d;
    zero_floats(b->workspace, l.g->zero_units);
    threads_for(l.g->pack_parts, pack_part, &l);
    return BRAID_OK;
}

void indirect_gemm_run_work(const indirect_gemm_work *w) {
    launch l = launch_of(w);
    threads_for(l.g->parts, run_part, &l);
}

braid_status indirect_gemm_run(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)p;
    (void)d;
    indirect_gemm_run_work(&(indirect_gemm_work){state, b, NULL});
    return BRAID_OK;
}
