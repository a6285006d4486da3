/*
 * Kernels on data that is not finite.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "tests/support/not_finite.h"

#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "tests/support/rig.h"

enum { MOST_SPOILT = 3, SEED = 5 };

/* A weight gradient multiplies dy with what its taps read, the zeros of a padding too: docs/ops/conv2d.md. */
static int meets_padding(const braid_problem *p, int slot) {
    const int64_t padding = p->padding[0] + p->padding[1] + p->extra_padding[0] + p->extra_padding[1];
    if (padding == 0 || p->padding_mode != BRAID_PADDING_ZEROS) return 0;
    if (p->op == BRAID_OP_CONV2D_POOL_BN_BWD_APPLY)
        return slot == CONV2D_POOL_BN_BWD_APPLY_R || slot == CONV2D_POOL_BN_BWD_APPLY_DY;
    if (p->pass != BRAID_PASS_BWD_WEIGHT) return 0;
    return (p->op == BRAID_OP_CONV2D && slot == CONV2D_Y) ||
           (p->op == BRAID_OP_LI_CONV2D && (slot == LI_CONV2D_DY || slot == LI_CONV2D_ZY));
}

static int is_data(const rig *r, int slot, int i) {
    plane_shape s;
    rig_shape(r, slot, i, &s);
    return op_is_input(op_role(&r->problem, slot)) && !meets_padding(&r->problem, slot) && dtype_is_compute(s.dtype) &&
           rig_has_samples(&r->problem, slot) && rig_elements(r, slot, i) > 0;
}

static void spoil(rig *r, rng *numbers) {
    static const double values[] = {NAN, INFINITY, -INFINITY};
    const double value = values[rng_between(numbers, 0, 2)];
    for (int slot = 0; slot < op_operand_count(op_of(&r->problem)); slot++) {
        for (int i = 0; i < rig_planes(r, slot); i++) {
            if (!is_data(r, slot, i) || rng_between(numbers, 0, 1)) continue;
            for (int j = 0; j < MOST_SPOILT; j++)
                rig_set(r, slot, i, rng_between(numbers, 0, rig_elements(r, slot, i) - 1), value);
        }
    }
}

static void compare(const rig *got, const rig *expected) {
    const braid_problem *p = &got->problem;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        if (!op_is_output(op_role(p, slot))) continue;
        for (int i = 0; i < rig_planes(got, slot); i++) {
            for (int64_t j = 0; j < rig_elements(got, slot, i); j++) {
                const double a = rig_get(got, slot, i, j), b = rig_get(expected, slot, i, j);
                if (!isfinite(a) == !isfinite(b)) continue;
                char text[BRAID_PROBLEM_TEXT];
                assert_int_equal(braid_problem_print(p, text, sizeof text), BRAID_OK);
                fail_msg("%s: %s of stream %d at %lld expected %g, got %g: %s", got->kernel->name,
                         op_operand_name(p, slot), i, (long long)j, b, a, text);
            }
        }
    }
}

static const kernel *reference(const braid_problem *p, const device *cpu) {
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (k->backend == KERNEL_REF && !kernel_refuses(k, p, cpu)) return k;
    }
    return NULL;
}

static int is_judged(const kernel *k, const braid_problem *p, const device *d) {
    return kernel_kind(k) == BRAID_KIND_OWN && !strstr(k->name, "winograd") && kernel_runs_on(k, d) &&
           !kernel_refuses(k, p, d);
}

int not_finite_judge(const braid_problem *p, device *cpu, device *d, const kernel *only, rng *numbers) {
    rig expected;
    int judged = 0;
    unsigned char *before = NULL;
    assert_int_equal(rig_create(&expected, p, cpu, reference(p, cpu), IMAGE_REAL, SEED), BRAID_OK);
    spoil(&expected, numbers);
    assert_int_equal(memory_alloc(expected.layout.bytes, 1, "planes of a test", (void **)&before), BRAID_OK);
    memcpy(before, expected.block, expected.layout.bytes);
    assert_int_equal(rig_run(&expected), BRAID_OK);
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        rig got;
        if ((only && k != only) || !is_judged(k, p, d)) continue;
        assert_int_equal(rig_create(&got, p, d, k, IMAGE_REAL, SEED), BRAID_OK);
        memcpy(got.block, before, got.layout.bytes);
        assert_int_equal(rig_run(&got), BRAID_OK);
        compare(&got, &expected);
        rig_destroy(&got);
        judged++;
    }
    memory_free(before);
    rig_destroy(&expected);
    return judged;
}
