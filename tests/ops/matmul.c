/*
 * The case tests of matmul: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "tests/support/cases.h"
#include "tests/support/gradients.h"
#include "tests/support/known.h"
#include "tests/support/product_properties.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"the passes are adjoint", passes_are_adjoint},
    {"outputs are linear in both matrices", outputs_are_linear},
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"a batch equals its parts", batch_splits},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

/* ---- Known answers ------------------------------------------------------------------------- */

static const double x[] = {1, 2, 3, 4, 5, 6}, w[] = {1, 0, 2, -1, 3, 1}, w_turned[] = {1, 2, 3, 0, -1, 1};
static const double y[] = {14, 1, 32, 1}, dy[] = {1, -1, 2, 1}, dx[] = {1, 3, 2, 2, 3, 7};
static const double dw[] = {9, 3, 12, 3, 15, 3}, dw_turned[] = {9, 12, 15, 3, 3, 3};

static void set_w(known *k) { known_set(k, MATMUL_W, k->rig.problem.transpose ? w_turned : w, COUNT(w)); }

static void product(known *k) {
    known_set(k, MATMUL_X, x, COUNT(x));
    set_w(k);
    if (known_run(k)) known_expect(k, MATMUL_Y, y, COUNT(y), 0);
}

static void gradient_of_x(known *k) {
    known_set(k, MATMUL_Y, dy, COUNT(dy));
    set_w(k);
    if (known_run(k)) known_expect(k, MATMUL_X, dx, COUNT(dx), 0);
}

static void gradient_of_w(known *k) {
    known_set(k, MATMUL_X, x, COUNT(x));
    known_set(k, MATMUL_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, MATMUL_W, k->rig.problem.transpose ? dw_turned : dw, COUNT(dw), 0);
}

/* NaN reaches its row; infinity times 0 is NaN. */
static void sick(known *k) {
    static const double sick_x[] = {NAN, 1, 1, INFINITY, 1, 1}, sick_y[] = {NAN, NAN, INFINITY, NAN};
    known_set(k, MATMUL_X, sick_x, COUNT(sick_x));
    set_w(k);
    if (known_run(k)) known_expect(k, MATMUL_Y, sick_y, COUNT(sick_y), 0);
}

static void scenarios(suite *s) {
    known_each(s, "matmul_fwd:f32:b2:c3:k2:trans0", product);
    known_each(s, "matmul_fwd:f32:b2:c3:k2:trans1:cp4:kp5", product);
    known_each(s, "matmul_fwd:bf16:b2:c3:k2:trans0:cp4:kp5", product);
    known_each(s, "matmul_fwd:f16:b2:c3:k2:trans1", product);
    known_each(s, "matmul_bwd_data:f32:b2:c3:k2:trans0:cp4:kp5", gradient_of_x);
    known_each(s, "matmul_bwd_data:f32:b2:c3:k2:trans1", gradient_of_x);
    known_each(s, "matmul_bwd_data:bf16:b2:c3:k2:trans1", gradient_of_x);
    known_each(s, "matmul_bwd_weight:f32:b2:c3:k2:trans0", gradient_of_w);
    known_each(s, "matmul_bwd_weight:f32:b2:c3:k2:trans1:cp4:kp5", gradient_of_w);
    known_each(s, "matmul_bwd_weight:bf16:b2:c3:k2:trans0", gradient_of_w);
    known_each(s, "matmul_fwd:f32:b2:c3:k2:trans0", sick);
    known_each(s, "matmul_fwd:f32:b2:c3:k2:trans1", sick);
    known_refused(s, "matmul_fwd:f32:b2:c3:k2:trans2", "trans");
    known_refused(s, "matmul_fwd:f32:b2:c3:k2:bias1", "bias");
}

/* ---- Gradients ----------------------------------------------------------------------------- */

static void gradients(suite *s) {
    check_all_gradients(s, "matmul_fwd:f64:n2:b3:c5,3:k2,4:trans0");
    check_all_gradients(s, "matmul_fwd:f64:n2:b3:c5,3:k2,4:trans1:cp8:kp5");
    if (!s->whole) return;
    check_all_gradients(s, "matmul_fwd:f64:n1:b1:c1:k1");
    check_all_gradients(s, "matmul_fwd:f64:n3:b9:c7,1,16:k3,5,9");
    check_all_gradients(s, "matmul_fwd:f64:n9:b2:c2:k3:trans1:cp4:kp5");
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){.op = BRAID_OP_MATMUL, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
