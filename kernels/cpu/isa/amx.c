/*
 * Where the numbers of an AMX product lie. A tile register is loaded from rows that are equally far apart, and
 * whole. Pixels side by side in an image are such rows, and are used where they lie; all others (at the edges of
 * an image, or of a depth that does not fill registers) are copied to the stack first, with zeros behind them.
 * Nothing behind the last number of a row is read, and nothing beside the result is written.
 *
 * SPDX-License-Identifier: MIT
 */
#define VEC_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma,f16c")))
#define VEC_BF16
#include "kernels/cpu/isa/vec_avx512.h"

#include "kernels/cpu/isa/amx.h"

#include "kernels/cpu/isa/pairs.h"
#include "kernels/cpu/isa/vec_any.h"
#include "kernels/cpu/isa/copy.h"

#define COPIED_UNITS 8192 /* on the stack */
#define MOST_SEGMENTS 64
#define STEP_BYTES 64 /* of a row in one step: AMX_SIDE units */

/* A product of rows under way. */
typedef struct job {
    const gemm_rows *g;
    amx_product *product;
    amx_blocks blocks;
    int64_t used; /* of copies */
    int ran;
    amx_segment segment[MOST_SEGMENTS];
    uint32_t copies[COPIED_UNITS] __attribute__((aligned(64)));
    uint32_t last_b[AMX_SIDE * AMX_COLUMNS] __attribute__((aligned(64)));
} job;

/* Runs the segments that are waiting; their copies are free again. */
static void run_segments(job *j) {
    j->product(&j->blocks);
    j->blocks.accumulate = 1;
    j->blocks.segments = 0;
    j->used = 0;
    j->ran = 1;
}

static amx_segment *add_segment(job *j) { return &j->segment[j->blocks.segments++]; }

/* True where `count` rows are equally far apart, in bytes. */
static int find_stride(const void *const *row, int count, int64_t *stride) {
    *stride = count > 1 ? (int64_t)((uintptr_t)row[1] - (uintptr_t)row[0]) : 0;
    for (int i = 2; i < count; i++) {
        if ((int64_t)((uintptr_t)row[i] - (uintptr_t)row[i - 1]) != *stride) return 0;
    }
    return 1;
}

/* `count` numbers; nothing beside them is touched. */
PAIRS_TARGET static void copy_numbers(uint16_t *to, const uint16_t *from, int64_t count) {
    for (int64_t i = 0; i < count; i += 32) {
        const int64_t left = count - i;
        const __mmask32 some = left < 32 ? (__mmask32)((1u << left) - 1) : (__mmask32)0xffffffff;
        _mm512_mask_storeu_epi16(to + i, some, _mm512_maskz_loadu_epi16(some, from + i));
    }
}

/* ---- Rows whose depth fills registers ------------------------------------------------------- */

/* Row tile r of tap t, units [begin, begin + units): where they lie, or copied. */
static void point_at_tap(job *j, amx_segment *s, int r, int64_t t, int64_t begin, int64_t units) {
    const void *const *row = j->g->row + t * AMX_ROWS + r * AMX_SIDE;
    const int count = (int)at_most(j->g->m - r * AMX_SIDE, AMX_SIDE);
    if (count == AMX_SIDE && find_stride(row, count, &s->stride[r])) {
        s->a[r] = (const unsigned char *)row[0] + begin * 4;
        return;
    }
    uint32_t *to = j->copies + j->used;
    s->a[r] = (const unsigned char *)to;
    s->stride[r] = units * 4;
    j->used += AMX_SIDE * units;
    for (int i = 0; i < count; i++, to += units)
        copy_numbers((uint16_t *)(void *)to, (const uint16_t *)row[i] + begin * 2, units * 2);
    zero_bytes(to, (AMX_SIDE - count) * units * 4);
}

static void run_whole_depth(job *j) {
    const int64_t tap_units = j->g->depth / 2, most = COPIED_UNITS / AMX_ROWS;
    for (int64_t t = 0; t < j->g->taps; t++) {
        for (int64_t begin = 0; begin < tap_units; begin += most) {
            const int64_t units = at_most(tap_units - begin, most);
            if (j->blocks.segments == MOST_SEGMENTS || j->used + AMX_ROWS * units > COPIED_UNITS) run_segments(j);
            amx_segment *s = add_segment(j);
            s->step = STEP_BYTES;
            s->steps = units / AMX_SIDE;
            s->b = (const uint32_t *)j->g->panel + (t * tap_units + begin) * AMX_COLUMNS;
            for (int r = 0; r < j->blocks.row_tiles; r++) point_at_tap(j, s, r, t, begin, units);
        }
    }
}

