/*
 * The case tests of li_conv2d: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cases.h"
#include "tests/support/fused_gradients.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

/* Of several streams: with one, the integrated planes count as its own, and they have no mask. */
static outcome blanked_streams_do_not_leak(trial *t) {
    return t->problem->streams < 2 ? NOT_HERE : blanked_samples_do_not_leak(t);
}

static const property properties[] = {
    {"NaN in blanked samples reaches nothing, they give 0", blanked_streams_do_not_leak},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

static void gradients(suite *s) {
    static const fused_gradients raw = {
        .outputs = {{LI_CONV2D_R, LI_CONV2D_DY}, {LI_CONV2D_ZY, LI_CONV2D_ZY}},
        .inputs = {{LI_CONV2D_X, BRAID_PASS_BWD_DATA, LI_CONV2D_X},
                   {LI_CONV2D_Z, BRAID_PASS_BWD_DATA, LI_CONV2D_Z},
                   {LI_CONV2D_W, BRAID_PASS_BWD_WEIGHT, LI_CONV2D_W},
                   {LI_CONV2D_V, BRAID_PASS_BWD_WEIGHT, LI_CONV2D_DV},
                   {LI_CONV2D_WZ, BRAID_PASS_BWD_WEIGHT, LI_CONV2D_WZ}},
    };
    static const fused_gradients biased = {
        .outputs = {{LI_CONV2D_Y, LI_CONV2D_DY}, {LI_CONV2D_ZY, LI_CONV2D_ZY}},
        .inputs = {{LI_CONV2D_X, BRAID_PASS_BWD_DATA, LI_CONV2D_X},
                   {LI_CONV2D_Z, BRAID_PASS_BWD_DATA, LI_CONV2D_Z},
                   {LI_CONV2D_W, BRAID_PASS_BWD_WEIGHT, LI_CONV2D_W},
                   {LI_CONV2D_BIAS, BRAID_PASS_BWD_WEIGHT, LI_CONV2D_BIAS},
                   {LI_CONV2D_V, BRAID_PASS_BWD_WEIGHT, LI_CONV2D_DV},
                   {LI_CONV2D_WZ, BRAID_PASS_BWD_WEIGHT, LI_CONV2D_WZ},
                   {LI_CONV2D_ZBIAS, BRAID_PASS_BWD_WEIGHT, LI_CONV2D_ZBIAS}},
    };
    check_fused_gradients(s, "li_conv2d_fwd:f64:n2:b2:hw4x5:c2,3:k3,2:rs3x3:pad1:zi2:zo3", &raw);
    check_fused_gradients(s, "li_conv2d_fwd:f64:n2:b2:hw5x4:c2,1:k2,3:rs3x3:st2:pad1:mask1:zi2:zo2", &raw);
    check_fused_gradients(s, "li_conv2d_fwd:f64:n2:b2:hw5x5:c2,4:k2,4:g2:rs3x3:st2:pad1:bias1:mask1:zi3:zo2", &biased);
    check_fused_gradients(s, "li_conv2d_fwd:f64:n3:b1:hw6x6:c3,1,1:k2:rs5x5:st2:pad2:zo2", &raw);
}

/* The mix reads the integrated input with the stride: a padding that gives the streams another size is refused. */
static void scenarios(suite *s) {
    known_refused(s, "li_conv2d_fwd:f32:n2:b1:hw8x8:c4:k4:rs3x3:zi4:zo4", "expected pad (padding) that gives");
    known_refused(s, "li_conv2d_fwd:f32:n2:b1:hw8x8:c4:k4:rs3x1:pad1:zi4:zo4", "expected pad (padding) that gives");
    known_refused(s, "li_conv2d_bwd_data:f32:n2:b1:hw8x8:c4:k4:rs3x3:st2:pad2:zi4:zo4", "expected pad (padding) that");
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){
            .op = BRAID_OP_LI_CONV2D, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
