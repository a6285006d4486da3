/*
 * Tests of the AMX tile (kernels/cpu/isa/amx.h) with plain loops in place of the tile registers, so that a machine
 * with AVX-512 alone proves where every number is taken from and put: single products against plain sums, then whole
 * convolutions and linear layers in bf16 against the reference, hand-picked and random ones.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/dtype.h"
#include "core/rng.h"
#include "kernels/cpu/conv/few_channels.h"
#include "kernels/cpu/isa/amx.h"
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/isa/channels.h"
#include "kernels/cpu/isa/pairs.h"
#include "kernels/cpu/tile/outer_product.h"
#include "race/verify.h"

enum { RANDOM_PROBLEMS = 120, MOST_DEPTH = 1200, MOST_TAPS = 70, GUARD = 5, PITCH = 48, MOST_NUMBERS = 40000 };

static float number(uint32_t unit, int high) {
    const uint32_t bits = high ? unit & 0xffff0000u : unit << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* One step of one pair of tile registers: c += a * b. */
static void step_tile(float *c, int64_t c_pitch, const unsigned char *a, int64_t stride, const uint32_t *b) {
    for (int i = 0; i < AMX_SIDE; i++) {
        for (int k = 0; k < AMX_SIDE; k++) {
            uint32_t unit;
            memcpy(&unit, a + i * stride + k * 4, sizeof unit);
            for (int j = 0; j < AMX_SIDE; j++) {
                uint32_t other = b[k * AMX_COLUMNS + j];
                c[i * c_pitch + j] += number(unit, 0) * number(other, 0) + number(unit, 1) * number(other, 1);
            }
        }
    }
}

/* The contract of amx_product in plain loops. */
static void plain_product(const amx_blocks *g) {
    for (int r = 0; r < g->row_tiles; r++) {
        for (int q = 0; q < g->column_tiles; q++) {
            float *c = g->c + r * AMX_SIDE * g->c_pitch + q * AMX_SIDE;
            for (int i = 0; i < AMX_SIDE && !g->accumulate; i++) memset(c + i * g->c_pitch, 0, AMX_SIDE * sizeof *c);
            for (int n = 0; n < g->segments; n++) {
                const amx_segment *s = &g->segment[n];
                for (int64_t k = 0; k < s->steps; k++)
                    step_tile(c, g->c_pitch, s->a[r] + k * s->step, s->stride[r],
                              s->b + k * AMX_SIDE * AMX_COLUMNS + q * AMX_SIDE);
            }
        }
    }
}

static int inside; /* calls of enter less calls of leave, by the threads of all parts */

static void plain_enter(void) { __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST); }
static void plain_leave(void) { __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST); }

static void plain_rows(const gemm_rows *g) {
    if (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) > 0) amx_rows(g, plain_product);
}

static void plain_outer(const gemm_outer *g) {
    if (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) > 0) amx_outer(g, plain_product);
}

static const gemm_tile plain_amx = {
    .name = "amx in plain loops",
    .rows = AMX_ROWS,
    .columns = AMX_COLUMNS,
    .flops = 1e9,
    .bf16 = &channels_portable.bf16,
    .f16 = &channels_portable.f16,
    .run_rows = plain_rows,
    .run_outer = plain_outer,
    .pack_rows = amx_pack_rows,
    .pack_pair = pairs_join,
    .enter = plain_enter,
    .leave = plain_leave,
};

static int can_run(void) {
    if (cpu_features() & FEATURE_AVX512) return 1;
    print_message("%s\n", "left out: the copies of the AMX tile need AVX-512");
    return 0;
}

/* ---- Single products ------------------------------------------------------------------------ */

static void fill_numbers(uint16_t *to, int64_t count, uint64_t seed) {
    rng r = {seed, 1, 0};
    for (int64_t i = 0; i < count; i++) to[i] = bf16_from_f32((float)rng_between(&r, -3, 3));
}

static void fill_poison(void *to, size_t bytes) { memset(to, 0xff, bytes); /* NaN as bf16 and as float */ }