/* ---- Rows of any depth ---------------------------------------------------------------------- */

/* Units [begin, end) of all taps of row i, one tap after another, and zeros up to `padded` units. */
static void gather_units(const job *j, uint32_t *to, int i, int64_t begin, int64_t end, int64_t padded) {
    const int64_t depth = j->g->depth, tap_units = (depth + 1) / 2;
    int64_t t = begin / tap_units, u = begin % tap_units;
    uint32_t *stop = to + padded;
    for (int64_t k = begin; k < end; t++, u = 0) {
        const int64_t count = at_most(tap_units - u, end - k), numbers = at_most(depth - 2 * u, 2 * count);
        if (numbers % 2) to[count - 1] = 0;
        copy_numbers((uint16_t *)(void *)to, (const uint16_t *)j->g->row[t * AMX_ROWS + i] + 2 * u, numbers);
        to += count;
        k += count;
    }
    zero_bytes(to, (stop - to) * 4);
}

static void run_any_depth(job *j) {
    const int64_t total = j->g->taps * ((j->g->depth + 1) / 2), most = COPIED_UNITS / AMX_ROWS;
    for (int64_t begin = 0; begin < total; begin += most) {
        const int64_t end = at_most(begin + most, total), steps = (end - begin) / AMX_SIDE;
        const int64_t padded = ceil_div(end - begin, AMX_SIDE) * AMX_SIDE, rest = end - begin - steps * AMX_SIDE;
        const uint32_t *b = (const uint32_t *)j->g->panel + begin * AMX_COLUMNS;
        uint32_t *to = j->copies;
        for (int i = 0; i < j->blocks.row_tiles * AMX_SIDE; i++, to += padded) {
            if (i < j->g->m)
                gather_units(j, to, i, begin, end, padded);
            else
                zero_bytes(to, padded * 4);
        }
        const unsigned char *a = (const unsigned char *)j->copies, *second = a + AMX_SIDE * padded * 4;
        if (steps) *add_segment(j) = (amx_segment){{a, second}, {padded * 4, padded * 4}, STEP_BYTES, steps, b};
        if (rest) {
            const int64_t done = steps * STEP_BYTES;
            copy_bytes(j->last_b, b + steps * AMX_SIDE * AMX_COLUMNS, rest * AMX_COLUMNS * 4);
            zero_bytes(j->last_b + rest * AMX_COLUMNS, (AMX_SIDE - rest) * AMX_COLUMNS * 4);
            *add_segment(j) =
                (amx_segment){{a + done, second + done}, {padded * 4, padded * 4}, STEP_BYTES, 1, j->last_b};
        }
        run_segments(j);
    }
}

/* ---- Results -------------------------------------------------------------------------------- */

/* c[i][0..n) = the start of the sums. False where that is zero everywhere, and was not written. */
static int start_sums(const gemm_rows *g, float *c, int64_t pitch) {
    if (!g->accumulate && !g->init) return 0;
    for (int i = 0; i < g->m; i++) {
        const float *from = g->accumulate ? g->out[i] : g->init;
        if (from != c + i * pitch) copy_floats(c + i * pitch, from, g->n);
    }
    return 1;
}

void amx_rows(const gemm_rows *g, amx_product *product) {
    job j;
    float edge[AMX_ROWS * AMX_COLUMNS] __attribute__((aligned(64)));
    int64_t out_stride = 0;
    j.g = g;
    j.product = product;
    j.used = j.ran = 0;
    j.blocks =
        (amx_blocks){(int)ceil_div(g->m, AMX_SIDE), (int)ceil_div(g->n, AMX_SIDE), 0, 0, j.segment, edge, AMX_COLUMNS};
    const int whole = g->m % AMX_SIDE == 0 && g->n % AMX_SIDE == 0 &&
                      find_stride((const void *const *)g->out, g->m, &out_stride) &&
                      out_stride % (int64_t)sizeof(float) == 0;
    if (whole) {
        j.blocks.c = g->out[0];
        j.blocks.c_pitch = out_stride / (int64_t)sizeof(float);
    } else {
        zero_floats(edge, AMX_ROWS * AMX_COLUMNS);
    }
    j.blocks.accumulate = start_sums(g, j.blocks.c, j.blocks.c_pitch);
    if (g->depth % (2 * AMX_SIDE) == 0)
        run_whole_depth(&j);
    else
        run_any_depth(&j);
    if (j.blocks.segments || !j.ran) run_segments(&j);
    for (int i = 0; i < g->m && !whole; i++) copy_floats(g->out[i], edge + i * AMX_COLUMNS, g->n);
}

