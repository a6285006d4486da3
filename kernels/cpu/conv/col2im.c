/*
 * The data gradient of col2im.h. Rows of dx grow in a scratch block that holds the padding too, so every product has a
 * place to go; what is left of the block in the end is the image.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/conv/col2im.h"

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/tile/pack.h"
#include "kernels/cpu/conv/scratch.h"

#define MOST_CHANNELS 15   /* with more, indirect_gemm.h fills its vectors */
#define MOST_ROWS 32       /* of dx in a block */
#define LEAST_ROWS 4       /* fewer repeat more products at the edges of a block than further threads are worth */
#define BLOCK_FLOATS 65536 /* of a block, about: 256 KiB of the second-level cache */
#define ENOUGH_PARTS 24
#define PIECE_COLUMNS 256 /* of products on the stack */
#define WIDE_FLOATS 8192  /* on the stack, of halves made floats */
#define LINE_FLOATS 16    /* of a cache line */

/* Products that lie side by side and so do their places: of a filter row where it is dense, else of a tap. */
typedef struct segment {
    int64_t column, count; /* of the products */
    int64_t row, place;    /* filter row; numbers from the first that the pixel's filter sees of it */
} segment;

typedef struct stream_shape {
    int64_t channels, in_pitch, depth, out_pitch;
    int64_t columns, panels; /* columns: taps times channels */
    int64_t packed;          /* where the panels start in the workspace, in units */
    int64_t line;            /* floats of a row of a block */
    int64_t segment_count;
    segment *segments; /* in the order of their columns */
} stream_shape;

typedef struct col2im {
    const gemm_tile *tile;
    const halves *halves; /* of the planes; NULL: they hold floats */
    size_t bytes;         /* of a number in them */
    int widened;          /* the planes hold halves and the tile takes floats */
    int streams, slots;
    int64_t batch, size[2], out_size[2], filter[2], stride[2], dilation[2], padding[2];
    int64_t block_rows, blocks; /* of one sample */
    stream_shape stream[BRAID_MAX_PLANES];
    int64_t panels, packed_units, slot_floats;
} col2im;

typedef struct launch {
    const col2im *g;
    const buffers *b;
    float *packed, *scratch;
    scratch_slots slots;
} launch;

/* ---- Create -------------------------------------------------------------------------------- */

const char *col2im_supports(const braid_problem *p, const device *d) {
    (void)d;
    if (conv2d_refuses_add(p)) return conv2d_refuses_add(p);
    if (p->padding_mode != BRAID_PADDING_ZEROS) return "adds gradients under zero padding only";
    if (p->groups != 1) return "makes all channels at once: one group only";
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] < 1 || p->in_channels[i] > MOST_CHANNELS) return "makes 1 to 15 channels only";
        if (p->out_channels[i] < 1) return "has no product without output channels";
    }
    return NULL;
}

/* Cuts the products into segments, also where a piece of them ends. */
static braid_status find_segments(const col2im *g, stream_shape *s) {
    const int64_t taps = g->filter[0] * g->filter[1], row_columns = g->filter[1] * s->channels;
    const int64_t unit = g->dilation[1] == 1 ? row_columns : s->channels;
    TRY(memory_alloc((size_t)(taps + s->columns / PIECE_COLUMNS + 1), sizeof *s->segments, "segments of a filter",
                     (void **)&s->segments));
    for (int64_t column = 0, count; column < s->columns; column += count) {
        const int64_t in_row = column % row_columns, tap = in_row / s->channels;
        count = at_most(unit - column % unit, PIECE_COLUMNS - column % PIECE_COLUMNS);
        s->segments[s->segment_count++] = (segment){.column = column,
                                                    .count = count,
                                                    .row = column / row_columns,
                                                    .place = tap * g->dilation[1] * s->channels + in_row % s->channels};
    }
    return BRAID_OK;
}