/* What a product does not write on its stack is not a number. */
static __attribute__((noinline)) void poison_stack(void) {
    unsigned char below[1 << 16];
    fill_poison(below, sizeof below);
    __asm__ volatile("" ::"r"(below) : "memory");
}

/* How the rows of a product lie: side by side, with a gap that is not a number, in any order, or all the same. */
typedef enum row_order { ROWS_DENSE, ROWS_APART, ROWS_MIXED, ROWS_SAME, ROW_ORDERS } row_order;

static uint16_t source[MOST_NUMBERS], panel_numbers[MOST_TAPS * (MOST_DEPTH + 1) * AMX_COLUMNS];

static void lay_rows(const gemm_rows *g, row_order order, const void **row) {
    int64_t pitch = g->depth + (order == ROWS_APART ? 2 : 0), room = MOST_NUMBERS / (pitch + 1);
    fill_poison(source, sizeof source);
    for (int64_t i = 0; i < room; i++) fill_numbers(source + i * pitch, g->depth, (uint64_t)(7 + i));
    for (int64_t t = 0; t < g->taps; t++) {
        for (int i = 0; i < g->m; i++) {
            int64_t at = order == ROWS_MIXED ? (t * 5 + i * i) % room : order == ROWS_SAME ? t % room : (t + i) % room;
            row[t * AMX_ROWS + i] = source + at * pitch;
        }
    }
}

static float row_sum(const gemm_rows *g, int i, int j) {
    int64_t units = (g->depth + 1) / 2;
    double sum = 0;
    for (int64_t t = 0; t < g->taps; t++) {
        const uint16_t *row = g->row[t * AMX_ROWS + i];
        for (int64_t d = 0; d < g->depth; d++) {
            uint16_t weight = panel_numbers[((t * units + d / 2) * AMX_COLUMNS + j) * 2 + d % 2];
            sum += (double)f32_from_bf16(row[d]) * (double)f32_from_bf16(weight);
        }
    }
    return (float)sum;
}

/* Weights behind an odd depth are zero, as packing leaves them; behind the panel there is no number. */
static void fill_panel(const gemm_rows *g) {
    int64_t units = (g->depth + 1) / 2, count = g->taps * units * AMX_COLUMNS * 2;
    fill_poison(panel_numbers, sizeof panel_numbers);
    fill_numbers(panel_numbers, count, 5);
    for (int64_t t = 0; t < g->taps && g->depth % 2; t++) {
        for (int j = 0; j < AMX_COLUMNS; j++) panel_numbers[((t * units + units - 1) * AMX_COLUMNS + j) * 2 + 1] = 0;
    }
}

static void check_rows(gemm_rows g, row_order order, int with_init) {
    static const void *row[MOST_TAPS * AMX_ROWS];
    static float out[AMX_ROWS][PITCH], before[AMX_ROWS][PITCH];
    float init[AMX_COLUMNS], *out_row[AMX_ROWS];
    lay_rows(&g, order, row);
    fill_panel(&g);
    fill_poison(out, sizeof out);
    for (int i = 0; i < g.m; i++) out_row[i] = out[i] + GUARD;
    for (int i = 0; i < g.m && g.accumulate; i++) {
        for (int j = 0; j < g.n; j++) out_row[i][j] = (float)(i - j);
    }
    memcpy(before, out, sizeof out);
    for (int j = 0; j < AMX_COLUMNS; j++) init[j] = (float)(3 * j);
    g.row = row;
    g.panel = panel_numbers;
    g.init = with_init ? init : NULL;
    g.out = out_row;
    poison_stack();
    amx_rows(&g, plain_product);
    for (int i = 0; i < AMX_ROWS; i++) {
        for (int j = 0; j < PITCH; j++) {
            int column = j - GUARD, written = i < g.m && column >= 0 && column < g.n;
            if (!written) {
                assert_true(isnan(out[i][j]));
                continue;
            }
            float start = g.accumulate ? before[i][j] : with_init ? init[column] : 0;
            assert_float_equal(out[i][j], start + row_sum(&g, i, column), 0);
        }
    }
}

