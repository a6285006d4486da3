/*
 * The case tests of act: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "tests/support/cases.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

/* ---- Known answers ------------------------------------------------------------------------- */

/* NaN and -0.0 are kept. */
static void relu(known *k) {
    static const double x[] = {-1, -0.0, 0, 2, NAN, INFINITY, -INFINITY, 0x1p-149, -0x1p-149, 0x1p127, -0x1p127, -2};
    static const double y[] = {0, -0.0, 0, 2, NAN, INFINITY, 0, 0x1p-149, 0, 0x1p127, 0, 0};
    known_set(k, ACT_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, ACT_Y, y, COUNT(y), 0);
}

/* No gradient at 0 and -0.0, whatever dy holds; a NaN hands it on. */
static void relu_gradient(known *k) {
    static const double x[] = {-1, -0.0, 0, 2, NAN, INFINITY, -INFINITY, 0x1p-149, -3, -4, 5, 0};
    static const double dy[] = {7, 7, 7, 7, 7, 7, 7, 7, INFINITY, NAN, INFINITY, NAN};
    static const double dx[] = {0, 0, 0, 7, 7, 7, 0, 7, 0, 0, INFINITY, 0};
    known_set(k, ACT_X, x, COUNT(x));
    known_set(k, ACT_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, ACT_DX, dx, COUNT(dx), 0);
}

static const double gelu_x[] = {0, 1, -1, 2, -2, 0.5, -10, 10, 0x1p100, -0x1p100, INFINITY, -INFINITY, NAN};

static void gelu(known *k) {
    static const double y[] = {0,
                               0.84134474607,
                               -0.15865525393,
                               1.95449973610,
                               -0.04550026390,
                               0.34573123064,
                               0,
                               10,
                               0x1p100,
                               0,
                               INFINITY,
                               NAN,
                               NAN};
    known_set(k, ACT_X, gelu_x, COUNT(gelu_x));
    if (known_run(k)) known_expect(k, ACT_Y, y, COUNT(y), 1e-6);
}

static void gelu_tanh(known *k) {
    static const double y[] = {0,
                               0.84119199061,
                               -0.15880800939,
                               1.95459769409,
                               -0.04540230591,
                               0.34571400982,
                               0,
                               10,
                               0x1p100,
                               0,
                               INFINITY,
                               NAN,
                               NAN};
    known_set(k, ACT_X, gelu_x, COUNT(gelu_x));
    if (known_run(k)) known_expect(k, ACT_Y, y, COUNT(y), 1e-6);
}

/* Far away the slope is 0 or 1; at infinity infinity times 0 remains, as in the equation. */
static void gelu_gradient(known *k) {
    static const double dy[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const double dx[] = {
        0.5, 1.08331547059, -0.08331547059, 1.08523180, -0.08523180, 0.86749493, 0, 1, 1, 0, NAN, NAN, NAN};
    known_set(k, ACT_X, gelu_x, COUNT(gelu_x));
    known_set(k, ACT_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, ACT_DX, dx, COUNT(dx), 1e-6);
}

static void gelu_tanh_gradient(known *k) {
    static const double dy[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const double dx[] = {0.5, 1.08296408, -0.08296408, 1.08609923, -0.08609923, 0.86737064, 0,
                                1,   1,          0,           NAN,        NAN,         NAN};
    known_set(k, ACT_X, gelu_x, COUNT(gelu_x));
    known_set(k, ACT_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, ACT_DX, dx, COUNT(dx), 1e-6);
}

/* Far below 0, where 1 - tanh^2 has lost all digits in double; from 60 digits of decimal arithmetic. */
static void gelu_tanh_gradient_far_away(known *k) {
    static const double x[] = {-9, -8.5, -7, -3, 9, 3};
    static const double dy[] = {1e27, 1e23, 1e14, 1, 1, 1};
    static const double dx[] = {
        -2.51573528506742506568, -1.72398668677380581529, -2.76511735070660205737, -1.15841666309697260e-02, 1.0,
        1.01158416663096972776};
    known_set(k, ACT_X, x, COUNT(x));
    known_set(k, ACT_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, ACT_DX, dx, COUNT(dx), 1e-12);
}

static void scenarios(suite *s) {
    known_each(s, "act_fwd:f32:b1:hw1x12:c1:act=relu", relu);
    known_each(s, "act_fwd:f32:b1:hw1x2:c6:cp8:act=relu", relu);
    known_each(s, "act_fwd:f64:b1:hw3x4:c1:act=relu", relu);
    known_each(s, "act_bwd_data:f32:b1:hw1x12:c1:act=relu", relu_gradient);
    known_each(s, "act_bwd_data:f32:b1:hw1x2:c6:cp8:act=relu", relu_gradient);
    known_each(s, "act_fwd:f32:b1:hw1x13:c1:act=gelu", gelu);
    known_each(s, "act_fwd:f32:b1:hw1x1:c13:cp20:act=gelu_tanh", gelu_tanh);
    known_each(s, "act_bwd_data:f32:b1:hw1x13:c1:act=gelu", gelu_gradient);
    known_each(s, "act_bwd_data:f32:b1:hw1x13:c1:act=gelu_tanh", gelu_tanh_gradient);
    known_each(s, "act_bwd_data:f64:b1:hw1x6:c1:act=gelu_tanh", gelu_tanh_gradient_far_away);
}

/* ---- Gradients ----------------------------------------------------------------------------- */

/* ReLU has no derivative at 0. */
static void away_from_zero(rig *r) {
    for (int i = 0; i < r->problem.streams; i++) {
        for (int64_t j = 0; j < rig_elements(r, ACT_X, i); j++) {
            double x = rig_get(r, ACT_X, i, j);
            if (fabs(x) < 1e-3) rig_set(r, ACT_X, i, j, x + 0.5);
        }
    }
}

static void gradients(suite *s) {
    static const int slots[3] = {ACT_X, ACT_Y, ACT_DX};
    known_gradient(s, "act_fwd:f64:n2:b2:hw3x4:c5,3:act=relu", slots, away_from_zero);
    known_gradient(s, "act_fwd:f64:n2:b2:hw3x4:c5,3:act=gelu", slots, NULL);
    known_gradient(s, "act_fwd:f64:n2:b2:hw3x4:c5,3:act=gelu_tanh:cp8,4", slots, NULL);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){.op = BRAID_OP_ACT, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