static braid_status shape_stream(col2im *g, const braid_problem *p, int i) {
    stream_shape *s = &g->stream[i];
    const int64_t dims[3] = {p->filter[0], p->filter[1], p->in_channels[i]};
    const int64_t covered = (g->out_size[1] - 1) * p->stride[1] + (p->filter[1] - 1) * p->dilation[1] + 1;
    const int64_t wide = p->padding[1] + p->size[1];
    int64_t units;
    s->channels = p->in_channels[i];
    s->in_pitch = p->in_pitch[i];
    s->depth = p->out_channels[i];
    s->out_pitch = p->out_pitch[i];
    TRY(size_elements(dims, 3, "values of a filter", &s->columns));
    s->panels = ceil_div(s->columns, g->tile->columns);
    s->line = ceil_div((covered > wide ? covered : wide) * s->channels, LINE_FLOATS) * LINE_FLOATS;
    const int64_t packed[3] = {s->panels, gemm_units(g->tile, s->depth), g->tile->columns};
    TRY(size_elements(packed, 3, "packed weights", &units));
    s->packed = g->packed_units;
    g->packed_units += ceil_div(units, LINE_FLOATS) * LINE_FLOATS;
    g->panels += s->panels;
    return find_segments(g, s);
}

static void choose_blocks(col2im *g, int64_t longest) {
    const int64_t samples = g->streams * g->batch;
    g->block_rows = at_most(at_most(MOST_ROWS, g->size[0]), BLOCK_FLOATS / longest);
    while (g->block_rows / 2 >= LEAST_ROWS && samples * ceil_div(g->size[0], g->block_rows) < ENOUGH_PARTS)
        g->block_rows /= 2;
    if (g->block_rows < 1) g->block_rows = 1;
    g->blocks = ceil_div(g->size[0], g->block_rows);
    g->slots = (int)at_most(at_most(samples * g->blocks, threads_get()), SCRATCH_MOST);
    if (g->slots < 1) g->slots = 1;
}

static braid_status fill(col2im *g, const braid_problem *p, size_t *workspace_bytes) {
    int64_t longest = LINE_FLOATS, floats;
    for (int axis = 0; axis < 2; axis++) {
        g->size[axis] = p->size[axis];
        g->out_size[axis] = conv2d_out_size(p, axis);
        g->filter[axis] = p->filter[axis];
        g->stride[axis] = p->stride[axis];
        g->dilation[axis] = p->dilation[axis];
        g->padding[axis] = p->padding[axis];
    }
    for (int i = 0; i < g->streams; i++) {
        TRY(shape_stream(g, p, i));
        if (g->stream[i].line > longest) longest = g->stream[i].line;
    }
    choose_blocks(g, longest);
    const int64_t slot[2] = {g->block_rows, longest};
    TRY(size_elements(slot, 2, "rows of an image", &g->slot_floats));
    const int64_t all[2] = {g->slots, g->slot_floats};
    TRY(size_elements(all, 2, "rows of an image", &floats));
    return size_array((size_t)(g->packed_units + floats), sizeof(float), "rows of an image", workspace_bytes);
}

braid_status col2im_create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes) {
    col2im *g = NULL;
    TRY(memory_calloc(1, sizeof *g, "state of a convolution", (void **)&g));
    g->tile = tile;
    g->bytes = dtype_bytes(p->dtype);
    g->halves = gemm_halves(tile, p->dtype);
    g->widened = g->halves && !gemm_is_bf16(tile);
    g->streams = p->streams;
    g->batch = p->batch;
    braid_status status = fill(g, p, workspace_bytes);
    if (status) {
        col2im_destroy(NULL, g);
        return status;
    }
    *state = g;
    return BRAID_OK;
}

void col2im_destroy(device *d, void *state) {
    col2im *g = state;
    (void)d;
    if (!g) return;
    for (int i = 0; i < BRAID_MAX_PLANES; i++) memory_free(g->stream[i].segments);
    memory_free(g);
}

/* ---- Packing ------------------------------------------------------------------------------- */

/* Packs one panel of the weights, which are [depth][columns]. */
static void pack_one(void *context, int64_t panel) {
    const launch *l = context;
    const col2im *g = l->g;
    const int64_t width = g->tile->columns;
    int i = 0;
    while (panel >= g->stream[i].panels) panel -= g->stream[i++].panels;
    const stream_shape *s = &g->stream[i];
    pack_panel q = {.width = (int)width, .pitch = s->columns, .depth = s->depth, .tile = g->tile, .halves = g->halves};
    q.n = (int)at_most(s->columns - panel * width, width);
    q.to = l->packed + s->packed + panel * gemm_units(g->tile, s->depth) * width;
    q.from = plane_from(l->b->plane[CONV2D_W][i], panel * width, g->bytes);
    pack_straight(&q);
}

/* ---- Products ------------------------------------------------------------------------------ */

