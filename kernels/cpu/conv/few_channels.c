/*
 * The convolution of few_channels.h. A part is a block of output rows of one sample of one stream (forward), or a
 * range of output rows of one stream (weight gradient), taken block by block: the input rows of a block are
 * copied with their padding, then its output rows are made or summed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/conv/few_channels.h"

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/tile/pack.h"
#include "kernels/cpu/conv/scratch.h"

#define MOST_CHANNELS 4
#define BLOCK_FLOATS 32768 /* of copied rows, about: 128 KiB of the second-level cache */
#define MOST_ROWS 8        /* output rows of a block */
#define MOST_SPLITS 32     /* of the sum over rows */
#define REDUCE_FLOATS 64   /* on the stack, of sums to be rounded */
#define LINE_FLOATS 16     /* of a cache line */
#define LINE_BYTES 64
#define MOST_PAIRED 32          /* numbers of a filter row, where only pairs will do */
#define CACHED_FLOATS (8 << 20) /* of outputs: more leave the caches before they are read, and are written past them */

typedef struct stream_shape {
    int64_t channels, columns; /* input and output channels */
    int64_t in_pitch, out_pitch;
    int64_t copied;              /* channels of a copied pixel: all, and a zero where only pairs will do */
    int64_t line;                /* numbers of a copied row */
    int64_t taps, depth, values; /* values = taps * depth: all that the filter sees of a place */
    int64_t tap_units;           /* of a packed tap: gemm.h */
    int64_t panels, padded;      /* padded: columns in whole panels */
    int64_t weights;             /* where packed weights, or sums of the splits, start in the workspace */
    int64_t *offset;             /* [values]: from the first value of a place */
} stream_shape;

typedef struct few_channels {
    const few_channels_tile *tile;
    const halves *halves; /* of the planes; NULL: they hold floats */
    braid_dtype dtype;    /* of the planes */
    size_t bytes;         /* of a number in them */
    size_t copied_bytes;  /* of a number of the copies */
    int streams, slots, past_caches;
    int64_t batch, size[2], out_size[2], stride[2];
    int64_t covered[2];                      /* padded rows and columns that some filter sees */
    int32_t *source[2];                      /* [covered]: the input row or column, or -1: zeros */
    int64_t block_rows, block_lines, blocks; /* blocks of one sample */
    int64_t splits, rows;                    /* of the weight gradient: all output rows of a stream */
    stream_shape stream[BRAID_MAX_PLANES];
    int64_t weights_floats, slot_floats, tail_floats;
} few_channels;

typedef struct launch {
    const few_channels *g;
    const buffers *b;
    float *weights, *scratch;
    scratch_slots slots;
} launch;

/* ---- Create -------------------------------------------------------------------------------- */

const char *few_channels_supports(const braid_problem *p, const device *d) {
    (void)d;
    if (p->groups != 1) return "sums over all channels: one group only";
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] < 1 || p->in_channels[i] > MOST_CHANNELS) return "copies rows of 1 to 4 channels only";
        if (p->out_channels[i] < 1) return "has nothing to make without output channels";
    }
    return NULL;
}

/* Channels in whole pairs. */
static int64_t paired(int64_t channels) { return ceil_div(channels, 2) * 2; }

const char *few_channels_amx_supports(const braid_problem *p, const device *d) {
    const char *reason = few_channels_supports(p, d);
    if (!reason && p->dilation[1] != 1) reason = "takes filter rows without dilation only";
    for (int i = 0; i < p->streams && !reason; i++) {
        if (p->filter[1] > MOST_PAIRED / paired(p->in_channels[i]))
            reason = "takes filter rows of 16 pairs of channels at most";
    }
    return reason;
}

/* The input coordinates of the padded rows or columns. */
static braid_status find_sources(few_channels *g, const braid_problem *p, int axis) {
    braid_problem plain = *p; /* conv2d_in_index with steps of one gives the coordinate of a padded place */
    plain.stride[axis] = plain.dilation[axis] = 1;
    g->covered[axis] = (g->out_size[axis] - 1) * p->stride[axis] + (p->filter[axis] - 1) * p->dilation[axis] + 1;
    TRY(memory_alloc((size_t)g->covered[axis], sizeof(int32_t), "table of rows", (void **)&g->source[axis]));
    for (int64_t i = 0; i < g->covered[axis]; i++) g->source[axis][i] = (int32_t)conv2d_in_index(&plain, axis, i, 0);
    return BRAID_OK;
}

