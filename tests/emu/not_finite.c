/*
 * CUDA kernels on data that is not finite, on the emulator (tests/support/not_finite.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

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

/* Weight gradients that multiply what no output sees, or dy of a blanked sample, with zeros: docs/ops/conv2d.md and
 * docs/ops/integrate.md. */
static int multiplies_zeros(const kernel *k) {
    static const char *const names[] = {"conv2d_bwd_weight__cuda_lines", "conv2d_bwd_weight__cuda_taps_wgmma",
                                        "integrate_bwd_weight__cuda_mma", "integrate_bwd_weight__cuda_wgmma"};
    for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
        if (strcmp(k->name, names[j]) == 0) return 1;
    }
    return 0;
}

/* Every other kernel, on the first problems of those that are drawn for it. */
static void every_kernel(void **state) {
    device *cpu = open_cpu(), *d = open_emulator();
    rng numbers = {.seed = SEED};
    (void)state;
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        int judged = 0;
        if (k->backend != KERNEL_CUDA || k->vendor || multiplies_zeros(k)) continue;
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
    static const char *const cases[][2] = {
        {"conv2d_fwd:f16:n2:b3:hw13x40:c3,1:k8,16:rs5x5:st2:pad2", "conv2d_fwd__cuda_rows_wgmma"},
        {"conv2d_fwd:bf16:n1:b2:hw11x72:c1:k8:rs7x7:st2:pad3", "conv2d_fwd__cuda_rows_wgmma"},
        {"conv2d_fwd:f16:n2:b2:hw10x16:c2,4:k8,8:rs3x3:pad1", "conv2d_fwd__cuda_rows_wgmma"},
        {"conv2d_bwd_weight:f16:n2:b2:hw13x40:c3,1:k8,16:rs5x5:st2:pad2", "conv2d_bwd_weight__cuda_rows_wgmma"},
        {"li_conv2d_bwd_weight:bf16:n2:b2:hw13x40:c3,1:k8,16:rs5x5:st2:pad2:zo8",
         "li_conv2d_bwd_weight__cuda_rows_wgmma"}};
    device *cpu = open_cpu(), *d = open_emulator();
    rng numbers = {.seed = SEED};
    (void)state;
    for (size_t j = 0; j < sizeof cases / sizeof cases[0]; j++) {
        const kernel *k = kernel_find(cases[j][1]);
        braid_problem p;
        assert_int_equal(braid_problem_parse(cases[j][0], &p), BRAID_OK);
        for (int turn = 0; turn < 8; turn++) assert_int_equal(not_finite_judge(&p, cpu, d, k, &numbers), 1);
    }
    backend_cuda.close(d);
    backend_cpu.close(cpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_beside_the_filter), cmocka_unit_test(every_kernel)};
    threads_set(1);
    return cmocka_run_group_tests_name("emu/not_finite", tests, NULL, NULL);
}
