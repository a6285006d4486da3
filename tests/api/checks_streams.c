/*
 * Rules of the systems that braid serves, about streams, blanked samples and batch normalisation, looked at from
 * outside: through the public interface, on every candidate, against sums in double that share nothing with it.
 *
 *   C5   batch normalisation: training, evaluation, running statistics with the unbiased variance, the counter
 *   C6   a blanked sample is zero after every op, and the active ones do as in a batch of their own
 *   C7   statistics are those of the active samples
 *   C8   a stream that is wholly blanked learns nothing and leaves its statistics alone
 *   C9   blanking a stream is to take its raw output as zero, which a zero input is not
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/calls.h"

#define EPS 1e-5

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

static void assert_zero(call *c, const char *kernel, const char *name, int i, int64_t first, int64_t count) {
    for (int64_t j = first; j < first + count; j++) {
        if (call_get(c, name, i, j) != 0)
            fail_msg("%s: %s of stream %d, element %lld: expected 0, got %g", kernel, name, i, (long long)j,
                     call_get(c, name, i, j));
    }
}

/* ---- C5 -------------------------------------------------------------------------------------- */

typedef struct moments {
    double mean, var, count; /* biased */
} moments;

/* Of channel c of stream i, over the samples that the mask leaves. */
static moments moments_of(call *c, int i, int64_t channel, unsigned blanked) {
    const braid_problem *p = braid_op_problem(c->op);
    int64_t channels = p->in_channels[i], pixels = p->size[0] * p->size[1];
    double sum = 0, squares = 0, count = 0;
    for (int round = 0; round < 2; round++) {
        for (int64_t n = 0; n < p->batch * pixels; n++) {
            if (blanked >> (n / pixels) & 1u) continue;
            double x = call_get(c, "x", i, n * channels + channel);
            sum += round ? 0 : x;
            count += !round;
            squares += round ? (x - sum / count) * (x - sum / count) : 0;
        }
    }
    return (moments){sum / count, squares / count, count};
}

static void fill_norm(call *c) {
    call_fill(c, "x", 1);
    call_fill(c, "gamma", 2);
    call_fill(c, "beta", 3);
}

static void set_running(call *c, double mean, double var, double batches) {
    call_set_all(c, "running_mean", mean);
    call_set_all(c, "running_var", var);
    call_set(c, "batches", 0, 0, batches);
}

static void assert_running(call *c, const char *kernel, int i, int64_t channel, double mean, double var) {
    double got_mean = call_get(c, "running_mean", i, channel), got_var = call_get(c, "running_var", i, channel);
    if (fabs(got_mean - mean) > 1e-6 || fabs(got_var - var) > 1e-6)
        fail_msg("%s: expected running statistics %.7g and %.7g, got %.7g and %.7g", kernel, mean, var, got_mean,
                 got_var);
}

/* Runs a kernel that makes scale and shift, and then normalises by them. */
static void run_norm(call *c, const char *kernel, call *apply) {
    call_run(c, kernel);
    call_copy(apply, "scale", c, "scale");
    call_copy(apply, "shift", c, "shift");
    call_run(apply, NULL);
}

static void train_step(const char *average, double share) {
    call c = call_open(context, "bn_stats_finalize:n2:b4:hw3x5:c3,7:avg=%s", average),
         apply = call_open(context, "bn_apply:n2:b4:hw3x5:c3,7");
    fill_norm(&c);
    call_copy(&apply, "x", &c, "x");
    for (int k = 0; k < c.kernel_count; k++) {
        set_running(&c, 0.5, 2, 3);
        run_norm(&c, c.kernels[k], &apply);
        assert_true(call_get(&c, "batches", 0, 0) == 4);
        for (int i = 0; i < 2; i++) {
            int64_t channels = i ? 7 : 3;
            for (int64_t j = 0; j < call_count(&c, "x", i); j++) {
                moments m = moments_of(&c, i, j % channels, 0);
                double want =
                    (call_get(&c, "x", i, j) - m.mean) / sqrt(m.var + EPS) * call_get(&c, "gamma", i, j % channels) +
                    call_get(&c, "beta", i, j % channels);
                double unbiased = m.var * m.count / (m.count - 1);
                assert_true(fabs(call_get(&apply, "y", i, j) - want) < 1e-5);
                assert_running(&c, c.kernels[k], i, j % channels, (1 - share) * 0.5 + share * m.mean,
                               (1 - share) * 2 + share * unbiased);
            }
        }
    }
    call_close(&c);
    call_close(&apply);
}

