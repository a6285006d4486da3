/*
 * Tests of the register tiles of the CPU kernels (kernels/cpu/tile) for every instruction
 * set that this machine has, against plain loops: every number of rows and columns, sums of no and of
 * many terms, and nothing touched beside the result. Small integers, so that equality is exact.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/rng.h"
#include "kernels/cpu/isa/gemm.h"

enum { MOST_TAPS = 3, MOST_DEPTH = 35, GUARD = 8, ROW_FLOATS = 64 };

static const struct {
    unsigned feature;
    const gemm_tile *tile;
} sets[] = {{FEATURE_AVX512, &gemm_avx512}, {FEATURE_AVX2, &gemm_avx2}, {0, &gemm_portable}};
enum { SETS = sizeof sets / sizeof sets[0] };

static int has(int set) {
    if ((cpu_features() & sets[set].feature) == sets[set].feature) return 1;
    print_message("%s is left out: not available here\n", sets[set].tile->name);
    return 0;
}

static void fill_integers(float *to, int count, uint64_t seed) {
    rng r = {seed, 1, 0};
    for (int i = 0; i < count; i++) to[i] = (float)rng_between(&r, -4, 4);
}

static void fill_poison(float *to, int count) {
    for (int i = 0; i < count; i++) to[i] = NAN;
}

static void assert_untouched(const float *from, int count) {
    for (int i = 0; i < count; i++) assert_true(isnan(from[i]));
}

static float rows_expected(const gemm_rows *g, const gemm_tile *tile, float before, int i, int j) {
    float sum = g->accumulate ? before : g->init ? g->init[j] : 0;
    for (int64_t t = 0; t < g->taps; t++) {
        for (int64_t d = 0; d < g->depth; d++) {
            const float *row = g->row[t * tile->rows + i], *panel = g->panel;
            sum += row[d] * panel[(t * g->depth + d) * tile->columns + j];
        }
    }
    return sum;
}

/* One product of rows: random integers in, the plain loop and the guards around every output row compared. */
static void check_rows(const gemm_tile *tile, gemm_rows g, int with_init) {
    static float source[MOST_TAPS * GEMM_MAX_ROWS][MOST_DEPTH], panel[MOST_TAPS * MOST_DEPTH * GEMM_MAX_COLUMNS];
    static float out[GEMM_MAX_ROWS][ROW_FLOATS], before[GEMM_MAX_ROWS][ROW_FLOATS];
    const void *row[MOST_TAPS * GEMM_MAX_ROWS] = {NULL};
    float init[GEMM_MAX_COLUMNS], *out_row[GEMM_MAX_ROWS];
    fill_integers(source[0], (int)(sizeof source / sizeof source[0][0]), 1);
    fill_integers(panel, (int)(sizeof panel / sizeof panel[0]), 2);
    fill_integers(init, GEMM_MAX_COLUMNS, 3);
    for (int64_t t = 0; t < g.taps; t++) {
        for (int i = 0; i < g.m; i++) row[t * tile->rows + i] = source[t * GEMM_MAX_ROWS + i];
    }
    fill_poison(out[0], GEMM_MAX_ROWS * ROW_FLOATS);
    for (int i = 0; i < g.m; i++) {
        out_row[i] = out[i] + GUARD;
        if (g.accumulate) fill_integers(out_row[i], g.n, (uint64_t)(10 + i));
    }
    memcpy(before, out, sizeof out);
    g.row = row;
    g.ahead = with_init ? row : NULL; /* to fetch it changes nothing */
    g.ahead_step = 1;
    g.panel = panel;
    g.init = with_init ? init : NULL;
    g.out = out_row;
    tile->run_rows(&g);
    for (int i = 0; i < GEMM_MAX_ROWS; i++) {
        int written = i < g.m ? g.n : 0;
        for (int j = 0; j < written; j++) {
            assert_float_equal(out[i][GUARD + j], rows_expected(&g, tile, before[i][GUARD + j], i, j), 0);
        }
        assert_untouched(out[i], GUARD);
        assert_untouched(out[i] + GUARD + written, ROW_FLOATS - GUARD - written);
    }
}