/* Some rows of dx of one sample, and the output pixels whose products are being added to them. */
typedef struct part {
    const launch *l;
    const stream_shape *s;
    int stream;
    int64_t sample, first_row, rows;
    float *block;                        /* [rows][s->line]: rows of the padded image */
    int64_t out_row, row_begin, row_end; /* of the output; filter rows that reach the block from there */
    int64_t first, m;                    /* pixels of the row */
    int64_t piece_begin, piece_end;      /* columns that are made at once */
    float *made;                         /* [m][PIECE_COLUMNS] */
} part;

/* Adds the products of depth [begin, begin + depth) to those made before, where there are some. */
static void run_panels(part *a, const void *const *row, int64_t begin, int64_t depth) {
    const col2im *g = a->l->g;
    const int64_t width = g->tile->columns, units = gemm_units(g->tile, a->s->depth);
    float *out[GEMM_MAX_ROWS];
    gemm_rows run = {.m = (int)a->m, .taps = 1, .depth = depth, .row = row, .out = out, .accumulate = begin > 0};
    for (int64_t at = a->piece_begin; at < a->piece_end; at += width) {
        for (int i = 0; i < run.m; i++) out[i] = a->made + i * PIECE_COLUMNS + (at - a->piece_begin);
        run.n = a->s->columns - at > width / 2 ? (int)width : (int)width / 2;
        run.panel = a->l->packed + a->s->packed + (at / width * units + gemm_units(g->tile, begin)) * width;
        g->tile->run_rows(&run);
    }
}

static void make_products(part *a) {
    const col2im *g = a->l->g;
    const void *dy = a->l->b->plane[CONV2D_Y][a->stream], *row[GEMM_MAX_ROWS];
    const int64_t pixel = (a->sample * g->out_size[0] + a->out_row) * g->out_size[1] + a->first;
    const int64_t most = WIDE_FLOATS / g->tile->rows, pitch = a->s->out_pitch;
    float wide[WIDE_FLOATS];
    if (!g->widened) {
        for (int64_t i = 0; i < a->m; i++) row[i] = plane_from(dy, (pixel + i) * pitch, g->bytes);
        run_panels(a, row, 0, a->s->depth);
        return;
    }
    for (int64_t begin = 0, depth; begin < a->s->depth; begin += depth) {
        depth = at_most(a->s->depth - begin, most);
        for (int64_t i = 0; i < a->m; i++) {
            g->halves->widen(wide + i * depth, (const uint16_t *)dy + (pixel + i) * pitch + begin, depth);
            row[i] = wide + i * depth;
        }
        run_panels(a, row, begin, depth);
    }
}

static inline void add_floats(float *restrict to, const float *restrict from, int64_t count) {
    int64_t j = 0;
    for (; j + 4 <= count; j += 4) {
        for (int k = 0; k < 4; k++) to[j + k] += from[j + k];
    }
    for (; j < count; j++) to[j] += from[j];
}

/* Adds what was made to the rows of the block that it reaches. */
static void add_products(const part *a) {
    const col2im *g = a->l->g;
    const segment *begin = a->s->segments, *end = begin + a->s->segment_count;
    const int64_t step = g->stride[1] * a->s->channels, row_step = g->dilation[0] * a->s->line;
    while (begin < end && (begin->column < a->piece_begin || begin->row < a->row_begin)) begin++;
    while (begin < end && (end[-1].column >= a->piece_end || end[-1].row >= a->row_end)) end--;
    const int64_t top = a->out_row * g->stride[0] - g->padding[0] - a->first_row; /* of filter row 0, in the block */
    for (int64_t i = 0; i < a->m; i++) {
        const int64_t corner = top * a->s->line + (a->first + i) * step;
        const float *from = a->made + i * PIECE_COLUMNS;
        for (const segment *t = begin; t < end; t++) {
            float *to = a->block + (corner + t->row * row_step + t->place);
            add_floats(to, from + (t->column - a->piece_begin), t->count);
        }
    }
}

/* All products of one row of the output that reach the block. */
static void col2im_row(part *a) {
    const col2im *g = a->l->g;
    const int64_t width = g->tile->columns, row_columns = g->filter[1] * a->s->channels;
    const int64_t begin = a->row_begin * row_columns / width * width, end = a->row_end * row_columns;
    for (a->first = 0; a->first < g->out_size[1]; a->first += g->tile->rows) {
        a->m = at_most(g->out_size[1] - a->first, g->tile->rows);
        for (a->piece_begin = begin; a->piece_begin < end; a->piece_begin = a->piece_end) {
            a->piece_end = at_most((a->piece_begin / PIECE_COLUMNS + 1) * PIECE_COLUMNS, end);
            make_products(a);
            add_products(a);
        }
    }
}