static void c5_training(void **state) {
    (void)state;
    train_step("exponential", 0.1);
    train_step("cumulative", 1 / 4.0); /* the fourth batch */
}

/* The update alone, on every kernel that does it. */
static void c5_running_statistics(void **state) {
    (void)state;
    for (int cumulative = 0; cumulative < 2; cumulative++) {
        call c = call_open(context, "bn_finalize:n2:b4:hw3x5:c3,7:avg=%s", cumulative ? "cumulative" : "exponential");
        double f = cumulative ? 0.5 : 0.1;
        call_set_all(&c, "mean", 4);
        call_set_all(&c, "var", 3);
        for (int k = 0; k < c.kernel_count; k++) {
            set_running(&c, 1, 2, 1);
            call_run(&c, c.kernels[k]);
            assert_true(call_get(&c, "batches", 0, 0) == 2);
            for (int i = 0; i < 2; i++) assert_running(&c, c.kernels[k], i, 0, 1 + f * 3, 2 + f * (3 * 60 / 59.0 - 2));
        }
        call_close(&c);
    }
}

static void c5_evaluation(void **state) {
    call c = call_open(context, "bn_finalize:n2:b4:hw3x5:c3,7:phase=eval"),
         apply = call_open(context, "bn_apply:n2:b4:hw3x5:c3,7");
    (void)state;
    call_fill(&apply, "x", 1);
    call_fill(&c, "gamma", 2);
    call_fill(&c, "beta", 3);
    for (int k = 0; k < c.kernel_count; k++) {
        set_running(&c, 0.25, 4, 9);
        run_norm(&c, c.kernels[k], &apply);
        assert_true(call_get(&c, "batches", 0, 0) == 9);
        for (int i = 0; i < 2; i++) {
            int64_t channels = i ? 7 : 3;
            for (int64_t j = 0; j < call_count(&apply, "x", i); j++) {
                double want =
                    (call_get(&apply, "x", i, j) - 0.25) / sqrt(4 + EPS) * call_get(&c, "gamma", i, j % channels) +
                    call_get(&c, "beta", i, j % channels);
                assert_true(fabs(call_get(&apply, "y", i, j) - want) < 1e-6);
                assert_running(&c, c.kernels[k], i, j % channels, 0.25, 4);
            }
        }
    }
    call_close(&c);
    call_close(&apply);
}

/* ---- C6 -------------------------------------------------------------------------------------- */

/* Two streams, five samples, two of each stream blanked: three are left, so that one smaller batch serves both. No
 * weight has three or five rows, by which is_by_sample would take it for samples. */
static const unsigned blanked[2] = {0x0a, 0x11};

static const char *const masked_ops[] = {
    "conv2d_fwd:n2:b%d:hw6x7:c3,1:k4,18:rs3:st2:pad1:bias1:mask%d",
    "conv2d_bwd_data:n2:b%d:hw6x7:c3,1:k4,18:rs3:st2:pad1:mask%d",
    "linear_fwd:n2:b%d:c9,4:k4,18:bias1:mask%d",
    "linear_bwd_data:n2:b%d:c9,4:k4,18:mask%d",
    "linear_act_fwd:n2:b%d:c9,4:k4,18:bias1:mask%d:act=gelu",
    "bn_apply:n2:b%d:hw3x4:c3,18:mask%d",
    "bn_bwd_apply:n2:b%d:hw3x4:c3,18:mask%d",
    "bn_act_fwd:n2:b%d:hw3x4:c3,18:mask%d",
    "bn_act_bwd_data:n2:b%d:hw3x4:c3,18:mask%d",
    "bn_add_act_fwd:n2:b%d:hw3x4:c3,18:mask%d",
    "bn_add_act_fwd:n2:b%d:hw3x4:c3,18:mask%d:zn1",
    "bn_add_act_bwd_data:n2:b%d:hw3x4:c3,18:mask%d",
    "bn_act_pool_fwd:n2:b%d:hw6x7:c3,18:rs3:st2:pad1:mask%d",
    "bn_act_pool_bwd_data:n2:b%d:hw6x7:c3,18:rs3:st2:pad1:mask%d",
    "conv2d_scale_bias_act:n2:b%d:hw6x7:c3,1:k4,18:rs3:st2:pad1:mask%d:add1",
    "li_conv2d_fwd:n2:b%d:hw6x7:c3,1:k4,18:rs3:st2:pad1:zo6:bias1:mask%d",
};