static braid_status find_offsets(stream_shape *s, const braid_problem *p) {
    TRY(memory_alloc((size_t)s->values, sizeof *s->offset, "offsets of filter taps", (void **)&s->offset));
    for (int64_t v = 0; v < s->values; v++) {
        int64_t channel = v % s->copied, tap = v / s->copied;
        int64_t row = tap / p->filter[1] * p->dilation[0], column = tap % p->filter[1] * p->dilation[1];
        s->offset[v] = row * s->line + column * s->copied + channel;
    }
    return BRAID_OK;
}

static braid_status shape_stream(few_channels *g, const braid_problem *p, int i) {
    stream_shape *s = &g->stream[i];
    const int64_t copied = g->tile->pairs ? paired(p->in_channels[i]) : p->in_channels[i];
    const int64_t seen[3] = {p->filter[0], p->filter[1], copied};
    int dense = p->dilation[1] == 1;
    s->channels = p->in_channels[i];
    s->copied = copied;
    s->columns = p->out_channels[i];
    s->in_pitch = p->in_pitch[i];
    s->out_pitch = p->out_pitch[i];
    s->line = ceil_div(g->covered[1] * copied, LINE_FLOATS) * LINE_FLOATS + LINE_FLOATS;
    TRY(size_elements(seen, 3, "values of a filter", &s->values));
    s->depth = dense ? p->filter[1] * copied : copied;
    s->taps = s->values / s->depth;
    s->panels = ceil_div(s->columns, g->tile->gemm->columns);
    s->padded = s->panels * g->tile->gemm->columns;
    s->weights = g->weights_floats;
    s->tap_units = gemm_units(g->tile->gemm, s->depth);
    int forward = p->pass == BRAID_PASS_FWD;
    const int64_t dims[3] = {forward ? 1 : g->splits, (forward ? s->taps * s->tap_units : s->values) + 1, s->padded};
    int64_t floats;
    TRY(size_elements(dims, 3, "packed weights", &floats));
    g->weights_floats += floats;
    return find_offsets(s, p);
}

static void choose_blocks(few_channels *g, const braid_problem *p) {
    int64_t reach = (p->filter[0] - 1) * p->dilation[0] + 1;
    int64_t lines_that_fit = BLOCK_FLOATS / (g->covered[1] * MOST_CHANNELS + LINE_FLOATS);
    g->block_rows = at_most((lines_that_fit - reach) / p->stride[0] + 1, at_most(MOST_ROWS, g->out_size[0]));
    if (lines_that_fit < reach || g->block_rows < 1) g->block_rows = 1;
    g->block_lines = (g->block_rows - 1) * p->stride[0] + reach;
    g->blocks = ceil_div(g->out_size[0], g->block_rows);
    g->rows = p->batch * g->out_size[0];
    g->splits = at_most(ceil_div(g->rows, g->block_rows), MOST_SPLITS);
    if (g->splits < 1) g->splits = 1;
}

static braid_status fill(few_channels *g, const braid_problem *p, size_t *workspace_bytes) {
    int64_t most = 0, floats;
    for (int axis = 0; axis < 2; axis++) {
        g->size[axis] = p->size[axis];
        g->out_size[axis] = conv2d_out_size(p, axis);
        g->stride[axis] = p->stride[axis];
        TRY(find_sources(g, p, axis));
    }
    choose_blocks(g, p);
    for (int i = 0; i < g->streams; i++) {
        TRY(shape_stream(g, p, i));
        if (g->stream[i].line > most) most = g->stream[i].line;
    }
    g->past_caches = op_bytes(p) > CACHED_FLOATS * sizeof(float);
    const int64_t block[2] = {g->block_lines, most};
    TRY(size_elements(block, 2, "copied rows", &floats));
    g->tail_floats = g->out_size[1] * g->tile->gemm->columns;
    g->slot_floats = floats + g->tail_floats;
    int64_t parts = g->streams * (p->pass == BRAID_PASS_FWD ? p->batch * g->blocks : g->splits);
    g->slots = (int)at_most(at_most(parts, threads_get()), SCRATCH_MOST);
    if (g->slots < 1) g->slots = 1;
    const int64_t all[2] = {g->slots, g->slot_floats};
    TRY(size_elements(all, 2, "copied rows", &floats));
    return size_array((size_t)(g->weights_floats + floats), sizeof(float), "copied rows", workspace_bytes);
}

