/*
 * Tests of verdicts: baselines, ratios, handicaps, and the sums of a whole bench.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>

#include "bench/bench.h"

/* Of a baseline of `base` ms; the interval of the ratio is wider by `spread` of it on each side. */
static braid_bench_row timed(const char *kernel, braid_kind kind, double ms, double base, double spread) {
    return (braid_bench_row){.kernel = kernel,
                             .kind = kind,
                             .median_s = 1e-3 * ms,
                             .low_s = 1e-3 * ms,
                             .high_s = 1e-3 * ms,
                             .ratio = base / ms,
                             .ratio_low = base / ms / (1 + spread),
                             .ratio_high = base / ms * (1 + spread)};
}

static braid_bench_row untimed(const char *kernel, braid_kind kind) {
    return (braid_bench_row){.kernel = kernel,
                             .kind = kind,
                             .median_s = (double)NAN,
                             .low_s = (double)NAN,
                             .high_s = (double)NAN,
                             .ratio = (double)NAN};
}

static braid_bench_result judged(braid_bench_row *rows, int count, int chosen, int baseline) {
    braid_bench_result r = {.rows = rows, .count = count, .chosen = chosen, .baseline = baseline};
    judge(&r, rows);
    return r;
}

static void verdicts_by_the_ratio(void **state) {
    (void)state;
    braid_bench_row rows[] = {timed("own", BRAID_KIND_OWN, 1, 2, 0.1), timed("v2", BRAID_KIND_VENDOR, 3, 2, 0.1),
                              timed("v1", BRAID_KIND_VENDOR, 2, 2, 0), timed("near", BRAID_KIND_OWN, 2, 2, 0.04),
                              timed("wide", BRAID_KIND_OWN, 1.9, 2, 0.2)};
    braid_bench_result r = judged(rows, 5, 0, 2);
    assert_int_equal(r.baseline, 2);
    assert_string_equal(r.baseline_name, "v1");
    assert_int_equal(rows[0].verdict, BRAID_VERDICT_FAST);
    assert_int_equal(rows[1].verdict, BRAID_VERDICT_SLOW);
    assert_int_equal(rows[2].verdict, BRAID_VERDICT_BASE);
    assert_int_equal(rows[3].verdict, BRAID_VERDICT_SAME);
    assert_int_equal(rows[4].verdict, BRAID_VERDICT_AMBIGUOUS);
    assert_string_equal(braid_verdict_name(rows[4].verdict), "AMBIGUOUS");
    assert_true(fabs(rows[0].ratio - 2) < 1e-12);
}

static void reference_without_a_vendor(void **state) {
    (void)state;
    braid_bench_row rows[] = {timed("own", BRAID_KIND_OWN, 1, 2, 1.5), untimed("v", BRAID_KIND_VENDOR),
                              timed("x__ref", BRAID_KIND_REF, 2, 2, 0)};
    braid_bench_result r = judged(rows, 3, 0, 2);
    assert_string_equal(r.baseline_name, "ref");
    assert_int_equal(rows[0].verdict, BRAID_VERDICT_AMBIGUOUS);
    assert_int_equal(rows[1].verdict, BRAID_VERDICT_NONE);
    assert_true(isnan(rows[1].ratio));
}

/* Our own fastest is no baseline: it would only be held against itself. */
static void nothing_to_compare_with(void **state) {
    (void)state;
    braid_bench_row rows[] = {timed("own", BRAID_KIND_OWN, 1, 1, 0), untimed("ref", BRAID_KIND_REF)};
    braid_bench_result r = judged(rows, 2, 0, 0);
    assert_int_equal(r.baseline, -1);
    assert_string_equal(r.baseline_name, "");
    assert_int_equal(rows[0].verdict, BRAID_VERDICT_NONE);
    assert_true(isnan(rows[0].ratio));
}