static void rows_equal_plain_sums(void **state) {
    static const struct {
        int64_t taps, depth;
    } shapes[] = {{1, 32},  {9, 64},  {3, 21},   {7, 22},   {1, 1},  {2, 33},
                  {70, 32}, {1, 544}, {3, 1056}, {1, 1033}, {0, 32}, {2, 0}};
    static const int sides[][2] = {{32, 32}, {16, 32}, {32, 16}, {16, 16}, {31, 32}, {17, 17}, {1, 1}, {5, 20}};
    (void)state;
    if (!can_run()) return;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (size_t k = 0; k < sizeof sides / sizeof sides[0]; k++) {
            gemm_rows g = {.m = sides[k][0], .n = sides[k][1], .taps = shapes[s].taps, .depth = shapes[s].depth};
            row_order order = (row_order)((s + k) % ROW_ORDERS);
            check_rows(g, order, 0);
            check_rows(g, (row_order)((order + 1) % ROW_ORDERS), 1);
            g.accumulate = 1;
            check_rows(g, (row_order)((order + 2) % ROW_ORDERS), 0);
        }
    }
}

static void check_outer(int64_t depth, int64_t rows, int n, int accumulate) {
    enum { MOST = 70, MOST_UNITS = 48 };
    static uint16_t dy[MOST][MOST + 1], x[MOST][AMX_COLUMNS];
    static uint32_t packed[AMX_SIDE * 5 * MOST_UNITS], columns[MOST_UNITS * AMX_COLUMNS];
    static float out[MOST][PITCH];
    const uint16_t *from[MOST];
    fill_poison(dy, sizeof dy);
    fill_poison(packed, sizeof packed);
    fill_poison(out, sizeof out);
    memset(columns, 0, sizeof columns);
    for (int64_t t = 0; t < depth; t++) {
        fill_numbers(dy[t], rows, (uint64_t)(60 + t));
        fill_numbers(x[t], AMX_COLUMNS, (uint64_t)(160 + t));
        from[t] = dy[t];
        if (t % 2) pairs_join(columns + t / 2 * AMX_COLUMNS, x[t - 1], x[t], AMX_COLUMNS);
        if (t == depth - 1 && depth % 2) pairs_join(columns + t / 2 * AMX_COLUMNS, x[t], NULL, AMX_COLUMNS);
    }
    for (int64_t i = 0; i < rows; i++) {
        for (int j = 0; j < n && accumulate; j++) out[i][j] = (float)(i + j);
    }
    amx_pack_rows(packed, from, depth, rows);
    for (int64_t first = 0; first < rows; first += AMX_ROWS) {
        gemm_outer g = {.n = n, .accumulate = accumulate, .depth = depth, .first = first, .pitch = PITCH};
        g.m = (int)(rows - first < AMX_ROWS ? rows - first : AMX_ROWS);
        g.packed_rows = packed;
        g.packed_columns = columns;
        g.row_count = rows;
        g.out = out[first];
        amx_outer(&g, plain_product);
    }
    for (int64_t i = 0; i < MOST; i++) {
        for (int j = 0; j < PITCH; j++) {
            double sum = accumulate ? (double)(i + j) : 0;
            if (i >= rows || j >= n) {
                assert_true(isnan(out[i][j]));
                continue;
            }
            for (int64_t t = 0; t < depth; t++) sum += (double)f32_from_bf16(dy[t][i]) * (double)f32_from_bf16(x[t][j]);
            assert_float_equal(out[i][j], (float)sum, 0);
        }
    }
}

static void outer_equals_plain_sums(void **state) {
    static const int64_t depths[] = {1, 2, 31, 32, 33, 64, 70}, rows[] = {1, 16, 32, 33, 64, 70};
    (void)state;
    if (!can_run()) return;
    for (size_t d = 0; d < sizeof depths / sizeof depths[0]; d++) {
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            for (int n = 1; n <= AMX_COLUMNS; n += 5) check_outer(depths[d], rows[r], n, (n + (int)d) % 2);
            check_outer(depths[d], rows[r], AMX_COLUMNS, 1);
            check_outer(depths[d], rows[r], AMX_SIDE, 0);
        }
    }
}