/* 1: every stream has a plane whose first axis counts the samples. */
static int is_by_sample(const braid_operand_info *info, const braid_problem *p) {
    return info->planes == p->streams && info->rank > 1 && info->dims[0][0] == p->batch;
}

static int is_positive(const char *name) { return strcmp(name, "rstd") == 0 || strcmp(name, "running_var") == 0; }

/* Inputs of the whole batch; NaN where a sample is blanked. */
static void fill_masked(call *c) {
    const braid_problem *p = braid_op_problem(c->op);
    for (int n = 0; n < c->memory.count; n++) {
        braid_operand_info info;
        assert_int_equal(braid_op_operand(c->op, n, &info), BRAID_OK);
        if (info.role == BRAID_ROLE_OUT || strcmp(info.name, "mask") == 0 || strcmp(info.name, "batches") == 0)
            continue;
        call_fill(c, info.name, (uint64_t)n);
        for (int i = 0; i < info.planes; i++) {
            int64_t count = call_count(c, info.name, i);
            for (int64_t j = 0; j < count; j++) {
                if (is_positive(info.name)) call_set(c, info.name, i, j, 1 + 0.5 * call_get(c, info.name, i, j));
                if (is_by_sample(&info, p) && blanked[i] >> (j / (count / p->batch)) & 1u)
                    call_set(c, info.name, i, j, NAN);
            }
        }
    }
    for (int64_t b = 0; b < p->batch; b++) {
        for (int i = 0; i < 2; i++) {
            if (blanked[i] >> b & 1u) call_blank(c, i, b);
        }
    }
}

/* The batch of the active samples. */
static void fill_active(call *to, call *from) {
    for (int n = 0; n < to->memory.count; n++) {
        braid_operand_info info;
        assert_int_equal(braid_op_operand(to->op, n, &info), BRAID_OK);
        if (info.role == BRAID_ROLE_OUT || strcmp(info.name, "batches") == 0) continue;
        for (int i = 0; i < info.planes; i++) {
            int64_t count = call_count(to, info.name, i), row = count / 3, at = 0;
            if (!is_by_sample(&info, braid_op_problem(to->op))) {
                for (int64_t j = 0; j < count; j++) call_set(to, info.name, i, j, call_get(from, info.name, i, j));
                continue;
            }
            for (int64_t b = 0; b < 5; b++) {
                for (int64_t j = 0; j < row && !(blanked[i] >> b & 1u); j++)
                    call_set(to, info.name, i, at++, call_get(from, info.name, i, b * row + j));
            }
        }
    }
}

/* Blanked samples are zero, and the others what they are in a batch of their own. */
static void compare_active(call *whole, call *active, const char *kernel) {
    int compared = 0;
    for (int n = 0; n < active->memory.count; n++) {
        braid_operand_info info;
        assert_int_equal(braid_op_operand(active->op, n, &info), BRAID_OK);
        if (info.role == BRAID_ROLE_IN || !is_by_sample(&info, braid_op_problem(active->op))) continue;
        for (int i = 0; i < 2; i++) {
            int64_t row = call_count(active, info.name, i) / 3, at = 0;
            for (int64_t b = 0; b < 5; b++) {
                if (blanked[i] >> b & 1u) assert_zero(whole, kernel, info.name, i, b * row, row);
                for (int64_t j = 0; j < row && !(blanked[i] >> b & 1u); j++, at++, compared++) {
                    double got = call_get(whole, info.name, i, b * row + j), want = call_get(active, info.name, i, at);
                    if (!(fabs(got - want) <= 1e-5 * fmax(1, fabs(want))))
                        fail_msg("%s: %s of stream %d, sample %d: expected %g as alone, got %g", kernel, info.name, i,
                                 (int)b, want, got);
                }
            }
        }
    }
    assert_true(compared > 0);
}

