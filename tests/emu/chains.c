/*
 * The chains of fused ops on a GPU, of sm_80 as of sm_90a, against the double reference: those that no kernel of a GPU
 * stands beside, by hand, and every other on the first problems that are drawn for it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>

#include "core/threads.h"
#include "kernels/kernel.h"
#include "race/verify.h"
#include "tests/emu/tests.h"

enum { GPUS = 2, PROBLEMS = 4, DRAWS = 40 };

/* For every dtype: odd sizes, unequal streams, masks, pitches. */
static const char *const alone[] = {
    "li_conv2d_fwd:%s:n3:b3:hw7x9:c3,8,17:k16,33,8:rs3x3:pad1:bias1:mask1:zi5:zo9:kp16,36,8",
    "li_conv2d_fwd:%s:n2:b2:hw9x8:c8,16:k24,72:rs3x3:st2:pad1:bias1:zi8:zo16",
    "li_conv2d_fwd:%s:n1:b1:hw1x1:c1:k1:rs1x1:bias1:zo1",
    "li_conv2d_bwd_weight:%s:n3:b3:hw7x9:c3,8,17:k16,33,8:rs3x3:pad1:bias1:mask1:zi5:zo9:kp16,36,8",
    "li_conv2d_bwd_weight:%s:n2:b2:hw9x8:c8,16:k24,72:rs3x3:st2:pad1:bias1:zi8:zo16",
    "li_conv2d_bwd_weight:%s:n2:b5:hw5x3:c4:k4,12:g2:rs3x3:pad1:bias1:mask1:zo3",
    "conv2d_scale_bias_act:%s:n3:b3:hw9x7:c3,16,24:k17,8,40:rs3x3:pad1:mask1:add1:act=gelu:kp20,8,40",
    "conv2d_scale_bias_act:%s:n2:b4:hw8x11:c8,64:k72,16:rs1x1:st2:mask1:add1:act=gelu_tanh",
    "conv2d_scale_bias_act:%s:n1:b3:hw5x6:c6:k9:g3:rs2x3:pad1:mode=circular:mask1:add1:act=gelu",
};

static const kernel *chain_of(const braid_problem *p) {
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (k->backend == KERNEL_CHAIN && k->op == p->op && k->pass == p->pass) return k;
    }
    return NULL;
}

static void expect_right(const kernel *chain, const braid_problem *p, device *d, uint64_t seed) {
    char text[BRAID_PROBLEM_TEXT];
    verdict v;
    if (verify_kernels(p, d, &chain, 1, seed, &v) != BRAID_OK) fail_msg("%s", braid_message());
    if (!v.failure[0] && v.compared > 0) return;
    assert_int_equal(braid_problem_print(p, text, sizeof text), BRAID_OK);
    fail_msg("%s on %s, seed %llu: %s", chain->name, text, (unsigned long long)seed,
             v.failure[0] ? v.failure : "nothing was compared");
}

static int has_own_kernel(const braid_problem *p, const device *d) {
    for (int j = 0; j < kernel_count(); j++) {
        if (kernel_kind(kernel_at(j)) == BRAID_KIND_OWN && !kernel_refuses(kernel_at(j), p, d)) return 1;
    }
    return 0;
}

static void expect_alone(device *d) {
    static const char *const dtypes[] = {"f32", "f16", "bf16"};
    for (size_t j = 0; j < sizeof alone / sizeof alone[0]; j++) {
        for (size_t t = 0; t < sizeof dtypes / sizeof dtypes[0]; t++) {
            char text[BRAID_PROBLEM_TEXT];
            braid_problem p;
            snprintf(text, sizeof text, alone[j], dtypes[t]);
            if (braid_problem_parse(text, &p) != BRAID_OK) fail_msg("%s", braid_message());
            const kernel *chain = chain_of(&p);
            assert_non_null(chain);
            if (has_own_kernel(&p, d)) fail_msg("%s: a kernel does it as well", text);
            const char *reason = kernel_refuses(chain, &p, d);
            if (reason) fail_msg("%s on %s: %s", chain->name, text, reason);
            expect_right(chain, &p, d, j);
        }
    }
}

static void expect_drawn(device *d) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_F16, BRAID_DTYPE_BF16};
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        int compared = 0;
        if (k->backend != KERNEL_CHAIN) continue;
        for (uint64_t seed = 1; seed <= DRAWS && compared < PROBLEMS; seed++) {
            braid_problem p;
            assert_int_equal(braid_problem_draw(k->op, k->pass, seed, &p), BRAID_OK);
            p.dtype = dtypes[seed % 3];
            if (braid_problem_check(&p) != BRAID_OK || kernel_refuses(k, &p, d)) continue;
            expect_right(k, &p, d, seed);
            compared++;
        }
        if (!compared) fail_msg("%s: no problem of %d was drawn for it", k->name, DRAWS);
    }
}

/* Device 0 of the emulator is one of sm_90a, 1 of sm_80. */
static void on_every_gpu(void (*expect)(device *d)) {
    threads_set(1); /* the problems are small */
    for (int ordinal = 0; ordinal < GPUS; ordinal++) {
        device *d = NULL;
        assert_int_equal(backend_cuda.open(ordinal, &d), BRAID_OK);
        expect(d);
        d->backend->close(d);
    }
}

static void chains_that_stand_alone(void **state) {
    (void)state;
    on_every_gpu(expect_alone);
}

static void chains_of_drawn_problems(void **state) {
    (void)state;
    on_every_gpu(expect_drawn);
}

int emu_chains(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_that_stand_alone),
        cmocka_unit_test(chains_of_drawn_problems),
    };
    return cmocka_run_group_tests_name("emu/chains", tests, NULL, NULL);
}
