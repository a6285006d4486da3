/*
 * Every kernel of the CPU on data that is not finite (tests/support/not_finite.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "backend/cpu/cpu.h"
#include "tests/support/case_list.h"
#include "tests/support/not_finite.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_op)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