static void rows_equal_plain_loop(void **state) {
    (void)state;
    for (int set = 0; set < SETS; set++) {
        const gemm_tile *tile = sets[set].tile;
        if (!has(set)) continue;
        assert_true(tile->rows <= GEMM_MAX_ROWS && tile->columns <= GEMM_MAX_COLUMNS);
        for (int m = 1; m <= tile->rows; m++) {
            for (int n = 1; n <= tile->columns; n++) {
                gemm_rows g = {.m = m, .n = n, .taps = 1 + n % MOST_TAPS, .depth = 1 + (5 * m + n) % MOST_DEPTH};
                check_rows(tile, g, 0);
                check_rows(tile, g, 1);
                g.accumulate = 1;
                check_rows(tile, g, 1);
            }
        }
        check_rows(tile, (gemm_rows){.m = 1, .n = 1, .taps = 0, .depth = 5}, 1);
        check_rows(tile, (gemm_rows){.m = tile->rows, .n = tile->columns, .taps = 2, .depth = 0}, 0);
    }
}

/* One sum of outer products. The columns behind n hold NaN: they are read and must not matter. */
static void check_outer(const gemm_tile *tile, gemm_outer g, int first) {
    static float rows[MOST_DEPTH][ROW_FLOATS], columns[MOST_DEPTH][GEMM_MAX_COLUMNS];
    static float out[GEMM_MAX_ROWS][ROW_FLOATS], before[GEMM_MAX_ROWS][ROW_FLOATS];
    const float *column[MOST_DEPTH];
    for (int t = 0; t < MOST_DEPTH; t++) {
        fill_integers(rows[t], ROW_FLOATS, (uint64_t)(20 + t));
        fill_integers(columns[t], g.n, (uint64_t)(40 + t));
        fill_poison(columns[t] + g.n, GEMM_MAX_COLUMNS - g.n);
        column[t] = columns[t];
    }
    fill_poison(out[0], GEMM_MAX_ROWS * ROW_FLOATS);
    for (int i = 0; i < g.m && g.accumulate; i++) fill_integers(out[i], g.n, (uint64_t)(60 + i));
    memcpy(before, out, sizeof out);
    g.pitch = ROW_FLOATS;
    g.rows = rows[0] + first;
    g.row_pitch = ROW_FLOATS;
    g.column = column;
    g.out = out[0];
    tile->run_outer(&g);
    for (int i = 0; i < GEMM_MAX_ROWS; i++) {
        int written = i < g.m ? g.n : 0;
        for (int j = 0; j < written; j++) {
            float sum = g.accumulate ? before[i][j] : 0;
            for (int64_t t = 0; t < g.depth; t++) sum += rows[t][first + i] * columns[t][j];
            assert_float_equal(out[i][j], sum, 0);
        }
        assert_untouched(out[i] + written, ROW_FLOATS - written);
    }
}

static void outer_equals_plain_loop(void **state) {
    (void)state;
    for (int set = 0; set < SETS; set++) {
        const gemm_tile *tile = sets[set].tile;
        if (!has(set)) continue;
        for (int m = 1; m <= tile->rows; m++) {
            for (int n = 1; n <= tile->columns; n++) {
                gemm_outer g = {.m = m, .n = n, .depth = (m + n) % (MOST_DEPTH + 1)};
                check_outer(tile, g, n % 7);
                g.accumulate = 1;
                check_outer(tile, g, n % 7);
            }
        }
    }
}

