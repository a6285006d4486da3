/*
 * Tests of what a confusion matrix tells: figures worked out by hand, classes without samples or answers, and sums that
 * must agree on any matrix.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "braid.h"
#include "core/rng.h"

#define MOST 12

static void near(double got, double expected) {
    if (!(fabs(got - expected) < 1e-15)) fail_msg("expected %.17g, got %.17g", expected, got);
}

/* Rows are the true classes: 3 of class 0, 5 of class 1, none of class 2, 2 of class 3, which is never the answer. */
static void by_hand(void **state) {
    const int64_t counts[] = {2, 1, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0};
    braid_class_metrics each[4];
    braid_confusion_metrics all;
    (void)state;
    braid_confusion_measure(counts, 4, each, &all);
    assert_int_equal(all.samples, 10);
    assert_int_equal(all.correct, 6);
    near(all.accuracy, 0.6);
    near(all.balanced_accuracy, (2.0 / 3 + 0.8 + 0) / 3);
    assert_int_equal(each[0].samples, 3);
    assert_int_equal(each[0].answers, 3);
    assert_int_equal(each[0].correct, 2);
    near(each[0].precision, 2.0 / 3);
    near(each[0].recall, 2.0 / 3);
    near(each[0].f1, 2.0 / 3);
    assert_int_equal(each[1].answers, 6);
    near(each[1].precision, 4.0 / 6);
    near(each[1].recall, 0.8);
    near(each[1].f1, 8.0 / 11);
    near(each[2].precision, 0);
    assert_true(isnan(each[2].recall));
    near(each[2].f1, 0);
    assert_true(isnan(each[3].precision));
    near(each[3].recall, 0);
    near(each[3].f1, 0);
}

static void nothing(void **state) {
    const int64_t counts[4] = {0};
    braid_class_metrics each[2];
    braid_confusion_metrics all;
    (void)state;
    braid_confusion_measure(counts, 2, each, &all);
    assert_int_equal(all.samples, 0);
    assert_true(isnan(all.accuracy) && isnan(all.balanced_accuracy) && isnan(each[1].f1));
    memset(&all, 1, sizeof all);
    braid_confusion_measure(NULL, 2, each, &all);
    assert_true(all.samples == 0 && all.correct == 0 && isnan(all.accuracy) && isnan(all.balanced_accuracy));
    braid_confusion_measure(counts, 2, each, NULL);
}

/* Accuracy is the recall of all classes, weighted by their samples, and the precision, weighted by answers. */
static void any_matrix(void **state) {
    rng numbers = {.seed = 4, .stream = 1};
    (void)state;
    for (int round = 0; round < 100; round++) {
        int64_t counts[MOST * MOST], total = 0;
        braid_class_metrics each[MOST];
        braid_confusion_metrics all, again;
        int classes = (int)rng_between(&numbers, 1, MOST);
        double recalls = 0, precisions = 0;
        for (int j = 0; j < classes * classes; j++) total += counts[j] = 1 + (int64_t)rng_between(&numbers, 0, 9);
        braid_confusion_measure(counts, classes, each, &all);
        braid_confusion_measure(counts, classes, NULL, &again);
        assert_memory_equal(&all, &again, sizeof all);
        assert_int_equal(all.samples, total);
        for (int c = 0; c < classes; c++) {
            recalls += each[c].recall * (double)each[c].samples;
            precisions += each[c].precision * (double)each[c].answers;
        }
        assert_true(fabs(recalls / (double)total - all.accuracy) < 1e-12);
        assert_true(fabs(precisions / (double)total - all.accuracy) < 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(nothing),
        cmocka_unit_test(any_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
