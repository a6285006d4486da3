/*
 * Tests of kernels that pack weights (kernel.h): pack reads the operands that it names and writes the workspace alone,
 * run leaves there what pack wrote, and both together give the bits of a launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/memory.h"
#include "tests/support/case_list.h"
#include "tests/support/rig.h"

enum { PROBLEMS = 40, MOST_KERNELS = 1024 };

/* Without the planes that pack must not touch: to read or write one ends the test. */
static buffers packed_planes(const kernel_functions *f, const buffers *bound) {
    buffers some = {.workspace = bound->workspace};
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        if (f->pack_reads & KERNEL_SLOT(slot)) memcpy(some.plane[slot], bound->plane[slot], sizeof some.plane[slot]);
    }
    return some;
}

static void run_again(rig *r, const unsigned char *before, const unsigned char *expected) {
    const kernel_functions *f = r->kernel->functions;
    buffers bound;
    memcpy(r->on_device, before, r->layout.bytes);
    image_buffers(&r->problem, &r->layout, r->on_device, &bound);
    bound.workspace = r->workspace;
    assert_int_equal(f->run(&r->problem, r->device, r->state, &bound), BRAID_OK);
    if (memcmp(r->on_device, expected, r->layout.bytes) != 0) {
        char text[BRAID_PROBLEM_TEXT];
        assert_int_equal(braid_problem_print(&r->problem, text, sizeof text), BRAID_OK);
        fail_msg("%s: a run behind a pack gives other bits than a launch: %s", r->kernel->name, text);
    }
}

static void check(const braid_problem *p, device *d, const kernel *k) {
    rig r;
    buffers bound;
    unsigned char *before = NULL;
    assert_int_equal(rig_create(&r, p, d, k, IMAGE_REAL, 7), BRAID_OK);
    assert_int_equal(memory_alloc(r.layout.bytes, 1, "operands", (void **)&before), BRAID_OK);
    memcpy(before, r.block, r.layout.bytes);
    assert_int_equal(rig_run(&r), BRAID_OK);
    memcpy(r.on_device, before, r.layout.bytes);
    if (r.workspace_bytes) memset(r.workspace, POISON_BYTE, r.workspace_bytes);
    image_buffers(p, &r.layout, r.on_device, &bound);
    bound.workspace = r.workspace;
    const buffers some = packed_planes(k->functions, &bound);
    assert_int_equal(k->functions->pack(p, d, r.state, &some), BRAID_OK);
    assert_memory_equal(r.on_device, before, r.layout.bytes);
    run_again(&r, before, r.block);
    run_again(&r, before, r.block);
    memory_free(before);
    rig_destroy(&r);
}

/* Checks all kernels that take the problem. */
static void check_all(const braid_problem *p, device *d, int checked[MOST_KERNELS]) {
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (!k->functions->pack || kernel_refuses(k, p, d)) continue;
        check(p, d, k);
        checked[j]++;
    }
}

static void packed_kernels(void **state) {
    static const char *const texts[] = {"conv2d_fwd:%s:n2:b2:hw20x22:c3,1:k16,20:rs7x7:st2:pad3:bias1",
                                        "conv2d_bwd_data:%s:n2:b2:hw20x22:c3,1:k16,20:rs7x7:st2:pad3",
                                        "conv2d_fwd:%s:n2:b2:hw9x11:c17,32:k40,16:rs3x3:pad1",
                                        "conv2d_bwd_data:%s:n2:b2:hw9x11:c17,32:k40,16:rs3x3:pad1",
                                        "integrate_fwd:%s:n2:b2:hw9x11:c17,32:zi9:zo40"};
    static const char *const dtypes[] = {"f32", "bf16", "f16"};
    device *d = NULL;
    int checked[MOST_KERNELS] = {0}, packed = 0, missed = 0;
    (void)state;
    assert_true(kernel_count() <= MOST_KERNELS);
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    for (size_t j = 0; j < sizeof texts / sizeof *texts * 3; j++) {
        char text[BRAID_PROBLEM_TEXT];
        braid_problem p;
        snprintf(text, sizeof text, texts[j / 3], dtypes[j % 3]);
        assert_int_equal(braid_problem_parse(text, &p), BRAID_OK);
        check_all(&p, d, checked);
    }
    for (int op = 0; op < BRAID_OP_COUNT; op++) {
        case_list list;
        assert_int_equal(case_list_create(&list, PROBLEMS), BRAID_OK);
        assert_int_equal(case_list_draw(&list, (braid_op_id)op, 11, PROBLEMS), BRAID_OK);
        for (int j = 0; j < list.count; j++) check_all(&list.problems[j], d, checked);
        case_list_destroy(&list);
    }
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        const kernel_functions *f = k->functions;
        assert_true(!f->pack == !f->run && !f->parts == !f->adder && !f->parts == !f->sums);
        assert_int_equal((f->launch != NULL) + (f->pack != NULL) + (f->parts != NULL), 1);
        if (!k->functions->pack || (k->features & ~cpu_features())) continue;
        if (!checked[j]) print_error("no problem was drawn for %s\n", k->name);
        packed++;
        missed += !checked[j];
    }
    assert_true(packed > 0 && !missed);
    backend_cpu.close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(packed_kernels)};
    return cmocka_run_group_tests_name("kernels/cpu_pack", tests, NULL, NULL);
}
