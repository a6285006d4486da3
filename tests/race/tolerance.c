/*
 * The tolerance table (race/tolerance.c) against errors of plain loops, written here and measured: a loop of as many
 * terms, in the same number format, on the inputs on which roundings add up worst (all terms have one sign). A bound
 * below such an error would refuse honest kernels; one far above it would let wrong kernels pass. Each of these numbers
 * is therefore held from both sides.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <float.h>
#include <math.h>

#include "core/rng.h"
#include "race/tolerance.h"

#define F32_ROUNDOFF 0x1p-24
#define F64_ROUNDOFF 0x1p-53

/* ---- Plain loops ------------------------------------------------------------------------------ */

/* A value with so many significant bits: to the nearest, or cut off as the adders of tensor cores do. */
static double keep_digits(double value, int digits, double (*whole)(double)) {
    int exponent;
    double mantissa = frexp(value, &exponent);
    return ldexp(whole(ldexp(mantissa, digits)), exponent - digits);
}

/* A positive number of f32 below 1. */
static float draw(rng *r) { return (float)rng_uniform(r); }

/* The error of one sum of products in f32, as a share of the sum in units of f32's roundoff. */
static double error_of_sum(rng *r, int terms) {
    double truth = 0;
    float sum = 0;
    for (int i = 0; i < terms; i++) {
        const float x = draw(r), w = draw(r);
        const float product = x * w;
        truth += (double)x * (double)w;
        sum += product;
    }
    return fabs((double)sum - truth) / truth / F32_ROUNDOFF;
}

/* The same in f64, against long double. */
static double error_of_double_sum(rng *r, int terms) {
    long double truth = 0;
    double sum = 0;
    for (int i = 0; i < terms; i++) {
        const double x = rng_uniform(r) + 0x1p-40 * rng_uniform(r), w = rng_uniform(r) + 0x1p-40 * rng_uniform(r);
        truth += (long double)x * (long double)w;
        sum += x * w;
    }
    return (double)(fabsl((long double)sum - truth) / truth) / F64_ROUNDOFF;
}

/* The same of an adder that takes a block of exact products at once and cuts its sum off after 24 bits. */
static double error_of_blocks(rng *r, int terms, int block) {
    double truth = 0, sum = 0;
    for (int i = 0; i < terms; i += block) {
        double added = 0;
        for (int j = 0; j < block; j++) added += (double)draw(r) * (double)draw(r);
        truth += added;
        sum = keep_digits(sum + added, 24, trunc);
    }
    return fabs(sum - truth) / truth / F32_ROUNDOFF;
}

/* The error of so many results in a row that are each stored with `digits` bits, in units of the format's roundoff. */
static double error_of_stores(rng *r, int digits, int stores) {
    double truth = 1 + rng_uniform(r), value = keep_digits(truth, digits, rint);
    for (int i = 1; i < stores; i++) {
        const double factor = 1 + rng_uniform(r);
        truth *= factor;
        value = keep_digits(value * factor, digits, rint);
    }
    return fabs(value - truth) / truth * ldexp(1, digits);
}

/* ---- The table ------------------------------------------------------------------------------------- */

static braid_problem parsed(const char *text) {
    braid_problem p;
    if (braid_problem_parse(text, &p) != BRAID_OK) fail_msg("%s: %s", text, braid_message());
    return p;
}

static double bound_of(const char *text, kernel_backend where, unsigned flags, int slot, ref_value truth,
                       double mixed) {
    const braid_problem p = parsed(text);
    const kernel k = {.name = "plain", .op = p.op, .pass = p.pass, .backend = where, .flags = flags};
    return tolerance_bound(&p, &k, slot, truth, mixed);
}

/* What the sums behind an output may be off, in units of the accumulator's roundoff. */
static double growth_of(const char *text, unsigned flags, int slot, double roundoff) {
    return bound_of(text, KERNEL_CPU, flags, slot, (ref_value){0, 1}, 1) / roundoff;
}

static void assert_between(double bound, double error, double most, const char *what) {
    if (bound >= error && bound <= most * error) return;
    fail_msg("%s: expected a bound of 1 to %g times the worst error %.4g, got %.4g", what, most, error, bound);
}