static void c6_blanked_samples(void **state) {
    (void)state;
    for (size_t n = 0; n < sizeof masked_ops / sizeof masked_ops[0]; n++) {
        char text[BRAID_PROBLEM_TEXT];
        snprintf(text, sizeof text, masked_ops[n], 5, 1);
        call whole = call_open(context, "%s", text);
        snprintf(text, sizeof text, masked_ops[n], 3, 0);
        call active = call_open(context, "%s", text);
        fill_masked(&whole);
        fill_active(&active, &whole);
        call_run(&active, NULL);
        for (int k = 0; k < whole.kernel_count; k++) {
            fill_masked(&whole); /* running statistics moved */
            call_run(&whole, whole.kernels[k]);
            compare_active(&whole, &active, whole.kernels[k]);
        }
        call_close(&whole);
        call_close(&active);
    }
}

/* A whole stem: the zeros last through the ops that know no mask. */
static void c6_blanked_samples_stay_zero(void **state) {
    call conv = call_open(context, "conv2d_fwd:n2:b5:hw9x7:c3,1:k4,18:rs3:st1:pad1:mask1");
    call stats = call_open(context, "bn_stats_finalize:n2:b5:hw9x7:c4,18:mask1"),
         norm = call_open(context, "bn_apply:n2:b5:hw9x7:c4,18:mask1");
    call relu = call_open(context, "act_fwd:n2:b5:hw9x7:c4,18"),
         pool = call_open(context, "maxpool_fwd:n2:b5:hw9x7:c4,18:rs3:st2:pad1");
    call sum = call_open(context, "add:n2:b5:hw5x4:c4,18");
    (void)state;
    fill_masked(&conv);
    fill_masked(&stats);
    fill_masked(&norm);
    call_run(&conv, NULL);
    call_copy(&stats, "x", &conv, "y");
    call_copy(&norm, "x", &conv, "y");
    run_norm(&stats, NULL, &norm);
    call_copy(&relu, "x", &norm, "y");
    call_run(&relu, NULL);
    call_copy(&pool, "x", &relu, "y");
    for (int k = 0; k < pool.kernel_count; k++) {
        call_run(&pool, pool.kernels[k]);
        call_copy(&sum, "x", &pool, "y");
        call_copy(&sum, "z", &pool, "y");
        call_run(&sum, NULL);
        for (int i = 0; i < 2; i++) {
            int64_t row = call_count(&sum, "y", i) / 5;
            for (int64_t b = 0; b < 5; b++) {
                if (blanked[i] >> b & 1u)
                    assert_zero(&sum, pool.kernels[k], "y", i, b * row, row);
                else
                    assert_true(call_get(&sum, "y", i, b * row) >= 0);
            }
        }
    }
    call *all[] = {&conv, &stats, &norm, &relu, &pool, &sum};
    for (int j = 0; j < 6; j++) call_close(all[j]);
}

/* ---- C7 -------------------------------------------------------------------------------------- */

static void blank_half(call *c) {
    for (int64_t b = 4; b < 8; b++) call_blank(c, 0, b);
}

/* 10 in the four active samples of eight; the others are ignored whatever they hold. */
static void c7_statistics_of_the_active(void **state) {
    call norm = call_open(context, "bn_stats_finalize:b8:hw3x3:c19:mask1"),
         stats = call_open(context, "bn_stats:b8:hw3x3:c19:mask1");
    (void)state;
    blank_half(&norm);
    blank_half(&stats);
    call_set_all(&norm, "x", 10);
    for (int64_t j = call_count(&norm, "x", 0) / 2; j < call_count(&norm, "x", 0); j++) call_set(&norm, "x", 0, j, 1e6);
    call_copy(&stats, "x", &norm, "x");
    for (int k = 0; k < norm.kernel_count; k++) {
        set_running(&norm, 0, 1, 0);
        call_run(&norm, norm.kernels[k]);
        for (int64_t j = 0; j < 19; j++) assert_running(&norm, norm.kernels[k], 0, j, 1, 0.9);
    }
    for (int k = 0; k < stats.kernel_count; k++) {
        call_run(&stats, stats.kernels[k]);
        for (int64_t j = 0; j < 19; j++) {
            assert_true(call_get(&stats, "mean", 0, j) == 10);
            assert_true(call_get(&stats, "var", 0, j) == 0);
        }
    }
    call_close(&norm);
    call_close(&stats);
}