braid_status few_channels_create(const braid_problem *p, const few_channels_tile *tile, void **state,
                                 size_t *workspace_bytes) {
    few_channels *g = NULL;
    TRY(memory_calloc(1, sizeof *g, "state of a convolution", (void **)&g));
    g->tile = tile;
    g->dtype = p->dtype;
    g->bytes = dtype_bytes(p->dtype);
    g->halves = gemm_halves(tile->gemm, p->dtype);
    g->copied_bytes = gemm_is_bf16(tile->gemm) ? g->bytes : sizeof(float);
    g->streams = p->streams;
    g->batch = p->batch;
    braid_status status = fill(g, p, workspace_bytes);
    if (status) {
        few_channels_destroy(NULL, g);
        return status;
    }
    *state = g;
    return BRAID_OK;
}

void few_channels_destroy(device *d, void *state) {
    few_channels *g = state;
    (void)d;
    if (!g) return;
    for (int axis = 0; axis < 2; axis++) memory_free(g->source[axis]);
    for (int i = 0; i < BRAID_MAX_PLANES; i++) memory_free(g->stream[i].offset);
    memory_free(g);
}

/* ---- Copies -------------------------------------------------------------------------------- */

/* A block of output rows of one sample, and the copies of what they read. */
typedef struct block {
    const launch *l;
    const stream_shape *s;
    int stream;
    int64_t sample, first_row, rows;
    void *copies; /* numbers of the tile */
    float *tail;
} block;

/* `count` numbers of a plane from number `at` on, as floats. */
static void get_floats(const few_channels *g, float *to, const void *plane, int64_t at, int64_t count) {
    if (g->halves)
        g->halves->widen(to, (const uint16_t *)plane + at, count);
    else
        copy_floats(to, (const float *)plane + at, count);
}

/* The other way, rounded. */
static void put_floats(const few_channels *g, void *plane, int64_t at, const float *from, int64_t count) {
    if (g->halves)
        g->halves->narrow((uint16_t *)plane + at, from, count);
    else
        copy_floats((float *)plane + at, from, count);
}

/* Copies one input row with its padding, and a zero behind the channels of every pixel: an odd number, which is a
 * constant where this is inlined. */
static inline void copy_pairs_of(const block *a, uint16_t *to, int64_t row, const int channels) {
    const few_channels *g = a->l->g;
    const uint16_t *x = (const uint16_t *)a->l->b->plane[CONV2D_X][a->stream] + row;
    for (int64_t column = 0; column < g->covered[1]; column++, to += channels + 1) {
        const int64_t source = g->source[1][column];
        if (source < 0) {
            memset(to, 0, (size_t)(channels + 1) * 2);
        } else {
            memcpy(to, x + source * a->s->in_pitch, (size_t)channels * 2);
            to[channels] = 0;
        }
    }
}

static void copy_pairs(const block *a, uint16_t *to, int64_t row) {
    if (a->s->channels == 1)
        copy_pairs_of(a, to, row, 1);
    else
        copy_pairs_of(a, to, row, 3);
}

/* Copies one input row with its padding: neighbours in one piece where channels are dense, else pixel by pixel. */
static void copy_row(const block *a, void *to, int64_t row) {
    const few_channels *g = a->l->g;
    const void *x = a->l->b->plane[CONV2D_X][a->stream];
    const int32_t *source = g->source[1];
    const int64_t channels = a->s->channels, pitch = a->s->in_pitch, end = g->covered[1];
    for (int64_t column = 0, count = 1; column < end; column += count, count = 1) {
        int64_t first = source[column];
        while (pitch == channels && column + count < end && first >= 0 && source[column + count] == first + count)
            count++;
        void *piece = plane_to(to, column * channels, g->copied_bytes);
        if (first < 0)
            memset(piece, 0, (size_t)channels * g->copied_bytes);
        else if (g->copied_bytes == g->bytes)
            copy_bytes(piece, plane_from(x, row + first * pitch, g->bytes), count * channels * (int64_t)g->bytes);
        else
            get_floats(g, piece, x, row + first * pitch, count * channels);
    }
}

