/*
 * Every kernel of the CPU on data that is not finite (tests/support/not_finite.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>

#include "backend/cpu/cpu.h"
#include "tests/support/case_list.h"
#include "tests/support/not_finite.h"
#include "tests/support/rig.h"

enum { PROBLEMS = 24, SEED = 5 };

static void every_op(void **state) {
    device *d = NULL;
    rng numbers = {.seed = SEED};
    int judged = 0;
    (void)state;
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    for (int op = 0; op < BRAID_OP_COUNT; op++) {
        case_list list;
        assert_int_equal(case_list_create(&list, PROBLEMS), BRAID_OK);
        assert_int_equal(case_list_draw(&list, (braid_op_id)op, SEED, PROBLEMS), BRAID_OK);
        for (int j = 0; j < list.count; j++) judged += not_finite_judge(&list.problems[j], d, d, NULL, &numbers);
        case_list_destroy(&list);
    }
    assert_true(judged > 1000);
    backend_cpu.close(d);
}

/* ---- A NaN among many classes -------------------------------------------------------------- */

enum { CLASSES = 5000, LABEL = 7, ROWS = 3 }; /* kernels take the logits of a row in pieces of 2048 */

/* Rows whose label has the largest logit by far; the second has a NaN in another class. */
static void fill_rows(rig *r, int64_t class_of_nan) {
    for (int64_t row = 0; row < ROWS; row++) {
        for (int64_t c = 0; c < CLASSES; c++) rig_set(r, CLASS_X, 0, row * CLASSES + c, (double)(c % 5) / 8);
        rig_set(r, CLASS_X, 0, row * CLASSES + LABEL, 30);
        ((int32_t *)rig_plane(r, CLASS_LABELS, 0))[row] = LABEL;
    }
    if (class_of_nan >= 0) rig_set(r, CLASS_X, 0, CLASSES + class_of_nan, NAN);
}

static void judge_rows(device *d, const kernel *k, const braid_problem *p, int64_t class_of_nan) {
    rig r;
    assert_int_equal(rig_create(&r, p, d, k, IMAGE_REAL, SEED), BRAID_OK);
    fill_rows(&r, class_of_nan);
    assert_int_equal(rig_run(&r), BRAID_OK);
    const int64_t right = ROWS - (class_of_nan >= 0), got = (int64_t)rig_get(&r, CLASS_CORRECT, 0, 0);
    const double loss = rig_get(&r, CLASS_LOSS, 0, 0);
    if (got != right || isfinite(loss) != (class_of_nan < 0))
        fail_msg("%s, a NaN in class %lld: expected %lld right, got %lld, loss %g", k->name, (long long)class_of_nan,
                 (long long)right, (long long)got, loss);
    rig_destroy(&r);
}

static void a_nan_spoils_its_row_wherever_it_is(void **state) {
    static const char *const problems[] = {"softmax_xent_fwd:f32:b3:c5000", "softmax_xent_fwd:f16:b3:c5000",
                                           "softmax_xent_fwd:bf16:b3:c5000", "focal_fwd:f32:b3:c5000"};
    static const int64_t places[] = {-1, 0, LABEL - 1, LABEL, LABEL + 1, 2047, 2048, 3000, 4095, 4096, CLASSES - 1};
    device *d = NULL;
    int judged = 0;
    (void)state;
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    for (size_t j = 0; j < sizeof problems / sizeof problems[0]; j++) {
        braid_problem p;
        assert_int_equal(braid_problem_parse(problems[j], &p), BRAID_OK);
        for (int i = 0; i < kernel_count(); i++) {
            const kernel *k = kernel_at(i);
            if (!kernel_runs_on(k, d) || kernel_refuses(k, &p, d)) continue;
            for (size_t n = 0; n < sizeof places / sizeof places[0]; n++) judge_rows(d, k, &p, places[n]);
            judged++;
        }
    }
    assert_true(judged >= 8); /* the reference and at least one of the CPU, each */
    backend_cpu.close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_op),
                                       cmocka_unit_test(a_nan_spoils_its_row_wherever_it_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
