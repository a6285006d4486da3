/*
 * The tile of gemm.h for bf16 on AMX: 32 rows times 32 columns in four tile registers. The registers are
 * configured when a part of the work begins and given back when it ends, on the thread that runs it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <immintrin.h>

#include "kernels/cpu/isa/amx.h"
#include "kernels/cpu/isa/channels.h"
#include "kernels/cpu/isa/pairs.h"

#define AMX_TARGET __attribute__((target("amx-tile,amx-bf16"), noinline))
#define B_STRIDE (AMX_COLUMNS * 4)
#define B_STEP (AMX_SIDE * AMX_COLUMNS)

/* What ldtilecfg reads: eight registers of 16 rows of 64 bytes. */
typedef struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_configuration;

#define EIGHT(value) \
    { value, value, value, value, value, value, value, value }

/* Not on the stack: compilers take the instruction for a read of a few bytes, and would not write the others. */
static const tile_configuration configuration = {
    .palette = 1, .row_bytes = EIGHT(AMX_SIDE * 4), .rows = EIGHT(AMX_SIDE)};

AMX_TARGET static void enter(void) { _tile_loadconfig(&configuration); }

AMX_TARGET static void leave(void) { _tile_release(); }

/* The compiler must have written what tile registers load, and not keep what they store. */
#define MEMORY_BARRIER() __asm__ volatile("" ::: "memory")

/* Registers 0 to 3 hold c by rows, 4 and 5 rows of a, 6 and 7 columns of b. */
AMX_TARGET static void load_sums(const amx_blocks *g) {
    const long stride = (long)(g->c_pitch * 4);
    const float *second = g->c + AMX_SIDE * g->c_pitch;
    if (!g->accumulate) {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        return;
    }
    _tile_loadd(0, g->c, stride);
    if (g->column_tiles == 2) _tile_loadd(1, g->c + AMX_SIDE, stride);
    if (g->row_tiles == 2) _tile_loadd(2, second, stride);
    if (g->row_tiles == 2 && g->column_tiles == 2) _tile_loadd(3, second + AMX_SIDE, stride);
}

AMX_TARGET static void store_sums(const amx_blocks *g) {
    const long stride = (long)(g->c_pitch * 4);
    float *second = g->c + AMX_SIDE * g->c_pitch;
    _tile_stored(0, g->c, stride);
    if (g->column_tiles == 2) _tile_stored(1, g->c + AMX_SIDE, stride);
    if (g->row_tiles == 2) _tile_stored(2, second, stride);
    if (g->row_tiles == 2 && g->column_tiles == 2) _tile_stored(3, second + AMX_SIDE, stride);
}

