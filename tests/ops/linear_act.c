/*
 * The case tests of linear_act: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>

#include "tests/support/cases.h"
#include "tests/support/fused_gradients.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"NaN in blanked samples reaches nothing, they give 0", blanked_samples_do_not_leak},
    {"a batch equals its parts", batch_splits},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

/* Where ReLU gave 0, nothing comes back, whatever dy holds. */
static const double y[] = {0, 1, 0}, dy[] = {NAN, 2, INFINITY};

static void stops_dx(known *k) {
    static const double w[] = {1, 2, 3, 4, 5, 6}, dx[] = {6, 8};
    known_set(k, LINEAR_ACT_Y, y, COUNT(y));
    known_set(k, LINEAR_ACT_DY, dy, COUNT(dy));
    known_set(k, LINEAR_ACT_W, w, COUNT(w));
    if (known_run(k)) known_expect(k, LINEAR_ACT_X, dx, COUNT(dx), 0);
}

static void stops_dw(known *k) {
    static const double x[] = {5, 7}, dw[] = {0, 0, 10, 14, 0, 0}, dbias[] = {0, 2, 0};
    known_set(k, LINEAR_ACT_Y, y, COUNT(y));
    known_set(k, LINEAR_ACT_DY, dy, COUNT(dy));
    known_set(k, LINEAR_ACT_X, x, COUNT(x));
    if (!known_run(k)) return;
    known_expect(k, LINEAR_ACT_W, dw, COUNT(dw), 0);
    known_expect(k, LINEAR_ACT_BIAS, dbias, COUNT(dbias), 0);
}

static void scenarios(suite *s) {
    static const char *const dtypes[] = {"f32", "f64", "bf16", "f16"};
    for (int j = 0; j < COUNT(dtypes); j++) {
        char text[64];
        snprintf(text, sizeof text, "linear_act_bwd_data:%s:b1:c2:k3", dtypes[j]);
        known_each(s, text, stops_dx);
        snprintf(text, sizeof text, "linear_act_bwd_weight:%s:b1:c2:k3:bias1", dtypes[j]);
        known_each(s, text, stops_dw);
    }
}

static void gradients(suite *s) {
    static const fused_gradients g = {
        .outputs = {{LINEAR_ACT_Y, LINEAR_ACT_DY}},
        .inputs = {{LINEAR_ACT_X, BRAID_PASS_BWD_DATA, LINEAR_ACT_X},
                   {LINEAR_ACT_W, BRAID_PASS_BWD_WEIGHT, LINEAR_ACT_W},
                   {LINEAR_ACT_BIAS, BRAID_PASS_BWD_WEIGHT, LINEAR_ACT_BIAS}},
    };
    check_fused_gradients(s, "linear_act_fwd:f64:n2:b3:c5,3:k2,4:bias1", &g);
    check_fused_gradients(s, "linear_act_fwd:f64:n2:b3:c5,3:k2,4:act=gelu", &g);
    check_fused_gradients(s, "linear_act_fwd:f64:n2:b5:c4,3:k3,4:bias1:mask1:cp5:kp6:act=gelu_tanh", &g);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){
            .op = BRAID_OP_LINEAR_ACT, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
