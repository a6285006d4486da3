/*
 * Fusing never pays where the device has no kernel of the fused op, here the CPU. tests/emu/fused.c has the others.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "plan/plan.h"
#include "tests/support/given.h"

static void without_a_kernel(void **state) {
    static const char *const texts[] = {
        "integrate_bn_stats:f32:n2:b2:hw8x8:c8,8:zi8:zo8",
        "conv2d_bn_stats:f32:n1:b2:hw8x8:c8:k8:rs3x3:pad1",
        "conv2d_dgrad_bn_reduce:f32:n1:b2:hw8x8:c8:k8:rs3x3:pad1",
        "ssae:f32:n1:b4:c64:k64:zo32:seg5",
        "bn_bwd:f32:n1:b2:hw8x8:c8",
    };
    braid_context *context = given_context("", "onednn");
    (void)state;
    for (size_t j = 0; j < sizeof texts / sizeof texts[0]; j++) {
        const braid_problem p = given_problem(texts[j]);
        if (plan_fusing_pays(context, &p)) fail_msg("%s: expected that it does not pay", texts[j]);
    }
    braid_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_a_kernel)};
    return cmocka_run_group_tests_name("plan/pays", tests, NULL, NULL);
}
