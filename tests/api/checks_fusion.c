/*
 * C12 of the rules of the systems that braid serves, looked at as in checks_streams.c: streams do not mix; the formulas
 * of fusion, and gates that sum to 1.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "tests/support/calls.h"

static braid_context *context;

static int open_context(void **state) {
    (void)state;
    context = given_context("", NULL);
    return 0;
}

static int close_context(void **state) {
    (void)state;
    braid_context_destroy(context);
    return 0;
}

static void c12_streams_do_not_mix(void **state) {
    static const char *const texts[] = {
        "conv2d_fwd:n2:b2:hw6x7:c3,1:k4,18:rs3:pad1",
        "linear_fwd:n2:b2:c9,4:k4,18",
        "bn_apply:n2:b2:hw6x7:c4,18",
        "act_fwd:n2:b2:hw6x7:c4,18:act=gelu",
        "maxpool_fwd:n2:b2:hw6x7:c4,18:rs3:st2:pad1",
        "avgpool_fwd:n2:b2:hw6x7:c4,18:out1x1",
        "layernorm_fwd:n2:b2:hw1x1:c4,18",
        "bn_act_pool_fwd:n2:b2:hw6x7:c4,18:rs3:st2:pad1",
        "conv2d_scale_bias_act:n2:b2:hw6x7:c3,1:k4,18:rs3:pad1",
    };
    (void)state;
    for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++) {
        call c = call_open(context, "%s", texts[n]);
        for (int j = 0; j < c.memory.count; j++) {
            braid_operand_info info;
            assert_int_equal(braid_op_operand(c.op, j, &info), BRAID_OK);
            if (info.role == BRAID_ROLE_IN) call_fill(&c, info.name, (uint64_t)j);
        }
        for (int k = 0; k < c.kernel_count; k++) {
            for (int64_t j = 0; j < call_count(&c, "x", 1); j++) call_set(&c, "x", 1, j, 1);
            call_run(&c, c.kernels[k]);
            const int64_t count = call_count(&c, "y", 0);
            double *before = test_calloc((size_t)count, sizeof *before);
            for (int64_t j = 0; j < count; j++) before[j] = call_get(&c, "y", 0, j);
            for (int64_t j = 0; j < call_count(&c, "x", 1); j++) call_set(&c, "x", 1, j, j % 2 ? NAN : 1e9);
            call_run(&c, c.kernels[k]);
            for (int64_t j = 0; j < count; j++) {
                if (call_get(&c, "y", 0, j) != before[j]) fail_msg("%s mixes streams", c.kernels[k]);
            }
            test_free(before);
        }
        call_close(&c);
    }
}

/* The share of stream i in sample b. */
static double share_of(call *c, const char *kind, int i, int64_t b) {
    double sum = 0, shares[3];
    if (strcmp(kind, "concat") == 0) return 1;
    for (int s = 0; s < 3; s++) sum += shares[s] = exp(call_get(c, "logits", 0, strcmp(kind, "gated") ? s : b * 3 + s));
    return shares[i] / sum * (strcmp(kind, "gated") ? 3 : 1);
}

static void c12_formulas_of_fusion(void **state) {
    static const char *const kinds[] = {"concat", "weighted", "gated"};
    static const int64_t widths[] = {5, 2, 18};
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        call c = call_open(context, "fuse_fwd:b4:c5,2,18:fuse=%s", kinds[kind]);
        double want[4 * 25];
        call_fill(&c, "x", 1);
        if (kind) call_fill(&c, "logits", 2);
        for (int64_t b = 0; b < 4; b++) {
            int64_t at = b * 25;
            for (int i = 0; i < 3; i++) {
                for (int64_t j = 0; j < widths[i]; j++)
                    want[at++] = share_of(&c, kinds[kind], i, b) * call_get(&c, "x", i, b * widths[i] + j);
            }
        }
        for (int k = 0; k < c.kernel_count; k++) {
            call_run(&c, c.kernels[k]);
            assert_near(&c, c.kernels[k], "y", 0, want, kind ? 1e-6 : 0);
        }
        call_close(&c);
    }
}

/* Features of 1 show the gates themselves. */
static void c12_gates_sum_to_one(void **state) {
    call c = call_open(context, "fuse_fwd:b40:c1,1,1,1:fuse=gated");
    (void)state;
    call_set_all(&c, "x", 1);
    call_fill(&c, "logits", 5);
    for (int64_t j = 0; j < 40; j++)
        call_set(&c, "logits", 0, j, 40 * call_get(&c, "logits", 0, j)); /* some far apart */
    for (int k = 0; k < c.kernel_count; k++) {
        call_run(&c, c.kernels[k]);
        for (int64_t b = 0; b < 40; b++) {
            double sum = 0;
            for (int64_t i = 0; i < 4; i++) {
                double gate = call_get(&c, "y", 0, b * 4 + i);
                assert_true(gate >= 0 && gate <= 1);
                sum += gate;
            }
            assert_true(fabs(sum - 1) < 1e-6);
        }
    }
    call_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c12_streams_do_not_mix),
        cmocka_unit_test(c12_formulas_of_fusion),
        cmocka_unit_test(c12_gates_sum_to_one),
    };
    return cmocka_run_group_tests_name("api/checks_fusion", tests, open_context, close_context);
}
