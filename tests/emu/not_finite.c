/*
 * CUDA kernels on data that is not finite, on the emulator (tests/support/not_finite.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "backend/cpu/cpu.h"
#include "core/threads.h"
#include "tests/emu/emu.h"
#include "tests/support/not_finite.h"

enum { PROBLEMS = 6, DRAWS = 60, SEED = 5 };

static device *open_cpu(void) {
    device *d = NULL;
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    return d;
}

static device *open_emulator(void) {
    device *d = NULL;
    assert_int_equal(backend_cuda.open(0, &d), BRAID_OK);
    return d;
}

/* Every kernel, on the first problems of those that are drawn for it. */
static void every_kernel(void **state) {
    device *cpu = open_cpu(), *d = open_emulator();
    rng numbers = {.seed = SEED};
    (void)state;
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        int judged = 0;
        if (k->backend != KERNEL_CUDA || k->vendor) continue;
        for (uint64_t seed = 1; seed <= DRAWS && judged < PROBLEMS; seed++) {
            braid_problem p;
            assert_int_equal((seed % 2 ? braid_problem_draw : braid_problem_draw_round)(k->op, k->pass, seed, &p),
                             BRAID_OK);
            if (!kernel_refuses(k, &p, d)) judged += not_finite_judge(&p, cpu, d, k, &numbers);
        }
        if (!judged) fail_msg("%s: no problem of %d was drawn for it", k->name, DRAWS);
    }
    backend_cuda.close(d);
    backend_cpu.close(cpu);
}

/* Taps that are no multiple of what a matrix instruction adds up: the lines below an output's are not its own, nor are
 * those of the image before. */
static void lines_beside_the_filter(void **state) {
    static const char *const problems[] = {"conv2d_fwd:f16:n2:b3:hw13x40:c3,1:k8,16:rs5x5:st2:pad2",
                                           "conv2d_fwd:bf16:n1:b2:hw11x72:c1:k8:rs7x7:st2:pad3",
                                           "conv2d_fwd:f16:n2:b2:hw10x16:c2,4:k8,8:rs3x3:pad1",
                                           "conv2d_bwd_weight:f16:n2:b2:hw13x40:c3,1:k8,16:rs5x5:st2:pad2",
                                           "li_conv2d_bwd_weight:bf16:n2:b2:hw13x40:c3,1:k8,16:rs5x5:st2:pad2:zo8"};
    device *cpu = open_cpu(), *d = open_emulator();
    rng numbers = {.seed = SEED};
    (void)state;
    for (size_t j = 0; j < sizeof problems / sizeof problems[0]; j++) {
        braid_problem p;
        assert_int_equal(braid_problem_parse(problems[j], &p), BRAID_OK);
        for (int turn = 0; turn < 8; turn++) assert_true(not_finite_judge(&p, cpu, d, NULL, &numbers) > 0);
    }
    backend_cuda.close(d);
    backend_cpu.close(cpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_beside_the_filter), cmocka_unit_test(every_kernel)};
    threads_set(1);
    return cmocka_run_group_tests_name("emu/not_finite", tests, NULL, NULL);
}