AMX_TARGET static void run_two_by_two(const amx_segment *s) {
    const unsigned char *first = s->a[0], *second = s->a[1];
    const uint32_t *b = s->b;
    const long stride = (long)s->stride[0], second_stride = (long)s->stride[1];
    for (int64_t k = 0; k < s->steps; k++, first += s->step, second += s->step, b += B_STEP) {
        _tile_loadd(6, b, B_STRIDE);
        _tile_loadd(4, first, stride);
        _tile_loadd(7, b + AMX_SIDE, B_STRIDE);
        _tile_loadd(5, second, second_stride);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
}

AMX_TARGET static void run_remainder(const amx_segment *s, int two_rows, int two_columns) {
    const unsigned char *first = s->a[0], *second = s->a[1];
    const uint32_t *b = s->b;
    for (int64_t k = 0; k < s->steps; k++, first += s->step, b += B_STEP) {
        _tile_loadd(6, b, B_STRIDE);
        _tile_loadd(4, first, (long)s->stride[0]);
        _tile_dpbf16ps(0, 4, 6);
        if (two_columns) {
            _tile_loadd(7, b + AMX_SIDE, B_STRIDE);
            _tile_dpbf16ps(1, 4, 7);
        }
        if (!two_rows) continue;
        _tile_loadd(5, second + k * s->step, (long)s->stride[1]);
        _tile_dpbf16ps(2, 5, 6);
        if (two_columns) _tile_dpbf16ps(3, 5, 7);
    }
}

static void product(const amx_blocks *g) {
    MEMORY_BARRIER();
    load_sums(g);
    for (int i = 0; i < g->segments; i++) {
        if (g->row_tiles == 2 && g->column_tiles == 2)
            run_two_by_two(&g->segment[i]);
        else
            run_remainder(&g->segment[i], g->row_tiles == 2, g->column_tiles == 2);
    }
    store_sums(g);
    MEMORY_BARRIER();
}

static void run_rows(const gemm_rows *g) { amx_rows(g, product); }

/* ---- Windows -------------------------------------------------------------------------------- */

static void shape_register(tile_configuration *c, int index, int rows, int row_bytes) {
    if (rows < 1 || row_bytes < 1) return; /* a register that is not used has neither */
    c->rows[index] = (uint8_t)rows;
    c->row_bytes[index] = (uint16_t)row_bytes;
}

/* Registers as in load_sums; those of a and b hold just the units of a tap, and rows that are there. */
AMX_TARGET static void shape_registers(const amx_windows *g) {
    tile_configuration c = {.palette = 1};
    const int rows[2] = {g->rows < AMX_SIDE ? g->rows : AMX_SIDE, g->rows - AMX_SIDE};
    const int widths[2] = {AMX_SIDE * 4, g->column_tiles == 2 ? AMX_SIDE * 4 : 0};
    for (int i = 0; i < 4; i++) shape_register(&c, i, rows[i / 2], widths[i % 2]);
    for (int i = 0; i < 2; i++) shape_register(&c, 4 + i, rows[i], g->units * 4);
    for (int i = 0; i < 2; i++) shape_register(&c, 6 + i, widths[i] ? g->units : 0, widths[i]);
    __asm__ volatile("" ::"r"(&c) : "memory"); /* all of it is written before it is read */
    _tile_loadconfig(&c);
}

AMX_TARGET static void run_windows(const amx_windows *g, const int two_rows, const int two_columns) {
    const uint32_t *b = g->b;
    const long stride = (long)g->stride;
    _tile_zero(0);
    if (two_columns) _tile_zero(1);
    if (two_rows) _tile_zero(2);
    if (two_rows && two_columns) _tile_zero(3);
    for (int64_t t = 0; t < g->taps; t++, b += g->units * AMX_COLUMNS) {
        const unsigned char *a = g->source + g->offset[t * 2 * g->units] * 2;
        _tile_loadd(6, b, B_STRIDE);
        _tile_loadd(4, a, stride);
        _tile_dpbf16ps(0, 4, 6);
        if (two_columns) {
            _tile_loadd(7, b + AMX_SIDE, B_STRIDE);
            _tile_dpbf16ps(1, 4, 7);
        }
        if (!two_rows) continue;
        _tile_loadd(5, a + AMX_SIDE * stride, stride);
        _tile_dpbf16ps(2, 5, 6);
        if (two_columns) _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, g->c, B_STRIDE);
    if (two_columns) _tile_stored(1, g->c + AMX_SIDE, B_STRIDE);
    if (two_rows) _tile_stored(2, g->c + AMX_SIDE * AMX_COLUMNS, B_STRIDE);
    if (two_rows && two_columns) _tile_stored(3, g->c + AMX_SIDE * AMX_COLUMNS + AMX_SIDE, B_STRIDE);
}

static void window_product(const amx_windows *g) {
    MEMORY_BARRIER();
    shape_registers(g);
    run_windows(g, g->rows > AMX_SIDE, g->column_tiles == 2);
    MEMORY_BARRIER();
}

static void run_line_rows(const few_channels_rows *g) { amx_line_rows(g, window_product); }

/* Ends the use of the registers, too. */
static void fence_lines(void) {
    leave();
    few_channels_avx512_bf16.fence();
}

const few_channels_tile few_channels_amx_bf16 = {
    .gemm = &gemm_amx_bf16, .run_rows = run_line_rows, .fence = fence_lines, .pairs = 1};

static void run_outer(const gemm_outer *g) { amx_outer(g, product); }

const gemm_tile gemm_amx_bf16 = {
    .name = "amx_bf16",
    .rows = AMX_ROWS,
    .columns = AMX_COLUMNS,
    .flops = 500e9,
    .bf16 = &channels_avx512_bf16.bf16,
    .f16 = &channels_avx512_bf16.f16,
    .run_rows = run_rows,
    .run_outer = run_outer,
    .pack_rows = amx_pack_rows,
    .pack_pair = pairs_join,
    .turn = pairs_turn_square,
    .enter = enter,
    .leave = leave,
};
