/*
 * The case tests of mse: see tests/support/cases.h. The known answers are small enough to be done by hand.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "tests/support/cases.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

/* ---- Known answers ------------------------------------------------------------------------- */

static const double x[] = {1, 2, 3, -4, 0, 0.5}, t[] = {1, 0, 5, 4, -1, 0};

static void set(known *k) {
    known_set(k, MSE_X, x, 6);
    known_set(k, MSE_T, t, 6);
}

/* 0 + 4 + 4 + 64 + 1 + 0.25 = 73.25, over 6. */
static void six(known *k) {
    static const double loss[] = {73.25 / 6};
    set(k);
    if (known_run(k)) known_expect(k, MSE_LOSS, loss, 1, 1e-6);
}

/* dloss 3: the factor is 2 * 3 / 6 = 1. */
static void six_gradient(known *k) {
    static const double dloss[] = {3}, dx[] = {0, 2, -2, -8, 1, 0.5};
    set(k);
    known_set(k, MSE_LOSS, dloss, 1);
    if (known_run(k)) known_expect(k, MSE_DX, dx, 6, 0);
}

/* 4,097 squares of 3 and one of 1e4 + 1 against 1: in f32 sums the small ones would lose digits. */
static void large_and_small(known *k) {
    const double loss[] = {(4097 * 9 + 1e8) / 4098};
    rig_set_all(&k->rig, MSE_X, 0, 4);
    rig_set_all(&k->rig, MSE_T, 0, 1);
    rig_set(&k->rig, MSE_X, 0, 17, 10001);
    if (known_run(k)) known_expect(k, MSE_LOSS, loss, 1, loss[0] * 0x1p-24);
}

static void empty(known *k) {
    static const double loss[] = {0};
    if (known_run(k)) known_expect(k, MSE_LOSS, loss, 1, 0);
}

static void sick(known *k) {
    static const double loss[] = {NAN};
    set(k);
    rig_set(&k->rig, MSE_T, 0, 4, NAN);
    if (known_run(k)) known_expect(k, MSE_LOSS, loss, 1, 0);
}

static void scenarios(suite *s) {
    known_each(s, "mse_fwd:f32:b2:c3", six);
    known_each(s, "mse_fwd:bf16:b3:c2:cp4", six);
    known_each(s, "mse_fwd:f16:b1:c6", six);
    known_each(s, "mse_fwd:f64:b6:c1:cp2", six);
    known_each(s, "mse_bwd_data:f32:b2:c3:cp4", six_gradient);
    known_each(s, "mse_bwd_data:bf16:b3:c2", six_gradient);
    known_each(s, "mse_bwd_data:f64:b1:c6", six_gradient);
    known_each(s, "mse_fwd:f32:b2:c2049", large_and_small);
    known_each(s, "mse_fwd:f32:b0:c5", empty);
    known_each(s, "mse_fwd:f32:b2:c3", sick);
}

static void gradients(suite *s) {
    static const int slots[3] = {MSE_X, MSE_LOSS, MSE_DX};
    known_gradient(s, "mse_fwd:f64:b4:c7", slots, NULL);
    known_gradient(s, "mse_fwd:f64:b3:c5:cp8", slots, NULL);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){.op = BRAID_OP_MSE, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
