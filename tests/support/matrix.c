/*
 * The problems of a support matrix, and fast paths.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>

#include "core/memory.h"
#include "tests/support/case_list.h"
#include "tests/support/matrix.h"

#define MAX_CASES 4096 /* of a case file */

/* Every step of the chain has a fast path of its own. */
static int chain_is_fast(const braid_problem *p, const device *d) {
    op_chain chain = {0};
    if (op_of(p)->chain(p, &chain)) return 0;
    for (int j = 0; j < chain.count; j++) {
        if (braid_problem_check(&chain.steps[j].problem) != BRAID_OK) return 0;
        if (!matrix_has_fast_path(&chain.steps[j].problem, d)) return 0;
    }
    return chain.count > 0;
}

int matrix_has_fast_path(const braid_problem *p, const device *d) {
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (kernel_refuses(k, p, d)) continue;
        if (kernel_kind(k) == BRAID_KIND_OWN) return 1;
        if (kernel_kind(k) == BRAID_KIND_CHAIN && chain_is_fast(p, d)) return 1;
    }
    return 0;
}

braid_problem *matrix_problems(braid_op_id op, braid_pass pass, braid_dtype dtype, int *count) {
    case_list cases;
    char path[128];
    braid_problem *problems = NULL;
    snprintf(path, sizeof path, "tests/cases/%s.txt", braid_op_id_name(op));
    assert_int_equal(case_list_create(&cases, MAX_CASES), BRAID_OK);
    if (case_list_read(&cases, op, path) != BRAID_OK) fail_msg("%s", braid_message());
    assert_int_equal(
        memory_calloc((size_t)(cases.count + MATRIX_DRAWN), sizeof *problems, "problems", (void **)&problems),
        BRAID_OK);
    *count = 0;
    for (int j = 0; j < cases.count; j++) {
        if (cases.problems[j].pass == pass && cases.problems[j].dtype == dtype)
            problems[(*count)++] = cases.problems[j];
    }
    case_list_destroy(&cases);
    for (uint64_t seed = 1; seed <= MATRIX_DRAWN; seed++) {
        braid_problem *p = &problems[(*count)++];
        assert_int_equal(braid_problem_draw(op, pass, seed, p), BRAID_OK);
        p->dtype = dtype;
        if (braid_problem_check(p) != BRAID_OK) fail_msg("%s", braid_message());
    }
    return problems;
}
