/*
 * CUDA kernels on data that is not finite, on the emulator (tests/support/not_finite.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/threads.h"
#include "ops/scaling.h"
#include "tests/emu/emu.h"
#include "tests/support/not_finite.h"
#include "tests/emu/tests.h"
#include "tests/support/rig.h"

enum { PROBLEMS = 6, DRAWS = 200, SEED = 5 };

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

/* Weight gradients that multiply what no output sees, or dy of a blanked sample, with zeros (docs/ops/conv2d.md and
 * docs/ops/integrate.md), and three products of TF32, which make NaN of an infinity that a ReLU would close
 * (kernels/cuda/conv/mma/README.md). */
static int differs_by_design(const kernel *k) {
    static const char *const names[] = {"conv2d_bwd_weight__cuda_lines", "conv2d_bwd_weight__cuda_taps_wgmma",
                                        "integrate_bwd_weight__cuda_mma", "integrate_bwd_weight__cuda_wgmma",
                                        "conv2d_scale_bias_act_f32__cuda_mma"};
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
        if (k->backend != KERNEL_CUDA || k->vendor || differs_by_design(k)) continue;
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

/* ---- Known answers ---------------------------------------------------------------------------- */

static void ready(rig *r, device *d, const char *problem, const char *name) {
    braid_problem p;
    assert_int_equal(braid_problem_parse(problem, &p), BRAID_OK);
    assert_int_equal(rig_create(r, &p, d, kernel_find(name), IMAGE_REAL, SEED), BRAID_OK);
}

/* The pixel that a window takes: of several NaN the last, in row order; of equal values the first. */
static int64_t taken(const rig *r, int64_t row, int64_t column, int64_t c) {
    const braid_problem *p = &r->problem;
    int64_t best = -1;
    for (int64_t at = 0; at < p->filter[0] * p->filter[1]; at++) {
        const int64_t h = row * p->stride[0] - p->padding[0] + at / p->filter[1];
        const int64_t w = column * p->stride[1] - p->padding[1] + at % p->filter[1];
        const int64_t pixel = h * p->size[1] + w;
        if (h < 0 || h >= p->size[0] || w < 0 || w >= p->size[1]) continue;
        const double x = rig_get(r, MAXPOOL_X, 0, pixel * p->in_channels[0] + c);
        if (best < 0 || isnan(x) || x > rig_get(r, MAXPOOL_X, 0, best * p->in_channels[0] + c)) best = pixel;
    }
    return best;
}

static void the_last_nan_has_the_gradient(void **state) {
    static const char *const problems[] = {
        "maxpool_bwd_data:f32:b1:hw4x6:c1:rs2x2:st2",   "maxpool_bwd_data:f16:b1:hw4x6:c16:rs2x2:st2",
        "maxpool_bwd_data:bf16:b1:hw6x4:c24:rs2x2:st2", "maxpool_bwd_data:f16:b1:hw4x6:c4:rs2x2:st2",
        "maxpool_bwd_data:f32:b1:hw4x4:c8:rs2x2:st2",   "maxpool_bwd_data:f16:b1:hw8x10:c16:rs3x3:st2:pad1",
        "maxpool_bwd_data:f16:b1:hw5x6:c3:rs3x2:st1x2"};
    device *d = open_emulator();
    (void)state;
    for (size_t j = 0; j < sizeof problems / sizeof problems[0]; j++) {
        rig r;
        plane_shape y;
        double dx[8 * 10 * 24] = {0};
        ready(&r, d, problems[j], "maxpool_bwd_data__cuda_direct");
        rig_shape(&r, MAXPOOL_Y, 0, &y);
        const int64_t channels = r.problem.in_channels[0], all = rig_elements(&r, MAXPOOL_X, 0);
        for (int64_t i = 0; i < all; i++) rig_set(&r, MAXPOOL_X, 0, i, i * 7 % 5 < 2 ? NAN : (double)(i * 3 % 4));
        for (int64_t i = 0; i < rig_elements(&r, MAXPOOL_Y, 0); i++) {
            const int64_t pixel = i / channels, c = i % channels;
            rig_set(&r, MAXPOOL_Y, 0, i, (double)(1 + pixel));
            dx[taken(&r, pixel / y.dims[2], pixel % y.dims[2], c) * channels + c] += (double)(1 + pixel);
        }
        assert_int_equal(rig_run(&r), BRAID_OK);
        for (int64_t i = 0; i < all; i++) {
            if (rig_get(&r, MAXPOOL_DX, 0, i) != dx[i])
                fail_msg("%s: dx[%lld] expected %g, got %g", problems[j], (long long)i, dx[i],
                         rig_get(&r, MAXPOOL_DX, 0, i));
        }
        rig_destroy(&r);
    }
    backend_cuda.close(d);
}

/* An update that is skipped is no step, wherever the number is that is not finite; an update that is made is one. */
static void a_skipped_update_is_no_step(void **state) {
    static const struct {
        const char *problem;
        int64_t count;
    } rows[] = {{"clip_norm:f32:c5", 5}, {"clip_norm:f32:c70000", 70000}};
    device *d = open_emulator();
    (void)state;
    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
        for (int spoilt = 0; spoilt < 2; spoilt++) {
            rig r;
            ready(&r, d, rows[j].problem, "clip_norm__cuda_direct");
            rig_set(&r, CLIP_NORM_STEP, 0, 0, 7);
            rig_set(&r, CLIP_NORM_LOSS, 0, 0, 1);
            rig_set(&r, CLIP_NORM_LOSS_SCALE, 0, 0, 1);
            for (int64_t i = 0; i < SCALING_COUNT; i++)
                rig_set(&r, CLIP_NORM_SCALING, 0, i, i == SCALING_BATCHES ? 1 : 0);
            if (spoilt) rig_set(&r, CLIP_NORM_G, 0, rows[j].count - 2, NAN);
            assert_int_equal(rig_run(&r), BRAID_OK);
            assert_true(rig_get(&r, CLIP_NORM_STEP, 0, 0) == 8 - spoilt);
            assert_true(rig_get(&r, CLIP_NORM_SCALING, 0, SCALING_SKIPPED) == spoilt);
            rig_destroy(&r);
        }
    }
    backend_cuda.close(d);
}

int emu_not_finite(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_last_nan_has_the_gradient),
                                       cmocka_unit_test(a_skipped_update_is_no_step),
                                       cmocka_unit_test(lines_beside_the_filter), cmocka_unit_test(every_kernel)};
    threads_set(1);
    return cmocka_run_group_tests_name("emu/not_finite", tests, NULL, NULL);
}
