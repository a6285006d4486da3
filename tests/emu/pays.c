/*
 * Where fusing pays on a GPU with sm_90a, by the cost model: large problems, of which the fused call saves a pass over
 * memory. What is left of a call that stays is no saving, so that small ones keep their calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "plan/plan.h"
#include "tests/support/given.h"
#include "tests/support/trial.h"
#include "tests/emu/tests.h"

#define LARGE "f16:n2:b64:hw104x136:c64,64"
#define SMALL "f16:n2:b1:hw88x88:c64,64"
#define CONV ":k64,64:rs3x3:pad1"

static void expect(const char *on, const char *text, int pays) {
    const braid_context_options options = {.device = on, .threads = 1, .cache_dir = "", .disable = ""};
    const braid_problem p = given_problem(text);
    braid_context *context = NULL;
    OK(braid_context_create(&options, &context));
    if (plan_fusing_pays(context, &p) != pays) fail_msg("%s on %s: expected %d", text, on, pays);
    braid_context_destroy(context);
}

static void shares_of_a_call(void **state) {
    (void)state;
    expect("cuda:0", "conv2d_dgrad_bn_reduce:" LARGE CONV, 1);
    expect("cuda:0", "conv2d_dgrad_bn_reduce:" SMALL CONV, 0);
    expect("cuda:0", "bn_act_conv2d:" LARGE CONV, 1);
    expect("cuda:0", "bn_act_conv2d:" SMALL CONV, 0);
}

static void whole_calls(void **state) {
    (void)state;
    expect("cuda:0", "conv2d_bn_stats:" LARGE CONV, 1);
    expect("cuda:0", "bn_bwd:" LARGE, 0); /* as slow as both passes, where no sums are given (docs/notebook.md) */
    expect("cuda:0", "bn_bwd:" LARGE ":given=1", 1);
}

/* Its chain is a candidate of its race. */
static void mixes_always(void **state) {
    (void)state;
    expect("cuda:0", "integrate_bn_stats:" LARGE ":zi64:zo64", 1);
    expect("cuda:0", "integrate_bn_stats:" SMALL ":zi64:zo64", 1);
}

static void additions(void **state) {
    (void)state;
    expect("cuda:0", "integrate_bwd_data:" LARGE ":zi64:zo64:add1", 1);
    expect("cuda:0", "conv2d_bwd_data:" LARGE CONV ":add1", 1);
}

/* A device without a kernel of the fused op. */
static void no_kernel(void **state) {
    (void)state;
    expect("cuda:1", "conv2d_dgrad_bn_reduce:" LARGE CONV, 0);
    expect("cuda:1", "integrate_bn_stats:" LARGE ":zi64:zo64", 0);
}

int emu_pays(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_a_call), cmocka_unit_test(whole_calls), cmocka_unit_test(mixes_always),
        cmocka_unit_test(additions),        cmocka_unit_test(no_kernel),
    };
    return cmocka_run_group_tests_name("emu/pays", tests, NULL, NULL);
}