/* Operands laid side by side: all of them, and nothing beside them. */
static void lay_copies(void **state) {
    static float from[MOST_DEPTH][ROW_FLOATS], to[(MOST_DEPTH + 1) * GEMM_MAX_COLUMNS];
    const float *source[MOST_DEPTH];
    (void)state;
    for (int t = 0; t < MOST_DEPTH; t++) {
        fill_integers(from[t], ROW_FLOATS, (uint64_t)(80 + t));
        source[t] = from[t];
    }
    for (int set = 0; set < SETS; set++) {
        const gemm_tile *tile = sets[set].tile;
        if (!has(set)) continue;
        for (int count = 1; count <= tile->columns; count++) {
            if (count > tile->rows && count != tile->columns / 2 && count != tile->columns) continue;
            fill_poison(to, (int)(sizeof to / sizeof to[0]));
            tile->lay(to, source, MOST_DEPTH, count % 5, count);
            const int lanes = tile->columns / 2, whole = (count + lanes - 1) / lanes * lanes;
            for (int j = 0; j < MOST_DEPTH * whole; j++) {
                const float expected = j % whole < count ? from[j / whole][count % 5 + j % whole] : 0;
                assert_float_equal(to[j], expected, 0);
            }
            assert_untouched(to + MOST_DEPTH * whole, GEMM_MAX_COLUMNS);
        }
    }
}

static void check_dots(const gemm_tile *tile, int m, int n, int depth) {
    static float rows[GEMM_MAX_DOT_ROWS][ROW_FLOATS], columns[GEMM_DOT_COLUMNS][ROW_FLOATS];
    gemm_dots g = {.m = m, .n = n, .depth = depth};
    fill_poison(rows[0], GEMM_MAX_DOT_ROWS * ROW_FLOATS);
    fill_poison(columns[0], GEMM_DOT_COLUMNS * ROW_FLOATS);
    for (int i = 0; i < m; i++) {
        fill_integers(rows[i], depth, (uint64_t)(100 + i));
        g.row[i] = rows[i];
    }
    for (int j = 0; j < n; j++) {
        fill_integers(columns[j], depth, (uint64_t)(110 + j));
        g.column[j] = columns[j];
    }
    fill_poison(g.out[0], GEMM_MAX_DOT_ROWS * GEMM_DOT_COLUMNS);
    tile->run_dots(&g);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int d = 0; d < depth; d++) sum += rows[i][d] * columns[j][d];
            assert_float_equal(g.out[i][j], sum, 0);
        }
    }
}

static void dots_equal_plain_loop(void **state) {
    (void)state;
    for (int set = 0; set < SETS; set++) {
        const gemm_tile *tile = sets[set].tile;
        if (!has(set)) continue;
        assert_true(tile->dot_rows <= GEMM_MAX_DOT_ROWS);
        for (int m = 1; m <= tile->dot_rows; m++) {
            for (int n = 1; n <= GEMM_DOT_COLUMNS; n++) {
                for (int depth = 0; depth <= ROW_FLOATS; depth++) check_dots(tile, m, n, depth);
            }
        }
    }
}

/* A square inside a larger one, whose other numbers are not touched. */
static void turn_swaps_rows_and_columns(void **state) {
    static float from[GEMM_PACKED_STEP][ROW_FLOATS], to[GEMM_PACKED_STEP][ROW_FLOATS];
    (void)state;
    for (int set = 0; set < SETS; set++) {
        if (!has(set) || !sets[set].tile->turn) continue;
        fill_integers(from[0], GEMM_PACKED_STEP * ROW_FLOATS, 70);
        fill_poison(to[0], GEMM_PACKED_STEP * ROW_FLOATS);
        sets[set].tile->turn(to[0] + GUARD, sizeof to[0], from[0] + 1, sizeof from[0]);
        for (int d = 0; d < GEMM_PACKED_STEP; d++) {
            for (int j = 0; j < GEMM_PACKED_STEP; j++) assert_float_equal(to[d][GUARD + j], from[j][1 + d], 0);
            assert_untouched(to[d], GUARD);
            assert_untouched(to[d] + GUARD + GEMM_PACKED_STEP, ROW_FLOATS - GUARD - GEMM_PACKED_STEP);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_equal_plain_loop),
        cmocka_unit_test(outer_equals_plain_loop),
        cmocka_unit_test(lay_copies),
        cmocka_unit_test(dots_equal_plain_loop),
        cmocka_unit_test(turn_swaps_rows_and_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
