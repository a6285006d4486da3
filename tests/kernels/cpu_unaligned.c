/*
 * Tests of planes that begin where a user's memory does: every kernel of our own gives the bits that it gives on planes
 * aligned to cache lines when all planes lie eight bytes further, and touches nothing beside them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/memory.h"
#include "tests/support/case_list.h"
#include "tests/support/rig.h"

enum { SHIFT = 8, PROBLEMS = 24 };

static device *opened(void) {
    device *d = NULL;
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    return d;
}

/* Runs one kernel on both. */
static void compare(const braid_problem *p, device *d, const kernel *k) {
    rig r;
    buffers bound;
    unsigned char *memory = NULL;
    assert_int_equal(rig_create(&r, p, d, k, IMAGE_REAL, 5), BRAID_OK);
    assert_int_equal(memory_alloc_device(r.layout.bytes + SHIFT, "planes of a user", (void **)&memory), BRAID_OK);
    memcpy(memory + SHIFT, r.block, r.layout.bytes);
    image_buffers(p, &r.layout, memory + SHIFT, &bound);
    bound.workspace = r.workspace;
    assert_int_equal(kernel_launch(k->functions, p, d, r.state, &bound), BRAID_OK);
    assert_int_equal(rig_run(&r), BRAID_OK);
    if (memcmp(memory + SHIFT, r.block, r.layout.bytes) != 0) {
        char text[512];
        assert_int_equal(braid_problem_print(p, text, sizeof text), BRAID_OK);
        fail_msg("%s gives other bits on planes that are not aligned: %s", k->name, text);
    }
    memory_free(memory);
    rig_destroy(&r);
}

static int compare_all(const braid_problem *p, device *d) {
    int compared = 0;
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (kernel_kind(k) != BRAID_KIND_OWN || kernel_refuses(k, p, d)) continue;
        compare(p, d, k);
        compared++;
    }
    return compared;
}

/* Some ops are chains on the CPU, and nothing else. */
static int has_kernels(int op) {
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if ((int)k->op == op && k->backend == KERNEL_CPU && kernel_kind(k) == BRAID_KIND_OWN) return 1;
    }
    return 0;
}

static void every_op(void **state) {
    device *d = opened();
    (void)state;
    for (int op = 0; op < BRAID_OP_COUNT; op++) {
        case_list list;
        int compared = 0;
        assert_int_equal(case_list_create(&list, PROBLEMS), BRAID_OK);
        assert_int_equal(case_list_draw(&list, (braid_op_id)op, 9, PROBLEMS), BRAID_OK);
        for (int j = 0; j < list.count; j++) compared += compare_all(&list.problems[j], d);
        if (!compared && has_kernels(op)) fail_msg("no kernel of %s was compared", list.texts[0]);
        case_list_destroy(&list);
    }
    backend_cpu.close(d);
}

/* Outputs so large that they are stored past the caches. */
static void large_outputs(void **state) {
    static const char *const texts[] = {"conv2d_fwd:f32:b2:hw264x264:c1:k64:rs1x1",
                                        "conv2d_fwd:bf16:b2:hw376x376:c1:k64:rs1x1"};
    device *d = opened();
    (void)state;
    for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
        braid_problem p;
        assert_int_equal(braid_problem_parse(texts[j], &p), BRAID_OK);
        assert_true(compare_all(&p, d) > 0);
    }
    backend_cpu.close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_op), cmocka_unit_test(large_outputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