/* The worst errors were, in units of the roundoff: 4.1, 8.2, 25.7 (f32), 4.0, 8.0 (f64). */
static void sums_grow_with_the_root(void **state) {
    static const struct {
        const char *text; /* with as many terms, the bias among them */
        int terms, trials;
    } rows[] = {{"linear_fwd:f32:b1:c15:k1", 16, 20000},
                {"linear_fwd:f32:b1:c63:k1", 64, 20000},
                {"conv2d_bwd_weight:f32:b4:hw16x16:c1:k1:rs1x1", 1024, 4000}};
    rng r = {.seed = 1};
    (void)state;
    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
        double worst = 0;
        for (int i = 0; i < rows[j].trials; i++) worst = fmax(worst, error_of_sum(&r, rows[j].terms));
        const int slot = rows[j].terms == 1024 ? CONV2D_W : LINEAR_Y;
        assert_between(growth_of(rows[j].text, 0, slot, F32_ROUNDOFF), worst, 3, rows[j].text);
    }
}

static void doubles_have_their_own_roundoff(void **state) {
    rng r = {.seed = 2};
    double worst = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) worst = fmax(worst, error_of_double_sum(&r, 64));
    assert_between(growth_of("linear_fwd:f64:b1:c63:k1", 0, LINEAR_Y, F64_ROUNDOFF), worst, 3, "f64");
}

/* Cutting off has a direction: errors of long sums grow with their length. */
static void tensor_cores_cut_off(void **state) {
    static const struct {
        const char *text;
        int block, trials;
    } rows[] = {{"linear_fwd:f16:b1:c16383:k1", 16, 60}, {"linear_fwd:tf32:b1:c16383:k1", 8, 60}};
    rng r = {.seed = 3};
    (void)state;
    for (size_t j = 0; j < 2; j++) {
        double worst = 0;
        for (int i = 0; i < rows[j].trials; i++) worst = fmax(worst, error_of_blocks(&r, 16384, rows[j].block));
        double own = growth_of(rows[j].text, KERNEL_TENSOR_CORE, LINEAR_Y, F32_ROUNDOFF);
        assert_between(own, 2.5 * worst, 1.8, rows[j].text); /* 3.2 to 3.6 times */
    }
}

/* An output is stored once: half a spacing of its format. */
static void stores_round_once(void **state) {
    static const struct {
        const char *text;
        int digits;
    } rows[] = {{"linear_fwd:f32:b1:c4:k1", 24}, {"linear_fwd:f16:b1:c4:k1", 11}, {"linear_fwd:bf16:b1:c4:k1", 8}};
    rng r = {.seed = 4};
    (void)state;
    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
        double worst = 0;
        for (int i = 0; i < 20000; i++) worst = fmax(worst, error_of_stores(&r, rows[j].digits, 1));
        double bound = bound_of(rows[j].text, KERNEL_CPU, 0, LINEAR_Y, (ref_value){-1, 0}, 0);
        assert_between(bound * ldexp(1, rows[j].digits), worst, 1.05, rows[j].text);
    }
}

/* A chain stores up to four temporary results on the way to an output (product, scale, bias, sum), a fused kernel may
 * store one. With TF32 they are rounded to its eleven bits. The worst errors were 3.8 (five stores), 1.9 (two), 3.3
 * (four) and 1.0 (one) roundoffs. */
static void temporary_results_round(void **state) {
    static const struct {
        const char *text;
        kernel_backend where;
        unsigned flags;
        int digits, stores; /* the output's own among them; that of TF32 has 24 bits and does not count */
    } rows[] = {
        {"conv2d_scale_bias_act:bf16:b1:hw4x4:c4:k4:rs1x1:act=relu:add1", KERNEL_CHAIN, 0, 8, 5},
        {"conv2d_scale_bias_act:f16:b1:hw4x4:c4:k4:rs1x1:act=relu:add1", KERNEL_CHAIN, 0, 11, 5},
        {"conv2d_scale_bias_act:bf16:b1:hw4x4:c4:k4:rs1x1:act=relu:add1", KERNEL_CUDA, 0, 8, 2},
        {"li_conv2d_fwd:tf32:n2:b1:hw4x4:c4:k4:rs1x1:zo8", KERNEL_CHAIN, 0, 11, 4},
        {"li_conv2d_fwd:tf32:n2:b1:hw4x4:c4:k4:rs1x1:zo8", KERNEL_CUDA, KERNEL_TF32, 11, 1},
    };
    rng r = {.seed = 5};
    (void)state;
    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
        const braid_problem p = parsed(rows[j].text);
        const int slot = p.op == BRAID_OP_LI_CONV2D ? LI_CONV2D_Z : CONV2D_SCALE_BIAS_ACT_Y;
        double worst = 0;
        for (int i = 0; i < 100000; i++) worst = fmax(worst, error_of_stores(&r, rows[j].digits, rows[j].stores));
        double bound = bound_of(rows[j].text, rows[j].where, rows[j].flags, slot, (ref_value){1, 1}, 1);
        assert_between(bound * ldexp(1, rows[j].digits), worst, 1.5, rows[j].text);
    }
}

