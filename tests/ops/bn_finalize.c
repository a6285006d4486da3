/*
 * The case tests of bn_finalize: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "tests/support/bn_chain.h"
#include "tests/support/cases.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"NaN in blanked samples reaches nothing, they give 0", blanked_samples_do_not_leak},
    {"active samples equal a batch of their own", active_samples_alone},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

/* The same where a mask leaves one sample of one pixel: found before anything is written. */
static void refuses_single_active_sample(suite *s) {
    static float values[10][4];
    static int64_t batches = 5;
    static uint32_t mask = 6; /* of three samples the first is active */
    braid_context *context = NULL;
    braid_op *op = NULL;
    braid_problem p = {
        .op = BRAID_OP_BN_FINALIZE, .streams = 1, .batch = 3, .size = {1, 1}, .in_channels = {4}, .mask = 1};
    braid_operand operands[] = {{"mean", {values[0]}},        {"var", {values[1]}},    {"mask", {&mask}},
                                {"gamma", {values[2]}},       {"beta", {values[3]}},   {"running_mean", {values[4]}},
                                {"running_var", {values[5]}}, {"batches", {&batches}}, {"scale", {values[6]}},
                                {"shift", {values[7]}},       {"center", {values[8]}}, {"rstd", {values[9]}}};
    braid_status status = braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &context);
    if (!status) status = braid_op_create(context, &p, &op);
    if (!status) status = braid_op_plan(op, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE});
    suite_expect(s, status == BRAID_OK, "one active sample: %s", braid_message());
    if (!status) status = braid_op_run(op, operands, 12);
    suite_expect(s, status == BRAID_ERROR_ARGUMENT && strstr(braid_message(), "stream 0") && batches == 5,
                 "one active sample of one pixel: expected a refusal that names the stream, got status %d",
                 (int)status);
    braid_op_destroy(op);
    braid_context_destroy(context);
}

static void scenarios(suite *s) {
    bn_scenarios(s);
    bn_refuses_single_value(s);
    refuses_single_active_sample(s);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){
            .op = BRAID_OP_BN_FINALIZE, .properties = properties, .scenarios = scenarios, .gradients = bn_gradients});
}
