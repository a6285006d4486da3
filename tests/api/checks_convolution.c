/*
 * Rules of the systems that braid serves, about convolutions and their mix, looked at from outside: through the
 * public interface, on every candidate, against plain loops in double that share nothing with the library.
 *
 *   C1  each stream's convolution is the textbook's
 *   C2  so are its gradients; those of the mix are finite differences of its forward pass
 *   C3  the integrated output is the sum of its contributions, computed separately
 *   C4  the mix reads the raw output: a stream's bias changes its output and nothing else
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "tests/support/calls.h"

static const struct {
    const char *name;
    double share; /* of the largest output */
} formats[] = {{"f32", 1e-5}, {"f16", 2e-3}, {"bf16", 1e-2}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static const char *const filters[] = {"rs1", "rs3:pad1", "rs5:dil2:pad4", "rs7:pad3", "rs3x2:pad2x0"};
enum { FILTERS = sizeof filters / sizeof filters[0] };

static const char *const modes[] = {"zeros", "reflect", "replicate", "circular"};

static double *zeros(int64_t count) {
    double *values = test_calloc((size_t)count, sizeof *values);
    assert_non_null(values);
    return values;
}

/* ---- The convolution of the textbook -------------------------------------------------------- */

/* The row or column that output `out` reads at tap `tap`; -1: a zero of the padding. */
static int64_t source(const braid_problem *p, int axis, int64_t out, int64_t tap) {
    int64_t n = p->size[axis], at = out * p->stride[axis] + tap * p->dilation[axis] - p->padding[axis];
    if (at >= 0 && at < n) return at;
    switch (p->padding_mode) {
        case BRAID_PADDING_REFLECT: return at < 0 ? -at : 2 * (n - 1) - at;
        case BRAID_PADDING_REPLICATE: return at < 0 ? 0 : n - 1;
        case BRAID_PADDING_CIRCULAR: return at < 0 ? at + n : at - n;
        default: return -1;
    }
}

static int64_t out_size(const braid_problem *p, int axis) {
    return (p->size[axis] + 2 * p->padding[axis] - p->dilation[axis] * (p->filter[axis] - 1) - 1) / p->stride[axis] + 1;
}

/* One product of the sum behind an output: the places of its three parts. */
typedef struct product {
    int64_t x, w, y;
} product;

typedef struct walk {
    int64_t b, p, q, k, r, s, c; /* c within the group */
} walk;

/* The product at one point of the seven loops; 0: it is in the padding of zeros. */
static int product_at(const braid_problem *p, int i, const walk *a, product *out) {
    int64_t channels = p->in_channels[i] / p->groups, group = a->k / (p->out_channels[i] / p->groups);
    int64_t h = source(p, 0, a->p, a->r), w = source(p, 1, a->q, a->s);
    if (h < 0 || w < 0) return 0;
    out->x = ((a->b * p->size[0] + h) * p->size[1] + w) * p->in_channels[i] + group * channels + a->c;
    out->w = ((a->k * p->filter[0] + a->r) * p->filter[1] + a->s) * channels + a->c;
    out->y = ((a->b * out_size(p, 0) + a->p) * out_size(p, 1) + a->q) * p->out_channels[i] + a->k;
    return 1;
}

/* sum[place of the result] += first * second over all products, where the places are those of x, w and y. */
static void walk_convolution(const braid_problem *p, int i, braid_pass pass, const double *first, const double *second,
                             double *sum) {
    int64_t limit[7] = {p->batch,
                        out_size(p, 0),
                        out_size(p, 1),
                        p->out_channels[i],
                        p->filter[0],
                        p->filter[1],
                        p->in_channels[i] / p->groups};
    int64_t total = 1;
    for (int axis = 0; axis < 7; axis++) total *= limit[axis];
    for (int64_t n = 0; n < total; n++) {
        int64_t at[7], rest = n;
        product e;
        for (int axis = 6; axis >= 0; axis--) {
            at[axis] = rest % limit[axis];
            rest /= limit[axis];
        }
        if (!product_at(p, i, &(walk){at[0], at[1], at[2], at[3], at[4], at[5], at[6]}, &e)) continue;
        switch (pass) {
            case BRAID_PASS_FWD: sum[e.y] += first[e.x] * second[e.w]; break;
            case BRAID_PASS_BWD_DATA: sum[e.x] += first[e.w] * second[e.y]; break;
            default: sum[e.w] += first[e.x] * second[e.y]; break;
        }
    }
}

/* The values of one plane as they are stored. */
static double *values_of(call *c, const char *name, int i) {
    double *values = zeros(call_count(c, name, i));
    for (int64_t j = 0; j < call_count(c, name, i); j++) values[j] = call_get(c, name, i, j);
    return values;
}

static double *expected(call *c, const char *first, const char *second, const char *result, int i) {
    const braid_problem *p = braid_op_problem(c->op);
    double *a = values_of(c, first, i), *b = values_of(c, second, i), *sum = zeros(call_count(c, result, i));
    walk_convolution(p, i, p->pass, a, b, sum);
    test_free(a);
    test_free(b);
    return sum;
}

/* Runs every candidate and holds all streams of one output against the textbook. */
static void compare(call *c, const char *first, const char *second, const char *result, double share) {
    const braid_problem *p = braid_op_problem(c->op);
    double *want[BRAID_MAX_PLANES];
    call_fill(c, first, 1);
    call_fill(c, second, 2);
    for (int i = 0; i < p->streams; i++) want[i] = expected(c, first, second, result, i);
    for (int k = 0; k < c->kernel_count; k++) {
        call_run(c, c->kernels[k]);
        for (int i = 0; i < p->streams; i++) assert_near(c, c->kernels[k], result, i, want[i], share);
    }
    for (int i = 0; i < p->streams; i++) test_free(want[i]);
}

/* Every filter, stride, padding mode, number of groups and format. */
static void every_convolution(const char *pass, const char *first, const char *second, const char *result) {
    braid_context *context = given_context("", NULL);
    for (int n = 0; n < FILTERS * 2 * 4 * 2 * FORMATS; n++) {
        int filter = n % FILTERS, stride = 1 + n / FILTERS % 2, mode = n / FILTERS / 2 % 4;
        int groups = 1 + n / FILTERS / 2 / 4 % 2, format = n / FILTERS / 2 / 4 / 2;
        call c = call_open(context, "conv2d_%s:%s:n3:b2:hw6x8:c6,2,4:k4,6,2:%s:st%d:g%d:mode=%s", pass,
                           formats[format].name, filters[filter], stride, groups, modes[mode]);
        compare(&c, first, second, result, formats[format].share);
        call_close(&c);
    }
    braid_context_destroy(context);
}

static void c1_convolution_of_each_stream(void **state) {
    (void)state;
    every_convolution("fwd", "x", "w", "y");
}

static void c2_gradient_of_the_input(void **state) {
    (void)state;
    every_convolution("bwd_data", "w", "dy", "dx");
}

static void c2_gradient_of_the_weights(void **state) {
    (void)state;
    every_convolution("bwd_weight", "x", "dy", "dw");
}

static void c2_gradient_of_the_bias(void **state) {
    braid_context *context = given_context("", NULL);
    call c = call_open(context, "conv2d_bwd_weight:n2:b3:hw7x5:c3,1:k4,18:rs3:st2:pad1:bias1");
    (void)state;
    call_fill(&c, "x", 1);
    call_fill(&c, "dy", 2);
    for (int k = 0; k < c.kernel_count; k++) {
        call_run(&c, c.kernels[k]);
        for (int i = 0; i < 2; i++) {
            double want[18] = {0};
            int64_t channels = call_count(&c, "dbias", i);
            for (int64_t j = 0; j < call_count(&c, "dy", i); j++) want[j % channels] += call_get(&c, "dy", i, j);
            assert_near(&c, c.kernels[k], "dbias", i, want, 1e-5);
        }
    }
    call_close(&c);
    braid_context_destroy(context);
}

/* ---- The mix --------------------------------------------------------------------------------- */

#define MIX "n3:b2:hw5x4:c3,2,1:st2:bias1:zi4:zo3"

/* The sum of y * dy in double: its derivative by any input is that input's gradient. */
static double loss(call *forward, call *gradient) {
    double sum = 0;
    call_run(forward, NULL);
    for (int64_t j = 0; j < call_count(forward, "y", 0); j++)
        sum += call_get(forward, "y", 0, j) * call_get(gradient, "dy", 0, j);
    return sum;
}

/* The gradient of one operand by central differences, exact but for rounding: the mix is linear in each. */
static void compare_with_differences(call *forward, call *gradient, const char *kernel, const char *name) {
    char result[16] = "d";
    strcat(result, name);
    int planes = strcmp(name, "r") == 0 || strcmp(name, "v") == 0 ? 3 : 1;
    for (int i = 0; i < planes; i++) {
        double *want = zeros(call_count(forward, name, i));
        for (int64_t j = 0; j < call_count(forward, name, i); j++) {
            double value = call_get(forward, name, i, j);
            call_set(forward, name, i, j, value + 0.5);
            want[j] = loss(forward, gradient);
            call_set(forward, name, i, j, value - 0.5);
            want[j] -= loss(forward, gradient);
            call_set(forward, name, i, j, value);
        }
        assert_near(gradient, kernel, result, i, want, 1e-5);
        test_free(want);
    }
}

static void copy_as_doubles(call *to, call *from, const char *name) {
    for (int i = 0; i < (strcmp(name, "r") && strcmp(name, "v") ? 1 : 3); i++) {
        for (int64_t j = 0; j < call_count(to, name, i); j++) call_set(to, name, i, j, call_get(from, name, i, j));
    }
}

static void gradients_of_mix(const char *pass, const char *const *inputs, const char *const *results) {
    braid_context *context = given_context("", NULL);
    call forward = call_open(context, "integrate_fwd:f64:" MIX),
         gradient = call_open(context, "integrate_%s:" MIX, pass);
    static const char *const all[] = {"r", "z", "v", "w"};
    call_fill(&gradient, "dy", 3);
    for (int j = 0; j < 4; j++) call_fill(&forward, all[j], (uint64_t)(10 + j));
    for (int j = 0; j < 2; j++) {
        call_fill(&gradient, inputs[j], (uint64_t)(20 + j));
        copy_as_doubles(&forward, &gradient, inputs[j]);
    }
    for (int k = 0; k < gradient.kernel_count; k++) {
        call_run(&gradient, gradient.kernels[k]);
        for (int j = 0; results[j]; j++) compare_with_differences(&forward, &gradient, gradient.kernels[k], results[j]);
    }
    call_close(&forward);
    call_close(&gradient);
    braid_context_destroy(context);
}

static void c2_gradients_of_the_mix(void **state) {
    (void)state;
    gradients_of_mix("bwd_data", (const char *const[]){"v", "w"}, (const char *const[]){"r", "z", NULL});
    gradients_of_mix("bwd_weight", (const char *const[]){"r", "z"}, (const char *const[]){"v", "w", "bias", NULL});
}

/* ---- A layer --------------------------------------------------------------------------------- */

#define LAYER "n3:b2:hw6x8:c3,1,2:k5,4,6:rs3:st2:pad1"

/* Adds the matrix [outs][ins] times the vectors of a plane, read at every stride-th pixel of rows x columns. */
static void add_contribution(call *c, const char *matrix, const char *plane, int i, int64_t stride, double *sum) {
    const braid_problem *p = braid_op_problem(c->op);
    int64_t outs = p->integrated_out, ins = call_count(c, matrix, i) / outs, rows = out_size(p, 0),
            columns = out_size(p, 1);
    int64_t wide = stride > 1 ? p->size[1] : columns, high = stride > 1 ? p->size[0] : rows;
    for (int64_t n = 0; n < p->batch * rows * columns * outs; n++) {
        int64_t o = n % outs, q = n / outs % columns, r = n / outs / columns % rows, b = n / outs / columns / rows;
        int64_t pixel = (b * high + r * stride) * wide + q * stride;
        for (int64_t a = 0; a < ins; a++)
            sum[n] += call_get(c, matrix, i, o * ins + a) * call_get(c, plane, i, pixel * ins + a);
    }
}

static void fill_layer(call *c, int biased) {
    static const char *const names[] = {"x", "w", "z", "v", "wz", "bias", "zbias"};
    for (int j = 0; j < (biased ? 7 : 5); j++) call_fill(c, names[j], (uint64_t)(30 + j));
}

static void c3_integrated_is_the_sum_of_contributions(void **state) {
    braid_context *context = given_context("", NULL);
    (void)state;
    for (int biased = 0; biased < 2; biased++) {
        call layer = call_open(context, "li_conv2d_fwd:" LAYER ":zi7:zo5:bias%d", biased);
        call streams = call_open(context, "conv2d_fwd:" LAYER);
        fill_layer(&layer, biased);
        call_copy(&streams, "x", &layer, "x");
        call_copy(&streams, "w", &layer, "w");
        call_run(&streams, NULL);
        for (int k = 0; k < layer.kernel_count; k++) {
            call_run(&layer, layer.kernels[k]);
            for (int i = 0; i < 3; i++) { /* the raw outputs are the convolutions */
                double *raw = values_of(&streams, "y", i);
                assert_near(&layer, layer.kernels[k], "r", i, raw, 1e-5);
                test_free(raw);
            }
            double *sum = zeros(call_count(&layer, "zy", 0));
            add_contribution(&layer, "wz", "z", 0, 2, sum);
            call_copy(&layer, "r", &streams, "y");
            for (int i = 0; i < 3; i++) add_contribution(&layer, "v", "r", i, 1, sum);
            for (int64_t j = 0; biased && j < call_count(&layer, "zy", 0); j++)
                sum[j] += call_get(&layer, "zbias", 0, j % 5);
            assert_near(&layer, layer.kernels[k], "zy", 0, sum, 1e-5);
            test_free(sum);
        }
        call_close(&layer);
        call_close(&streams);
    }
    braid_context_destroy(context);
}

static void c4_bias_does_not_reach_the_mix(void **state) {
    braid_context *context = given_context("", NULL);
    call layer = call_open(context, "li_conv2d_fwd:" LAYER ":zi7:zo5:bias1"),
         before = call_open(context, "li_conv2d_fwd:" LAYER ":zi7:zo5:bias1");
    (void)state;
    fill_layer(&layer, 1);
    fill_layer(&before, 1);
    for (int k = 0; k < layer.kernel_count; k++) {
        call_set_all(&layer, "bias", 0);
        call_run(&layer, layer.kernels[k]);
        call_copy(&before, "zy", &layer, "zy");
        call_copy(&before, "r", &layer, "r");
        call_fill(&layer, "bias", 77);
        call_run(&layer, layer.kernels[k]);
        for (int64_t j = 0; j < call_count(&layer, "zy", 0); j++)
            assert_true(call_get(&layer, "zy", 0, j) == call_get(&before, "zy", 0, j));
        for (int i = 0; i < 3; i++) {
            int64_t channels = call_count(&layer, "bias", i);
            for (int64_t j = 0; j < call_count(&layer, "y", i); j++) {
                double raw = call_get(&layer, "r", i, j), bias = call_get(&layer, "bias", i, j % channels);
                assert_true(raw == call_get(&before, "r", i, j));
                assert_true(fabs(call_get(&layer, "y", i, j) - (raw + bias)) <= 1e-6 * (fabs(raw) + fabs(bias)));
            }
        }
    }
    call_close(&layer);
    call_close(&before);
    braid_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c1_convolution_of_each_stream),  cmocka_unit_test(c2_gradient_of_the_input),
        cmocka_unit_test(c2_gradient_of_the_weights),     cmocka_unit_test(c2_gradient_of_the_bias),
        cmocka_unit_test(c2_gradients_of_the_mix),        cmocka_unit_test(c3_integrated_is_the_sum_of_contributions),
        cmocka_unit_test(c4_bias_does_not_reach_the_mix),
    };
    return cmocka_run_group_tests_name("api/checks_convolution", tests, NULL, NULL);
}