/* ---- Whole problems ------------------------------------------------------------------------- */

/* The contract of amx_window_product in plain loops. */
static void plain_windows(const amx_windows *g) {
    for (int i = 0; i < g->rows; i++) {
        for (int j = 0; j < g->column_tiles * AMX_SIDE; j++) {
            float sum = 0;
            for (int64_t t = 0; t < g->taps; t++) {
                const unsigned char *a = g->source + g->offset[t * 2 * g->units] * 2 + i * g->stride;
                for (int u = 0; u < g->units; u++) {
                    uint32_t unit, other = g->b[(t * g->units + u) * AMX_COLUMNS + j];
                    memcpy(&unit, a + u * 4, sizeof unit);
                    sum += number(unit, 0) * number(other, 0) + number(unit, 1) * number(other, 1);
                }
            }
            g->c[i * AMX_COLUMNS + j] = sum;
        }
    }
}

static void run_plain_lines(const few_channels_rows *g) { amx_line_rows(g, plain_windows); }

static void no_fence(void) { few_channels_avx512_bf16.fence(); }

static const few_channels_tile plain_lines = {&plain_amx, run_plain_lines, no_fence, NULL, 1};

PACKED_KERNEL(copied, plain_lines, few_channels_amx_supports, few_channels_cost, few_channels_create,
              KERNEL_SLOT(CONV2D_W) | KERNEL_SLOT(CONV2D_BIAS), few_channels_pack, few_channels_run_forward,
              few_channels_destroy)

PACKED_KERNEL(forward, plain_amx, supports_all, indirect_gemm_cost, indirect_gemm_create_forward, KERNEL_SLOT(CONV2D_W),
              indirect_gemm_pack, indirect_gemm_run, indirect_gemm_destroy)
PACKED_KERNEL(backward, plain_amx, supports_all, indirect_gemm_cost, indirect_gemm_create_backward,
              KERNEL_SLOT(CONV2D_W), indirect_gemm_pack, indirect_gemm_run, indirect_gemm_destroy)
TILE_KERNEL(weight, plain_amx, supports_all, outer_product_cost, outer_product_create, outer_product_launch,
            outer_product_destroy)

static void judge_kernel(const braid_problem *p, device *d, const kernel_functions *functions) {
    const kernel k = {.name = "emulated__cpu_amx",
                      .op = p->op,
                      .pass = p->pass,
                      .dtypes = 1u << BRAID_DTYPE_BF16,
                      .backend = KERNEL_CPU,
                      .functions = functions};
    for (int mode = 0; mode < 2; mode++) {
        verifier v;
        verdict result = {0};
        assert_int_equal(verifier_create(p, d, mode ? IMAGE_REAL : IMAGE_EXACT, 17, &v), BRAID_OK);
        assert_int_equal(verifier_judge(&v, &k, &result), BRAID_OK);
        if (result.failure[0]) {
            char text[BRAID_PROBLEM_TEXT];
            assert_int_equal(braid_problem_print(p, text, sizeof text), BRAID_OK);
            print_message("%s: %s\n", text, result.failure);
        }
        assert_string_equal(result.failure, "");
        assert_true(result.compared > 0);
        verifier_destroy(&v);
    }
    assert_int_equal(inside, 0);
}

static void judge_problem(const braid_problem *p, device *d) {
    static const kernel_functions *const functions[] = {&forward, &backward, &weight};
    judge_kernel(p, d, functions[p->pass]);
}