static void copy_rows(const block *a) {
    const few_channels *g = a->l->g;
    int64_t count = at_most(g->block_lines, g->covered[0] - a->first_row * g->stride[0]);
    for (int64_t i = 0; i < count; i++) {
        int64_t source = g->source[0][a->first_row * g->stride[0] + i];
        void *to = plane_to(a->copies, i * a->s->line, g->copied_bytes);
        if (source < 0)
            memset(to, 0, (size_t)(g->covered[1] * a->s->copied) * g->copied_bytes);
        else if (a->s->copied != a->s->channels)
            copy_pairs(a, to, (a->sample * g->size[0] + source) * g->size[1] * a->s->in_pitch);
        else
            copy_row(a, to, (a->sample * g->size[0] + source) * g->size[1] * a->s->in_pitch);
    }
}

/* ---- Forward ------------------------------------------------------------------------------- */

/* Packs one tap of a panel of weights [K][taps][channels], which lie at `w` and `pitch` apart, with the zeros that
 * copied pixels have behind their channels. */
static void pack_pairs(const stream_shape *s, pack_panel *q, const uint16_t *w, int64_t pitch) {
    uint16_t rows[GEMM_MAX_COLUMNS][MOST_PAIRED] = {{0}};
    const int64_t pixels = s->depth / s->copied;
    for (int j = 0; j < q->n; j++) {
        for (int64_t v = 0; v < pixels * s->channels; v++)
            rows[j][v / s->channels * s->copied + v % s->channels] = w[j * pitch + v];
    }
    q->from = rows;
    q->pitch = MOST_PAIRED;
    pack_transposed(q);
}

/* Packs the weights of one stream, [K][values], and behind them the bias, or zeros: [panel][taps][units], [column]. */
static void pack_stream(void *context, int64_t i) {
    const launch *l = context;
    const stream_shape *s = &l->g->stream[i];
    const int width = l->g->tile->gemm->columns;
    const void *w = l->b->plane[CONV2D_W][i], *bias = l->b->plane[CONV2D_BIAS][i];
    for (int64_t panel = 0; panel < s->panels; panel++) {
        pack_panel q = {.width = width, .pitch = s->values, .depth = s->depth};
        q.n = (int)at_most(s->columns - panel * width, width);
        q.tile = l->g->tile->gemm;
        q.halves = l->g->halves;
        q.to = l->weights + s->weights + panel * (s->taps * s->tap_units + 1) * width;
        const int64_t pitch = s->values / s->copied * s->channels, tap = s->depth / s->copied * s->channels;
        for (int64_t t = 0; t < s->taps; t++, q.to += s->tap_units * width) {
            q.from = plane_from(w, panel * width * pitch + t * tap, l->g->bytes);
            if (s->copied != s->channels)
                pack_pairs(s, &q, q.from, pitch);
            else
                pack_transposed(&q);
        }
        zero_floats(q.to, width);
        if (bias) get_floats(l->g, q.to, bias, panel * width, q.n);
    }
}

/* Numbers of a plane that fill cache lines. */
static int is_whole_lines(const few_channels *g, int64_t count) { return (size_t)count * g->bytes % LINE_BYTES == 0; }

static void make_row(const block *a, int64_t row) {
    const few_channels *g = a->l->g;
    const stream_shape *s = a->s;
    const int64_t width = g->tile->gemm->columns, panel_units = s->taps * s->tap_units;
    int64_t pixel = (a->sample * g->out_size[0] + a->first_row + row) * g->out_size[1];
    void *y = plane_to(a->l->b->plane[CONV2D_Y][a->stream], pixel * s->out_pitch, g->bytes);
    few_channels_rows run = {
        .dtype = g->dtype, .taps = s->taps, .depth = s->depth, .offset = s->offset, .out_pitch = s->out_pitch};
    run.step = g->stride[1] * s->copied;
    run.past_caches =
        g->past_caches && is_whole_lines(g, s->out_pitch) && is_whole_lines(g, width) && (uintptr_t)y % LINE_BYTES == 0;
    for (int64_t q = 0; q < g->out_size[1]; q += g->tile->gemm->rows) {
        run.m = (int)at_most(g->out_size[1] - q, g->tile->gemm->rows);
        run.source = plane_from(a->copies, row * g->stride[0] * s->line + q * run.step, g->copied_bytes);
        for (int64_t panel = 0; panel < s->panels; panel++) {
            run.n = (int)at_most(s->columns - panel * width, width);
            const float *packed = a->l->weights + s->weights + panel * (panel_units + 1) * width;
            run.panel = packed;
            run.init = packed + panel_units * width;
            run.out = plane_to(y, q * s->out_pitch + panel * width, g->bytes);
            g->tile->run_rows(&run);
        }
        zero_gaps(plane_to(y, q * s->out_pitch, g->bytes), run.m, s->columns, s->out_pitch, g->bytes);
    }
}

