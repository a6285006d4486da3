/*
 * The case tests of linear: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cases.h"
#include "tests/support/gradients.h"
#include "tests/support/product_properties.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"the passes are adjoint", passes_are_adjoint},
    {"outputs are linear in data and weights", outputs_are_linear},
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"NaN in blanked samples reaches nothing, they give 0", blanked_samples_do_not_leak},
    {"active samples equal a batch of their own", active_samples_alone},
    {"a batch equals its parts", batch_splits},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

static void gradients(suite *s) {
    check_all_gradients(s, "linear_fwd:f64:n2:b3:c5,3:k2,4:bias1");
    if (!s->whole) return;
    check_all_gradients(s, "linear_fwd:f64:n1:b1:c1:k1");
    check_all_gradients(s, "linear_fwd:f64:n3:b9:c7,1,16:k3,5,9:bias1:mask1");
    check_all_gradients(s, "linear_fwd:f64:n9:b2:c2:k3:cp4:kp5");
}

int main(int argc, char **argv) {
    return cases_main(argc, argv, &(op_tests){.op = BRAID_OP_LINEAR, .properties = properties, .gradients = gradients});
}