/* ---- C8 -------------------------------------------------------------------------------------- */

#define SAMPLES 3

/* Stream 1 of two has no active sample, and NaN in one of its inputs. */
static void blank_second(call *c, const char *name) {
    for (int64_t b = 0; b < SAMPLES; b++) call_blank(c, 1, b);
    for (int64_t j = 0; j < call_count(c, name, 1); j++) call_set(c, name, 1, j, NAN);
}

static int is_any_nonzero(call *c, const char *name, int i) {
    int any = 0;
    for (int64_t j = 0; j < call_count(c, name, i); j++) {
        assert_true(isfinite(call_get(c, name, i, j)));
        any |= call_get(c, name, i, j) != 0;
    }
    return any;
}

static void c8_blanked_stream_learns_nothing(void **state) {
    static const struct {
        const char *text, *inputs[6], *blanked;
        const char *outputs[4];
    } cases[] = {
        {"conv2d_bwd_weight:n2:b3:hw5x6:c3,2:k4,18:rs3:pad1:bias1:mask1", {"x", "dy"}, "x", {"dw", "dbias"}},
        {"linear_bwd_weight:n2:b3:c7,9:k4,18:bias1:mask1", {"x", "dy"}, "dy", {"dw", "dbias"}},
        {"integrate_bwd_weight:n2:b3:hw5x6:c4,18:zi3:zo5:mask1", {"r", "z", "dy"}, "r", {"dv"}},
        {"bn_bwd_reduce:n2:b3:hw5x6:c4,18:mask1", {"x", "dy", "center", "rstd"}, "x", {"dgamma", "dbeta"}},
        {"li_conv2d_bwd_weight:n2:b3:hw5x6:c3,2:k4,18:rs3:pad1:zi3:zo5:mask1",
         {"x", "dy", "r", "z", "v", "dzy"},
         "x",
         {"dw", "dv"}},
    };
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        call c = call_open(context, "%s", cases[n].text);
        for (int j = 0; j < 6 && cases[n].inputs[j]; j++) call_fill(&c, cases[n].inputs[j], (uint64_t)j);
        blank_second(&c, cases[n].blanked);
        for (int k = 0; k < c.kernel_count; k++) {
            call_run(&c, c.kernels[k]);
            for (int j = 0; cases[n].outputs[j]; j++) {
                assert_true(is_any_nonzero(&c, cases[n].outputs[j], 0));
                assert_zero(&c, c.kernels[k], cases[n].outputs[j], 1, 0, call_count(&c, cases[n].outputs[j], 1));
            }
        }
        call_close(&c);
    }
}

static void c8_blanked_stream_keeps_its_statistics(void **state) {
    call c = call_open(context, "bn_stats_finalize:n2:b3:hw5x6:c4,18:mask1");
    (void)state;
    fill_norm(&c);
    blank_second(&c, "x");
    for (int k = 0; k < c.kernel_count; k++) {
        set_running(&c, 0.5, 2, 7);
        call_run(&c, c.kernels[k]);
        assert_true(call_get(&c, "batches", 0, 0) == 8);
        assert_true(call_get(&c, "running_mean", 0, 0) != 0.5);
        for (int64_t j = 0; j < 18; j++) {
            assert_true(call_get(&c, "running_mean", 1, j) == 0.5);
            assert_true(call_get(&c, "running_var", 1, j) == 2);
        }
    }
    call_close(&c);
}

