/*
 * The support matrix of CUDA: every op, pass and dtype has a fast path (tests/support/matrix.h), on a GPU of sm_80 as
 * on one of sm_90a: the two devices of the emulator. Nothing runs here; emu/kernels compares what the kernels give.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "core/memory.h"
#include "tests/support/matrix.h"
#include "tests/emu/tests.h"

/* What no kernel of a GPU does: doubles, in which only the reference computes. No plan of a GPU has any. */
static int is_left_out(const braid_problem *p) { return p->op == BRAID_OP_CAST && p->to == BRAID_DTYPE_F64; }

/* 1 where an op, pass and dtype has no fast path, or a problem of it that is not left out has none, which it prints. */
static int is_gap(braid_op_id op, braid_pass pass, braid_dtype dtype, const device *d) {
    int count = 0, fast = 0, slow = 0;
    braid_problem *problems = matrix_problems(op, pass, dtype, &count);
    assert_true(count >= MATRIX_DRAWN);
    for (int j = 0; j < count; j++) {
        char text[BRAID_PROBLEM_TEXT];
        if (matrix_has_fast_path(&problems[j], d)) {
            fast++;
        } else if (!is_left_out(&problems[j])) {
            assert_int_equal(braid_problem_print(&problems[j], text, sizeof text), BRAID_OK);
            if (slow++ == 0) print_error("no CUDA kernel of ours, and no chain of such, does %s\n", text);
        }
    }
    memory_free(problems);
    if (fast == 0)
        print_error("no CUDA kernel does %s %s in %s\n", braid_op_id_name(op), braid_pass_name(op, pass),
                    braid_dtype_name(dtype));
    return fast == 0 || slow > 0;
}

static void expect_fast_paths(int ordinal) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_F16, BRAID_DTYPE_BF16};
    device *d = NULL;
    int gaps = 0;
    assert_int_equal(backend_cuda.open(ordinal, &d), BRAID_OK);
    for (int op = 0; op < BRAID_OP_COUNT; op++) {
        for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
            if (!braid_pass_name((braid_op_id)op, (braid_pass)pass)) continue;
            for (size_t t = 0; t < sizeof dtypes / sizeof dtypes[0]; t++)
                gaps += is_gap((braid_op_id)op, (braid_pass)pass, dtypes[t], d);
        }
    }
    d->backend->close(d);
    assert_int_equal(gaps, 0);
}

static void every_cell_has_a_fast_path(void **state) {
    (void)state;
    expect_fast_paths(0);
}

static void every_cell_has_one_on_sm_80(void **state) {
    (void)state;
    expect_fast_paths(1);
}

int emu_support(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_has_a_fast_path),
        cmocka_unit_test(every_cell_has_one_on_sm_80),
    };
    return cmocka_run_group_tests_name("emu/support", tests, NULL, NULL);
}
