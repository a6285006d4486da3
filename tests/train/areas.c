/*
 * Tests of the areas under curves: known answers with and without ties, all pairs counted one by one, the two ends, and
 * what is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "braid.h"
#include "core/memory.h"
#include "core/rng.h"
#include "tests/support/fail_nth.h"

#define MOST 64

static void expect(const double *scores, const char *positive, double roc, double pr) {
    unsigned char marks[MOST];
    braid_areas areas;
    int64_t count = (int64_t)strlen(positive);
    for (int64_t j = 0; j < count; j++) marks[j] = positive[j] == '+';
    if (braid_areas_measure(scores, marks, count, &areas)) fail_msg("%s", braid_message());
    if (fabs(areas.roc - roc) > 1e-15 || fabs(areas.pr - pr) > 1e-15)
        fail_msg("%s: expected %.17g and %.17g, got %.17g and %.17g", positive, roc, pr, areas.roc, areas.pr);
}

/* As scikit-learn defines them: roc_auc_score, and auc of precision_recall_curve. The first one is of its manual. */
static void known_answers(void **state) {
    (void)state;
    expect((double[]){0.1, 0.4, 0.35, 0.8}, "--++", 0.75, 19.0 / 24);
    expect((double[]){1, 2, 3, 4}, "--++", 1, 1);
    expect((double[]){4, 3, 2, 1}, "--++", 0, (0 + 1.0 / 3 + 1.0 / 3 + 1.0 / 2) / 4);
    expect((double[]){-1, 7}, "-+", 1, 1);
    expect((double[]){7, -1}, "-+", 0, 0.25);
}

static void ties(void **state) {
    (void)state;
    expect((double[]){5, 5, 5, 5}, "-+-+", 0.5, 0.75); /* one step from (0, 1) to (1, 1/2) */
    expect((double[]){0.0, -0.0}, "-+", 0.5, 0.75);
    expect((double[]){1, 1, 2, 2}, "-+-+", 0.5, 0.5 * (1 + 0.5) / 2 + 0.5 * (0.5 + 0.5) / 2);
    expect((double[]){3, 2, 2, 1}, "+-+-", 7.0 / 8, 0.5 + 0.5 * (1 + 2.0 / 3) / 2);
    expect((double[]){INFINITY, -INFINITY, INFINITY}, "+--", 0.75, 0.75);
}

/* The share of pairs in order, counted pair by pair. */
static double count_pairs(const double *scores, const unsigned char *positive, int count) {
    double right = 0, pairs = 0;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            if (!positive[i] || positive[j]) continue;
            pairs++;
            right += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
        }
    }
    return right / pairs;
}

/* The order of the samples does not matter, a rising function of the scores neither, and turned round 1 - roc. */
static void properties(void **state) {
    rng numbers = {.seed = 9, .stream = 2};
    int compared = 0;
    (void)state;
    for (int round = 0; round < 300; round++) {
        double scores[MOST], other[MOST], turned[MOST];
        unsigned char positive[MOST], moved[MOST];
        braid_areas a, b, c;
        int count = (int)rng_between(&numbers, 2, MOST), positives = 0;
        for (int j = 0; j < count; j++) {
            scores[j] = (double)rng_between(&numbers, 0, round % 2 ? 5 : 1000);
            positive[j] = (unsigned char)rng_between(&numbers, 0, 1);
            positives += positive[j];
        }
        for (int j = 0; j < count; j++) {
            other[j] = exp(scores[count - 1 - j] / 100) - 7;
            moved[j] = positive[count - 1 - j];
            turned[j] = -scores[j];
        }
        braid_status status = braid_areas_measure(scores, positive, count, &a);
        if (positives == 0 || positives == count) {
            assert_int_equal(status, BRAID_ERROR_DATA);
            continue;
        }
        assert_int_equal(status, BRAID_OK);
        assert_int_equal(braid_areas_measure(other, moved, count, &b), BRAID_OK);
        assert_int_equal(braid_areas_measure(turned, positive, count, &c), BRAID_OK);
        assert_true(a.roc == count_pairs(scores, positive, count));
        assert_true(a.roc == b.roc && a.pr == b.pr);
        assert_true(fabs(a.roc + c.roc - 1) < 1e-15);
        assert_true(a.pr > 0 && a.pr <= 1);
        assert_int_equal(a.positives, positives);
        assert_int_equal(a.negatives, count - positives);
        compared++;
    }
    assert_true(compared > 250);
}

static void refused(const double *scores, const unsigned char *positive, int64_t count, braid_status expected,
                    const char *words) {
    braid_areas areas;
    assert_int_equal(braid_areas_measure(scores, positive, count, &areas), expected);
    if (!strstr(braid_message(), words)) fail_msg("expected \"%s\" in: %s", words, braid_message());
    if (expected == BRAID_ERROR_DATA) assert_true(isnan(areas.roc) && isnan(areas.pr));
}

static void refusals(void **state) {
    const double scores[] = {1, NAN, 3};
    const unsigned char all[] = {1, 1, 1}, none[] = {0, 0, 0}, some[] = {1, 0, 1};
    (void)state;
    refused(scores, all, 1, BRAID_ERROR_DATA, "got 1 and 0");
    refused(scores, none, 1, BRAID_ERROR_DATA, "got 0 and 1");
    refused(scores, all, 0, BRAID_ERROR_DATA, "got 0 and 0");
    refused(scores, some, 3, BRAID_ERROR_DATA, "got NaN as number 1");
    refused(NULL, some, 3, BRAID_ERROR_ARGUMENT, "NULL");
    refused(scores, NULL, 3, BRAID_ERROR_ARGUMENT, "NULL");
    assert_int_equal(braid_areas_measure(scores, some, 3, NULL), BRAID_ERROR_ARGUMENT);
    assert_int_equal(memory_live(), 0);
}

static void without_memory(void **state) {
    braid_areas areas;
    (void)state;
    fail_alloc_install();
    fail_alloc_arm(1, FAIL_ONCE);
    assert_int_equal(braid_areas_measure((double[]){1, 2}, (unsigned char[]){0, 1}, 2, &areas), BRAID_ERROR_MEMORY);
    assert_int_equal(fail_alloc_disarm(), 1);
    fail_alloc_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers), cmocka_unit_test(ties),           cmocka_unit_test(properties),
        cmocka_unit_test(refusals),      cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