/* dv of a stream is the sum over its active samples alone, and the others still reach the integrated plane. */
static void c8_gradient_of_the_mix_is_of_the_active(void **state) {
    call c = call_open(context, "integrate_bwd_weight:n2:b3:hw2x3:c4,18:zo5:mask1");
    double want[5 * 18] = {0};
    (void)state;
    call_fill(&c, "r", 1);
    call_fill(&c, "dy", 2);
    for (int64_t n = 0; n < 6 * 5 * 18; n++) { /* sample 1 alone is active */
        int64_t a = n % 18, o = n / 18 % 5, pixel = 6 + n / 18 / 5;
        want[o * 18 + a] += call_get(&c, "dy", 0, pixel * 5 + o) * call_get(&c, "r", 1, pixel * 18 + a);
    }
    call_blank(&c, 1, 0);
    call_blank(&c, 1, 2);
    for (int k = 0; k < c.kernel_count; k++) {
        call_run(&c, c.kernels[k]);
        assert_near(&c, c.kernels[k], "dv", 1, want, 1e-5);
    }
    call_close(&c);
}

/* ---- C9 -------------------------------------------------------------------------------------- */

#define TWO "b3:hw5x6:c3,2:k4,18:rs3:pad1:zi3:zo5:bias1"

static void fill_layer(call *c) {
    static const char *const names[] = {"x", "w", "bias", "z", "v", "wz", "zbias"};
    for (int j = 0; j < 7; j++) call_fill(c, names[j], (uint64_t)(1 + j));
}

static double *copy_of(call *c, const char *name, int i) {
    double *values = test_calloc((size_t)call_count(c, name, i), sizeof *values);
    for (int64_t j = 0; j < call_count(c, name, i); j++) values[j] = call_get(c, name, i, j);
    return values;
}

static void c9_blanking_is_a_raw_output_of_zero(void **state) {
    call layer = call_open(context, "li_conv2d_fwd:n2:" TWO ":mask1"),
         plain = call_open(context, "li_conv2d_fwd:n2:" TWO ":mask0");
    call mix = call_open(context, "integrate_fwd:n2:b3:hw5x6:c4,18:zi3:zo5:bias1");
    (void)state;
    fill_layer(&layer);
    fill_layer(&plain);
    call_run(&plain, NULL);
    static const char *const shared[][2] = {{"r", "r"}, {"z", "z"}, {"v", "v"}, {"w", "wz"}, {"bias", "zbias"}};
    for (int j = 0; j < 5; j++) call_copy(&mix, shared[j][0], &plain, shared[j][1]);
    for (int64_t j = 0; j < call_count(&mix, "r", 1); j++) call_set(&mix, "r", 1, j, 0);
    call_run(&mix, NULL);
    double *want = copy_of(&mix, "y", 0);
    blank_second(&layer, "x");
    for (int k = 0; k < layer.kernel_count; k++) {
        call_run(&layer, layer.kernels[k]);
        assert_near(&layer, layer.kernels[k], "zy", 0, want, 1e-5);
        assert_true(is_any_nonzero(&layer, "zy", 0));
        assert_zero(&layer, layer.kernels[k], "r", 1, 0, call_count(&layer, "r", 1));
        assert_zero(&layer, layer.kernels[k], "y", 1, 0, call_count(&layer, "y", 1));
    }
    for (int64_t j = 0; j < call_count(&plain, "x", 1); j++) call_set(&plain, "x", 1, j, 0);
    for (int k = 0; k < plain.kernel_count; k++) { /* a zero input keeps the bias */
        call_run(&plain, plain.kernels[k]);
        for (int64_t j = 0; j < call_count(&plain, "y", 1); j++)
            assert_true(call_get(&plain, "y", 1, j) == call_get(&plain, "bias", 1, j % 18));
    }
    test_free(want);
    call_close(&layer);
    call_close(&plain);
    call_close(&mix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c5_training),
        cmocka_unit_test(c5_running_statistics),
        cmocka_unit_test(c5_evaluation),
        cmocka_unit_test(c6_blanked_samples),
        cmocka_unit_test(c6_blanked_samples_stay_zero),
        cmocka_unit_test(c7_statistics_of_the_active),
        cmocka_unit_test(c8_blanked_stream_learns_nothing),
        cmocka_unit_test(c8_blanked_stream_keeps_its_statistics),
        cmocka_unit_test(c8_gradient_of_the_mix_is_of_the_active),
        cmocka_unit_test(c9_blanking_is_a_raw_output_of_zero),
    };
    return cmocka_run_group_tests_name("api/checks_streams", tests, open_context, close_context);
}