/* A kernel that does not round to TF32 has the roundoff of f32, though the problem allows TF32. */
static void tf32_is_for_those_who_use_it(void **state) {
    (void)state;
    const char *text = "li_conv2d_fwd:tf32:n2:b1:hw4x4:c4:k4:rs1x1:zo8";
    assert_true(bound_of(text, KERNEL_CPU, 0, LI_CONV2D_Z, (ref_value){1, 1}, 1) < 16 * F32_ROUNDOFF);
}

/* The smallest number of each format, as IEEE 754 and bf16 without denormals define it. */
static void zero_may_be_the_smallest_number(void **state) {
    const ref_value zero = {0, 0};
    (void)state;
    assert_true(bound_of("linear_fwd:f16:b1:c4:k1", KERNEL_CPU, 0, LINEAR_Y, zero, 0) == ldexp(1, -14 - 10));
    assert_true(bound_of("linear_fwd:bf16:b1:c4:k1", KERNEL_CPU, 0, LINEAR_Y, zero, 0) == (double)FLT_MIN);
    assert_true(bound_of("linear_fwd:f32:b1:c4:k1", KERNEL_CPU, 0, LINEAR_Y, zero, 0) == (double)nextafterf(0, 1));
    assert_true(bound_of("linear_fwd:f64:b1:c4:k1", KERNEL_CPU, 0, LINEAR_Y, zero, 0) == 0);
}

/* ---- The rows ----------------------------------------------------------------------------------------- */

/* (x - t)^2 in f32, added in double: what it is off does not grow with the batch. */
static double error_of_square(rng *r) {
    const float x = draw(r), t = draw(r);
    const double truth = ((double)x - (double)t) * ((double)x - (double)t);
    const volatile float away = x - t;
    const double got = (double)away * (double)away;
    return truth > 0 ? fabs(got - truth) / truth / F32_ROUNDOFF : 0;
}

/* beta - mean * gamma / sqrt(var + eps), every step in f32. */
static double error_of_shift(rng *r) {
    const float mean = draw(r), var = draw(r), gamma = draw(r), beta = draw(r), eps = 1e-5f;
    const float sum = var + eps, root = sqrtf(sum), scale = gamma / root, product = mean * scale,
                shift = beta - product;
    const double exact = (double)mean * (double)gamma / sqrt((double)var + 1e-5);
    return fabs((double)shift - ((double)beta - exact)) / ((double)beta + exact) / F32_ROUNDOFF;
}

/* The worst errors were 2.0 and 2.8 roundoffs. */
static void sums_in_double_do_not_grow(void **state) {
    rng r = {.seed = 6};
    double square = 0, shift = 0;
    (void)state;
    for (int i = 0; i < 100000; i++) {
        square = fmax(square, error_of_square(&r));
        shift = fmax(shift, error_of_shift(&r));
    }
    assert_between(growth_of("mse_fwd:f32:b1:c4", 0, MSE_LOSS, F32_ROUNDOFF), square, 1.5, "mse");
    assert_between(growth_of("mse_fwd:f32:b4096:c512", 0, MSE_LOSS, F32_ROUNDOFF), square, 1.5, "a large mse");
    assert_between(growth_of("bn_finalize:f32:b2:hw3x3:c4", 0, BN_FINALIZE_SHIFT, F32_ROUNDOFF), shift, 4, "shift");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_grow_with_the_root),
        cmocka_unit_test(doubles_have_their_own_roundoff),
        cmocka_unit_test(tensor_cores_cut_off),
        cmocka_unit_test(stores_round_once),
        cmocka_unit_test(temporary_results_round),
        cmocka_unit_test(tf32_is_for_those_who_use_it),
        cmocka_unit_test(zero_may_be_the_smallest_number),
        cmocka_unit_test(sums_in_double_do_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
