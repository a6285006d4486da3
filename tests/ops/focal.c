/*
 * The case tests of focal: see tests/support/cases.h. The known answers were computed from the equation of
 * src/ops/focal.c and its derivative (with q = 1 - p: alpha (q^gamma - gamma q^(gamma-1) p log p) (p_c - [c is y])),
 * in double, by a program of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cases.h"
#include "tests/support/class_properties.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"the gradients of a row add up to zero", rows_add_up_to_zero},
    {"NaN in an ignored sample reaches nothing", ignored_samples_do_not_leak},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

static const double logits[] = {1, 2, 3, 0, 0, 0, 2, -1, 0.5, 5, 5, 1}, labels[] = {2, 1, -100, 1};

static void usual(known *k) { class_expect(k, logits, labels, 0.059393052936957, 1); }

static void flat(known *k) { class_expect(k, logits, labels, 0.135972544396663, 1); }

static void expect_gradient(known *k, const double dx[12]) {
    static const double dloss[] = {1};
    known_set(k, CLASS_X, logits, 12);
    known_set(k, CLASS_LABELS, labels, 4);
    known_set(k, CLASS_LOSS, dloss, 1);
    if (known_run(k)) known_expect(k, CLASS_DX, dx, 12, 1e-8);
}

static void usual_gradient(known *k) {
    static const double dx[] = {0.00220280493722,
                                0.0059878446325,
                                -0.00819064956972,
                                0.0259087936873,
                                -0.0518175873745,
                                0.0259087936873,
                                0,
                                0,
                                0,
                                0.0250068538271,
                                -0.0254648703316,
                                0.000458016504441};
    expect_gradient(k, dx);
}

static void flat_gradient(known *k) {
    static const double dx[] = {0.00609890514173,
                                0.0165785430203,
                                -0.022677448162,
                                0.0289097187581,
                                -0.0578194375163,
                                0.0289097187581,
                                0,
                                0,
                                0,
                                0.0394402122209,
                                -0.0401625849056,
                                0.000722372684732};
    expect_gradient(k, dx);
}

static void scenarios(suite *s) {
    class_scenarios(s, "focal");
    known_each(s, "focal_fwd:f32:b4:c3:alpha0.25", usual);
    known_each(s, "focal_fwd:bf16:b4:c3:alpha0.25:cp5", usual);
    known_each(s, "focal_fwd:f64:b4:c3:alpha0.25:gamma2", usual);
    known_each(s, "focal_fwd:f32:b4:c3:alpha0.25:gamma0.5", flat);
    known_each(s, "focal_bwd_data:f32:b4:c3:alpha0.25:cp4", usual_gradient);
    known_each(s, "focal_bwd_data:f64:b4:c3:alpha0.25", usual_gradient);
    known_each(s, "focal_bwd_data:f32:b4:c3:alpha0.25:gamma0.5", flat_gradient);
    known_refused(s, "focal_fwd:b2:c3:gamma0", "expected field gamma (gamma) above 0, got 0");
    known_refused(s, "focal_fwd:b2:c3:alpha=-1", "expected alpha (alpha) above 0");
}

static void gradients(suite *s) {
    static const int slots[3] = {CLASS_X, CLASS_LOSS, CLASS_DX};
    known_gradient(s, "focal_fwd:f64:b7:c5", slots, NULL);
    known_gradient(s, "focal_fwd:f64:b5:c4:gamma0.5:alpha0.25:cp6", slots, NULL);
    known_gradient(s, "focal_fwd:f64:b6:c5:gamma1", slots, NULL);
    known_gradient(s, "focal_fwd:f64:b6:c2:gamma5:alpha3", slots, NULL);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){.op = BRAID_OP_FOCAL, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
