/*
 * The case tests of softmax_xent: see tests/support/cases.h. The known answers were computed from the equations of
 * src/ops/softmax_xent.c, term by term in double, by a program of its own; they are PyTorch's CrossEntropyLoss of the
 * same weights, label_smoothing and ignored samples.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "tests/support/cases.h"
#include "tests/support/class_properties.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"the gradients of a row add up to zero", rows_add_up_to_zero},
    {"NaN in an ignored sample reaches nothing", ignored_samples_do_not_leak},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

/* ---- Known answers ------------------------------------------------------------------------- */

static const double logits[] = {1, 2, 3, 0, 0, 0, 2, -1, 0.5, 5, 5, 1}, labels[] = {2, 1, -100, 1};
static const double weights[] = {1, 2, 0.5};

static void set_weights(known *k) {
    if (k->rig.problem.class_weights) known_set(k, CLASS_WEIGHTS, weights, 3);
}

static void plain(known *k) { class_expect(k, logits, labels, 0.736160524850528, 1); }

static void weighted(known *k) {
    set_weights(k);
    class_expect(k, logits, labels, 0.845678711652578, 1);
}

static void smooth(known *k) { class_expect(k, logits, labels, 0.969493858183862, 1); }

static void weighted_smooth(known *k) {
    set_weights(k);
    class_expect(k, logits, labels, 0.897079220621928, 1);
}

static void all_smooth(known *k) {
    set_weights(k);
    class_expect(k, logits, labels, 1.01701374155041, 1);
}

/* Weights of nothing but 0 leave no loss. */
static void weightless(known *k) {
    static const double none[] = {0, 0, 0};
    known_set(k, CLASS_WEIGHTS, none, 3);
    class_expect(k, logits, labels, 0, 1);
}

static void expect_gradient(known *k, const double dx[12]) {
    static const double dloss[] = {1};
    set_weights(k);
    known_set(k, CLASS_X, logits, 12);
    known_set(k, CLASS_LABELS, labels, 4);
    known_set(k, CLASS_LOSS, dloss, 1);
    if (known_run(k)) known_expect(k, CLASS_DX, dx, 12, 1e-7);
}

static void plain_gradient(known *k) {
    static const double dx[] = {
        0.0300101910568, 0.0815761570183, -0.111586348075, 0.111111111111, -0.222222222222, 0.111111111111, 0, 0, 0,
        0.165154214193,  -0.168179119141, 0.0030249049481};
    expect_gradient(k, dx);
}

static void weighted_gradient(known *k) {
    static const double dx[] = {
        0.0100033970189, 0.0271920523394, -0.0371954493584, 0.148148148148, -0.296296296296, 0.148148148148, 0, 0, 0,
        0.220205618923,  -0.224238825521, 0.00403320659747};
    expect_gradient(k, dx);
}

static void smooth_gradient(known *k) {
    static const double dx[] = {-0.00332314227654,
                                0.0482428236849,
                                -0.0449196814084,
                                0.0777777777778,
                                -0.155555555556,
                                0.0777777777778,
                                0,
                                0,
                                0,
                                0.131820880859,
                                -0.101512452474,
                                -0.0303084283852};
    expect_gradient(k, dx);
}

static void weighted_smooth_gradient(known *k) {
    static const double dx[] = {-0.00821746639572,
                                -0.00637557116925,
                                0.014593037565,
                                0.107407407407,
                                -0.225925925926,
                                0.118518518519,
                                0,
                                0,
                                0,
                                0.170457694336,
                                -0.162875638998,
                                -0.00758205533832};
    expect_gradient(k, dx);
}

/* One class is certain, but for a logit that is no number. */
static void one_class_gradient(known *k) {
    static const double x[] = {3, NAN, -INFINITY, INFINITY}, label[] = {0, 0, 0, 0}, dloss[] = {1};
    static const double dx[] = {0, NAN, NAN, NAN};
    known_set(k, CLASS_X, x, 4);
    known_set(k, CLASS_LABELS, label, 4);
    known_set(k, CLASS_LOSS, dloss, 1);
    if (known_run(k)) known_expect(k, CLASS_DX, dx, 4, 0);
}

static void scenarios(suite *s) {
    class_scenarios(s, "softmax_xent");
    known_each(s, "softmax_xent_fwd:f32:b4:c3", plain);
    known_each(s, "softmax_xent_fwd:bf16:b4:c3:cp5", plain);
    known_each(s, "softmax_xent_fwd:f16:b4:c3", plain);
    known_each(s, "softmax_xent_fwd:f64:b4:c3", plain);
    known_each(s, "softmax_xent_fwd:f32:b4:c3:cw1", weighted);
    known_each(s, "softmax_xent_fwd:f32:b4:c3:smooth0.3:cp8", smooth);
    known_each(s, "softmax_xent_fwd:f32:b4:c3:cw1:smooth0.3", weighted_smooth);
    known_each(s, "softmax_xent_fwd:bf16:b4:c3:cw1:smooth0.3", weighted_smooth);
    known_each(s, "softmax_xent_fwd:f64:b4:c3:cw1:smooth1", all_smooth);
    known_each(s, "softmax_xent_fwd:f32:b4:c3:cw1:smooth1", all_smooth);
    known_each(s, "softmax_xent_fwd:f32:b4:c3:cw1", weightless);
    known_each(s, "softmax_xent_bwd_data:f32:b4:c3:cp4", plain_gradient);
    known_each(s, "softmax_xent_bwd_data:f64:b4:c3", plain_gradient);
    known_each(s, "softmax_xent_bwd_data:f32:b4:c3:cw1", weighted_gradient);
    known_each(s, "softmax_xent_bwd_data:f32:b4:c3:smooth0.3", smooth_gradient);
    known_each(s, "softmax_xent_bwd_data:f32:b4:c3:cw1:smooth0.3", weighted_smooth_gradient);
    known_each(s, "softmax_xent_bwd_data:f32:b4:c1", one_class_gradient);
    known_each(s, "softmax_xent_bwd_data:bf16:b4:c1:smooth0.55", one_class_gradient);
    known_refused(s, "softmax_xent_fwd:b2:c3:smooth1.5", "expected smooth (smoothing) of at least 0 and at most 1");
    known_refused(s, "softmax_xent_fwd:n2:b2:c3", "expected n (streams) from 1 to 1, got 2");
}

/* ---- Gradients ----------------------------------------------------------------------------- */

static void gradients(suite *s) {
    static const int slots[3] = {CLASS_X, CLASS_LOSS, CLASS_DX};
    known_gradient(s, "softmax_xent_fwd:f64:b7:c5", slots, NULL);
    known_gradient(s, "softmax_xent_fwd:f64:b5:c4:cw1:cp6", slots, NULL);
    known_gradient(s, "softmax_xent_fwd:f64:b6:c5:smooth0.2", slots, NULL);
    known_gradient(s, "softmax_xent_fwd:f64:b6:c5:smooth0.7:cw1", slots, NULL);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){
            .op = BRAID_OP_SOFTMAX_XENT, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