/* Block `index` of all samples, of one stream. */
static block find_block(const launch *l, int stream, int64_t index) {
    const few_channels *g = l->g;
    block a = {.l = l, .s = &g->stream[stream], .stream = stream, .sample = index / g->blocks};
    a.first_row = index % g->blocks * g->block_rows;
    a.rows = at_most(g->out_size[0] - a.first_row, g->block_rows);
    return a;
}

static void forward_part(void *context, int64_t index) {
    launch *l = context;
    const few_channels *g = l->g;
    block a = find_block(l, (int)(index / (g->batch * g->blocks)), index % (g->batch * g->blocks));
    if (mask_blanks(l->b->plane[CONV2D_MASK][a.stream], a.sample)) {
        int64_t pixels = g->out_size[1] * a.s->out_pitch;
        void *y = l->b->plane[CONV2D_Y][a.stream];
        memset(plane_to(y, (a.sample * g->out_size[0] + a.first_row) * pixels, g->bytes), 0,
               (size_t)(a.rows * pixels) * g->bytes);
        return;
    }
    int slot = scratch_take(&l->slots);
    a.copies = l->scratch + slot * g->slot_floats;
    copy_rows(&a);
    for (int64_t row = 0; row < a.rows; row++) make_row(&a, row);
    g->tile->fence();
    scratch_give(&l->slots, slot);
}

static launch start(const few_channels *g, const buffers *b) {
    launch l = {.g = g, .b = b, .weights = b->workspace, .slots = {.count = g->slots}};
    l.scratch = l.weights + g->weights_floats;
    return l;
}

braid_status few_channels_pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    const few_channels *g = state;
    launch l = start(g, b);
    (void)p;
    (void)d;
    threads_for(g->streams, pack_stream, &l);
    return BRAID_OK;
}

braid_status few_channels_run_forward(const braid_problem *p, device *d, void *state, const buffers *b) {
    const few_channels *g = state;
    launch l = start(g, b);
    (void)p;
    (void)d;
    threads_for(g->streams * g->batch * g->blocks, forward_part, &l);
    return BRAID_OK;
}

/* ---- Weight gradient ----------------------------------------------------------------------- */

/* The columns of a panel of dy along a row: where they lie, or as floats in whole vectors in the tail. */
static const float *find_columns(const block *a, int64_t first, int64_t panel, int n, int64_t *pitch) {
    const void *dy = a->l->b->plane[CONV2D_Y][a->stream];
    const int64_t width = a->l->g->tile->gemm->columns;
    *pitch = a->s->out_pitch;
    if (!a->l->g->halves && (n == width || n == width / 2)) return (const float *)dy + first + panel * width;
    for (int64_t q = 0; q < a->l->g->out_size[1]; q++) {
        get_floats(a->l->g, a->tail + q * width, dy, first + q * a->s->out_pitch + panel * width, n);
        zero_floats(a->tail + q * width + n, width - n);
    }
    *pitch = width;
    return a->tail;
}

/* sums[column] += the columns of dy along a row. */
static void sum_columns(const few_channels_outer *run, int n, float *sums) {
    float total[GEMM_MAX_COLUMNS] = {0};
    for (int64_t q = 0; q < run->count; q++) {
        for (int j = 0; j < n; j++) total[j] += run->column[q * run->column_pitch + j];
    }
    for (int j = 0; j < n; j++) sums[j] += total[j];
}