/* ---- Rows of dx ---------------------------------------------------------------------------- */

static void *find_row(const part *a, int64_t row) {
    const col2im *g = a->l->g;
    const int64_t pixel = (a->sample * g->size[0] + a->first_row + row) * g->size[1];
    return plane_to(a->l->b->plane[CONV2D_X][a->stream], pixel * a->s->in_pitch, g->bytes);
}

static void put_numbers(const col2im *g, void *to, const float *from, int64_t count) {
    if (g->halves)
        g->halves->narrow(to, from, count);
    else
        memcpy(to, from, (size_t)count * sizeof *from);
}

static void put_row(const part *a, int64_t row) {
    const col2im *g = a->l->g;
    const int64_t channels = a->s->channels, pitch = a->s->in_pitch;
    const float *from = a->block + row * a->s->line + g->padding[1] * channels;
    void *to = find_row(a, row);
    if (pitch == channels) {
        put_numbers(g, to, from, g->size[1] * channels);
        return;
    }
    for (int64_t x = 0; x < g->size[1]; x++)
        put_numbers(g, plane_to(to, x * pitch, g->bytes), from + x * channels, channels);
    zero_gaps(to, g->size[1], channels, pitch, g->bytes);
}

static void make_rows(part *a) {
    const col2im *g = a->l->g;
    const int64_t top = a->first_row + g->padding[0], bottom = top + a->rows - 1; /* in the padded image */
    const int64_t reach = (g->filter[0] - 1) * g->dilation[0];
    zero_floats(a->block, a->rows * a->s->line);
    a->out_row = top > reach ? ceil_div(top - reach, g->stride[0]) : 0;
    for (; a->out_row < g->out_size[0] && a->out_row * g->stride[0] <= bottom; a->out_row++) {
        const int64_t seen = a->out_row * g->stride[0];
        a->row_begin = top > seen ? ceil_div(top - seen, g->dilation[0]) : 0;
        a->row_end = at_most((bottom - seen) / g->dilation[0] + 1, g->filter[0]);
        if (a->row_begin < a->row_end) col2im_row(a);
    }
    for (int64_t row = 0; row < a->rows; row++) put_row(a, row);
}

static void run_part(void *context, int64_t index) {
    launch *l = context;
    const col2im *g = l->g;
    part a = {.l = l, .stream = (int)(index / (g->batch * g->blocks))};
    index %= g->batch * g->blocks;
    a.s = &g->stream[a.stream];
    a.sample = index / g->blocks;
    a.first_row = index % g->blocks * g->block_rows;
    a.rows = at_most(g->size[0] - a.first_row, g->block_rows);
    if (mask_blanks(l->b->plane[CONV2D_MASK][a.stream], a.sample)) {
        memset(find_row(&a, 0), 0, (size_t)(a.rows * g->size[1] * a.s->in_pitch) * g->bytes);
        return;
    }
    float made[GEMM_MAX_ROWS * PIECE_COLUMNS];
    const int slot = scratch_take(&l->slots);
    a.made = made;
    a.block = l->scratch + slot * g->slot_floats;
    gemm_enter(g->tile);
    make_rows(&a);
    gemm_leave(g->tile);
    scratch_give(&l->slots, slot);
}

static launch start(const col2im *g, const buffers *b) {
    launch l = {.g = g, .b = b, .packed = b->workspace, .slots = {.count = g->slots}};
    l.scratch = l.packed + g->packed_units;
    return l;
}

braid_status col2im_pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    const col2im *g = state;
    launch l = start(g, b);
    (void)p;
    (void)d;
    threads_for(g->panels, pack_one, &l);
    return BRAID_OK;
}

braid_status col2im_run(const braid_problem *p, device *d, void *state, const buffers *b) {
    const col2im *g = state;
    launch l = start(g, b);
    (void)p;
    (void)d;
    threads_for(g->streams * g->batch * g->blocks, run_part, &l);
    return BRAID_OK;
}

double col2im_cost(const braid_problem *p, const machine *on, const gemm_tile *tile) {
    const int64_t width = tile->columns / 2, taps = p->filter[0] * p->filter[1];
    double used = 0, all = 0;
    for (int i = 0; i < p->streams; i++) {
        used += (double)(taps * p->in_channels[i]);
        all += (double)(ceil_div(taps * p->in_channels[i], width) * width);
    }
    return cost_seconds(p, on, used / all * tile->flops, 2, 2e-6);
}