void amx_outer(const gemm_outer *g, amx_product *product) {
    const int64_t steps = ceil_div((g->depth + 1) / 2, AMX_SIDE), tile_bytes = steps * AMX_SIDE * STEP_BYTES;
    const unsigned char *rows = (const unsigned char *)g->packed_rows + g->first / AMX_SIDE * tile_bytes;
    const amx_segment segment = {
        {rows, rows + tile_bytes}, {STEP_BYTES, STEP_BYTES}, AMX_SIDE * STEP_BYTES, steps, g->packed_columns};
    float edge[AMX_ROWS * AMX_COLUMNS] __attribute__((aligned(64)));
    const int whole = g->m % AMX_SIDE == 0 && g->n % AMX_SIDE == 0;
    amx_blocks blocks = {
        (int)ceil_div(g->m, AMX_SIDE), (int)ceil_div(g->n, AMX_SIDE), g->accumulate, 1, &segment, edge, AMX_COLUMNS};
    if (whole) {
        blocks.c = g->out;
        blocks.c_pitch = g->pitch;
    } else {
        zero_floats(edge, AMX_ROWS * AMX_COLUMNS);
        for (int i = 0; i < g->m && g->accumulate; i++)
            copy_floats(edge + i * AMX_COLUMNS, g->out + i * g->pitch, g->n);
    }
    product(&blocks);
    for (int i = 0; i < g->m && !whole; i++) copy_floats(g->out + i * g->pitch, edge + i * AMX_COLUMNS, g->n);
}

/* The numbers [first, first + count) behind up to 2 * AMX_SIDE pointers, as AMX_SIDE rows of AMX_SIDE units. */
PAIRS_TARGET static void pack_block(uint32_t *to, const uint16_t *const *from, int64_t depth, int64_t first,
                                    int64_t count) {
    __m512i line[AMX_SIDE];
    for (int u = 0; u < AMX_SIDE; u++) {
        const uint16_t *low = 2 * u < depth ? from[2 * u] + first : NULL;
        const uint16_t *high = 2 * u + 1 < depth ? from[2 * u + 1] + first : NULL;
        line[u] = pairs_of(low, high, count);
    }
    pairs_turn(line);
    for (int i = 0; i < AMX_SIDE; i++) _mm512_storeu_si512(to + i * AMX_SIDE, line[i]);
}

void amx_pack_rows(uint32_t *to, const uint16_t *const *from, int64_t depth, int64_t rows) {
    for (int64_t first = 0; first < rows; first += AMX_SIDE) {
        for (int64_t t = 0; t < depth; t += 2 * AMX_SIDE, to += AMX_SIDE * AMX_SIDE)
            pack_block(to, from + t, depth - t, first, at_most(rows - first, AMX_SIDE));
    }
}

/* ---- Lines ---------------------------------------------------------------------------------- */

/* The sums of few_channels.h get the bias here, and each is rounded once. */
VEC_TARGET static void put_rows(const few_channels_rows *g, const float *sums) {
    for (int i = 0; i < g->m; i++, sums += AMX_COLUMNS) {
        for (int j = 0; j < g->n; j += VEC_LANES) {
            const int stream = g->past_caches && g->n - j >= VEC_LANES;
            const vec sum = vec_add(vec_load(sums + j), vec_load(g->init + j));
            vec_put(g->out, i * g->out_pitch + j, sum, g->n - j, BRAID_DTYPE_BF16, stream);
        }
    }
}

void amx_line_rows(const few_channels_rows *g, amx_window_product *product) {
    float sums[AMX_ROWS * AMX_COLUMNS] __attribute__((aligned(64)));
    const amx_windows windows = {.rows = g->m,
                                 .column_tiles = g->n > AMX_SIDE ? 2 : 1,
                                 .units = (int)(g->depth / 2),
                                 .taps = g->taps,
                                 .stride = g->step * 2,
                                 .source = g->source,
                                 .offset = g->offset,
                                 .b = g->panel,
                                 .c = sums};
    product(&windows);
    put_rows(g, sums);
}