/* sums[value][column] += what the filter sees along an output row, times dy; the last value is the sum of dy itself. */
static void sum_row(const block *a, int64_t row, float *sums) {
    const few_channels *g = a->l->g;
    const stream_shape *s = a->s;
    const int64_t width = g->tile->gemm->columns, tiles = ceil_div(s->values, g->tile->gemm->rows);
    const int64_t dy = (a->sample * g->out_size[0] + a->first_row + row) * g->out_size[1] * s->out_pitch;
    const int has_bias = a->l->b->plane[CONV2D_BIAS][a->stream] != NULL;
    few_channels_outer run = {.accumulate = 1, .count = g->out_size[1], .step = g->stride[1] * s->channels};
    run.out_pitch = s->padded;
    run.source = (const float *)a->copies + row * g->stride[0] * s->line;
    for (int64_t panel = 0; panel < s->panels; panel++) {
        int n = (int)at_most(s->columns - panel * width, width);
        run.column = find_columns(a, dy, panel, n, &run.column_pitch);
        run.n = n > width / 2 ? (int)width : (int)width / 2;
        for (int64_t t = 0; t < tiles; t++) {
            int64_t begin, end;
            threads_range(s->values, tiles, t, &begin, &end);
            run.m = (int)(end - begin);
            run.offset = s->offset + begin;
            run.out = sums + begin * s->padded + panel * width;
            g->tile->run_outer(&run);
        }
        if (has_bias) sum_columns(&run, n, sums + s->values * s->padded + panel * width);
    }
}

static void weight_part(void *context, int64_t index) {
    launch *l = context;
    const few_channels *g = l->g;
    int64_t begin, end, split = index % g->splits;
    block a = {.l = l, .stream = (int)(index / g->splits)};
    a.s = &g->stream[a.stream];
    float *sums = l->weights + a.s->weights + split * (a.s->values + 1) * a.s->padded;
    zero_floats(sums, (a.s->values + 1) * a.s->padded);
    threads_range(g->rows, g->splits, split, &begin, &end);
    int slot = scratch_take(&l->slots);
    a.copies = l->scratch + slot * g->slot_floats;
    a.tail = l->scratch + (slot + 1) * g->slot_floats - g->tail_floats;
    while (begin < end) {
        a.sample = begin / g->out_size[0];
        a.first_row = begin % g->out_size[0];
        a.rows = at_most(at_most(end - begin, g->out_size[0] - a.first_row), g->block_rows);
        begin += a.rows;
        if (mask_blanks(l->b->plane[CONV2D_MASK][a.stream], a.sample)) continue;
        copy_rows(&a);
        for (int64_t row = 0; row < a.rows; row++) sum_row(&a, row, sums);
    }
    scratch_give(&l->slots, slot);
}

/* dw[k][value] and dbias[k] of one stream: the sums of the splits, added in their order. */
static void reduce_stream(void *context, int64_t i) {
    const launch *l = context;
    const stream_shape *s = &l->g->stream[i];
    const int64_t split_floats = (s->values + 1) * s->padded;
    void *dw = l->b->plane[CONV2D_W][i], *dbias = l->b->plane[CONV2D_BIAS][i];
    float *first = l->weights + s->weights, some[REDUCE_FLOATS];
    for (int64_t split = 1; split < l->g->splits; split++) {
        for (int64_t j = 0; j < split_floats; j++) first[j] += first[split * split_floats + j];
    }
    for (int64_t k = 0; k < s->columns; k++) {
        for (int64_t v = 0, count; v < s->values; v += count) {
            count = at_most(s->values - v, REDUCE_FLOATS);
            for (int64_t j = 0; j < count; j++) some[j] = first[(v + j) * s->padded + k];
            put_floats(l->g, dw, k * s->values + v, some, count);
        }
    }
    if (dbias) put_floats(l->g, dbias, 0, first + s->values * s->padded, s->columns);
}

braid_status few_channels_launch_weight(const braid_problem *p, device *d, void *state, const buffers *b) {
    const few_channels *g = state;
    launch l = start(g, b);
    (void)p;
    (void)d;
    threads_for(g->streams * g->splits, weight_part, &l);
    threads_for(g->streams, reduce_stream, &l);
    return BRAID_OK;
}

double few_channels_cost(const braid_problem *p, const machine *on, const few_channels_tile *tile) {
    return cost_seconds(p, on, tile->gemm->flops, 2, 2e-6);
}