static void lines_pass(void **state) {
    static const char *const texts[] = {
        "conv2d_fwd:bf16:n3:b2:hw19x41:c3,1,1:k20,64,33:rs7x7:st2:pad3:bias1:mask1",
        "conv2d_fwd:bf16:b1:hw20x70:c3:k64:rs7x7:st2:pad3",
        "conv2d_fwd:bf16:n2:b2:hw5x33:c4,2:k16,17:rs3x8:pad1x4:mode=circular:cp6,3:kp24,20",
        "conv2d_fwd:bf16:n2:b1:hw15x17:c1,3:k40,32:rs9x5:st1x3:dil2x1:mode=reflect:pad2",
        "conv2d_fwd:bf16:b1:hw40x50:c1:k8:rs1x16",
        "conv2d_fwd:bf16:b3:hw1x1:c3:k5:rs1x1",
        "conv2d_fwd:bf16:b2:hw376x376:c1:k64:rs1x1",
    };
    static const char *const refused[] = {"conv2d_fwd:bf16:b1:hw40x50:c1:k8:rs1x17",
                                          "conv2d_fwd:bf16:b1:hw40x50:c3:k8:rs3x3:dil2"};
    device *d = NULL;
    braid_problem p;
    (void)state;
    if (!can_run()) return;
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (braid_problem_parse(texts[i], &p) != BRAID_OK) fail_msg("%s: %s", texts[i], braid_message());
        assert_null(few_channels_amx_supports(&p, d));
        judge_kernel(&p, d, &copied);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_int_equal(braid_problem_parse(refused[i], &p), BRAID_OK);
        assert_non_null(few_channels_amx_supports(&p, d));
    }
    d->backend->close(d);
}

static void picked_problems_pass(void **state) {
    static const struct {
        const char *op, *rest;
    } texts[] = {
        {"conv2d", "b1:hw5x37:c64:k64:rs3x3:pad1"},
        {"conv2d", "n2:b2:hw4x18:c32,96:k33,16:rs3x3:pad1:mask1"},
        {"conv2d", "n3:b1:hw19x41:c3,1,1:k20:rs7x7:st2:pad3:bias1"},
        {"conv2d", "b2:hw6x34:c64:k40:rs1x1:st2"},
        {"conv2d", "b1:hw4x17:c33:k31:rs3x3:pad1:cp40:kp32"},
        {"conv2d", "b1:hw9x20:c64:k64:rs3x3:g2:pad1:dil2"},
        {"conv2d", "b1:hw2x17:c1056:k32:rs1x1"},
        {"conv2d", "b1:hw12x13:c2:k3:rs9x9:pad4"},
        {"linear", "n2:b35:c64,70:k10,33:bias1"},
    };
    static const char *const passes[] = {"fwd", "bwd_data", "bwd_weight"};
    device *d = NULL;
    (void)state;
    if (!can_run()) return;
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (size_t pass = 0; pass < sizeof passes / sizeof passes[0]; pass++) {
            char text[160];
            braid_problem p;
            snprintf(text, sizeof text, "%s_%s:bf16:%s", texts[i].op, passes[pass], texts[i].rest);
            if (braid_problem_parse(text, &p) != BRAID_OK) fail_msg("%s: %s", text, braid_message());
            judge_problem(&p, d);
        }
    }
    d->backend->close(d);
}

static void random_problems_pass(void **state) {
    static const braid_op_id ops[] = {BRAID_OP_CONV2D, BRAID_OP_LINEAR};
    device *d = NULL;
    (void)state;
    if (!can_run()) return;
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    for (uint64_t seed = 0; seed < RANDOM_PROBLEMS; seed++) {
        braid_problem p;
        braid_pass pass = (braid_pass)(seed % BRAID_PASS_COUNT);
        assert_int_equal(braid_problem_draw(ops[seed / BRAID_PASS_COUNT % 2], pass, 1000 + seed, &p), BRAID_OK);
        p.dtype = BRAID_DTYPE_BF16;
        if (pass == BRAID_PASS_BWD_DATA && p.op == BRAID_OP_CONV2D && p.padding_mode != BRAID_PADDING_ZEROS) continue;
        judge_problem(&p, d);
    }
    d->backend->close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_equal_plain_sums),
        cmocka_unit_test(outer_equals_plain_sums),
        cmocka_unit_test(picked_problems_pass),
        cmocka_unit_test(random_problems_pass),
        cmocka_unit_test(lines_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