/* Beside other work nothing is claimed; what looks the same still does. */
static void beside_other_work(void **state) {
    (void)state;
    braid_bench_row rows[] = {timed("fast", BRAID_KIND_OWN, 1, 2, 0.1), timed("v", BRAID_KIND_VENDOR, 2, 2, 0),
                              timed("slow", BRAID_KIND_OWN, 3, 2, 0.1), timed("near", BRAID_KIND_OWN, 2, 2, 0.04)};
    braid_bench_result r = {.rows = rows, .count = 4, .baseline = 1, .is_busy = 1};
    judge(&r, rows);
    assert_int_equal(rows[0].verdict, BRAID_VERDICT_AMBIGUOUS);
    assert_int_equal(rows[2].verdict, BRAID_VERDICT_AMBIGUOUS);
    assert_int_equal(rows[3].verdict, BRAID_VERDICT_SAME);
}

/* Faster than a handicapped library proves nothing; slower than it still counts. */
static void handicapped_baseline(void **state) {
    (void)state;
    braid_bench_row rows[] = {timed("fast", BRAID_KIND_OWN, 1, 2, 0.1), timed("v", BRAID_KIND_VENDOR, 2, 2, 0),
                              timed("slow", BRAID_KIND_OWN, 3, 2, 0.1)};
    rows[1].handicapped = 1;
    judged(rows, 3, 0, 1);
    assert_int_equal(rows[0].verdict, BRAID_VERDICT_NONE);
    assert_int_equal(rows[2].verdict, BRAID_VERDICT_SLOW);
}

static void wrong_results(void **state) {
    (void)state;
    braid_bench_row rows[] = {timed("v", BRAID_KIND_VENDOR, 2, 2, 0), untimed("own", BRAID_KIND_OWN)};
    rows[1].max_err = 3;
    judged(rows, 2, 0, 0);
    assert_int_equal(rows[1].verdict, BRAID_VERDICT_FAIL);
    assert_string_equal(braid_verdict_name(rows[1].verdict), "FAIL");
    assert_string_equal(braid_verdict_name((braid_verdict)77), "-");
    assert_string_equal(braid_kind_name((braid_kind)77), "-");
}

static void summary_counts(void **state) {
    (void)state;
    braid_bench_row own[] = {timed("own", BRAID_KIND_OWN, 1, 4, 0.1), timed("v", BRAID_KIND_VENDOR, 4, 4, 0)};
    braid_bench_row vendor[] = {timed("v", BRAID_KIND_VENDOR, 1, 1, 0), timed("own", BRAID_KIND_OWN, 2, 1, 0.1)};
    braid_bench_row tie[] = {timed("v", BRAID_KIND_VENDOR, 1, 1, 0), timed("own", BRAID_KIND_OWN, 1.1, 1, 0.3)};
    braid_bench_row slow[] = {timed("own", BRAID_KIND_OWN, 4, 1, 0.1), timed("v", BRAID_KIND_VENDOR, 1, 1, 0)};
    braid_bench_row alone[] = {timed("own", BRAID_KIND_OWN, 1, 1, 0)};
    braid_bench_result results[] = {judged(own, 2, 0, 1), judged(vendor, 2, 0, 0), judged(tie, 2, 0, 0),
                                    judged(slow, 2, 0, 1), judged(alone, 1, 0, 0)};
    results[0].gate = 1;
    results[1].gate = -1;
    braid_bench bench = {.results = results, .count = 5};
    braid_bench_summary s;
    braid_bench_summarize(&bench, &s);
    assert_int_equal(s.problems, 5);
    assert_int_equal(s.against_vendor, 4);
    assert_int_equal(s.own_wins, 1);
    assert_int_equal(s.vendor_wins, 1);
    assert_int_equal(s.ties, 1);
    assert_int_equal(s.slower, 1);
    assert_int_equal(s.gated, 2);
    assert_int_equal(s.gate_failures, 1);
    assert_true(fabs(s.geometric_mean - 1) < 1e-9);
}

static void bench_arguments(void **state) {
    braid_bench *bench = NULL;
    (void)state;
    assert_int_equal(braid_bench_create(NULL, NULL, &bench), BRAID_ERROR_ARGUMENT);
    assert_null(bench);
    braid_bench_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_by_the_ratio),   cmocka_unit_test(reference_without_a_vendor),
        cmocka_unit_test(nothing_to_compare_with), cmocka_unit_test(beside_other_work),
        cmocka_unit_test(handicapped_baseline),    cmocka_unit_test(wrong_results),
        cmocka_unit_test(summary_counts),          cmocka_unit_test(bench_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
