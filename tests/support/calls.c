/*
 * Calls of ops through the public interface.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "tests/support/calls.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "core/rng.h"

static void succeed(const call *c, braid_status status) {
    char text[BRAID_PROBLEM_TEXT] = "";
    if (status == BRAID_OK) return;
    if (c->op && braid_problem_print(braid_op_problem(c->op), text, sizeof text) != BRAID_OK) text[0] = '\0';
    fail_msg("%s: %s", text, braid_message());
}

call call_open(braid_context *context, const char *format, ...) {
    static const braid_plan_options estimate = {.effort = BRAID_EFFORT_ESTIMATE};
    char text[BRAID_PROBLEM_TEXT];
    call c = {.context = context};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    c.op = given_op(context, text);
    c.memory = given_operands(context, c.op);
    succeed(&c, braid_op_plan(c.op, &estimate));
    const braid_race *r = braid_op_explain(c.op);
    for (int j = 0; j < r->count; j++) {
        if (r->candidates[j].reason) continue;
        assert_true(c.kernel_count < CALL_MAX_KERNELS);
        c.kernels[c.kernel_count++] = r->candidates[j].kernel;
    }
    assert_true(c.kernel_count > 0);
    return c;
}

void call_close(call *c) {
    given_operands_destroy(&c->memory);
    braid_op_destroy(c->op);
    *c = (call){0};
}

/* ---- Values -------------------------------------------------------------------------------- */

static braid_operand_info info_of(const call *c, const char *name) {
    braid_operand_info info = {0};
    for (int j = 0; j < c->memory.count; j++) {
        if (strcmp(c->memory.operands[j].name, name) == 0) succeed(c, braid_op_operand(c->op, j, &info));
    }
    if (!info.name) fail_msg("no operand %s", name);
    return info;
}

static int64_t count_of(const braid_operand_info *info, int i) {
    return (int64_t)(info->bytes[i] / dtype_bytes(info->dtype));
}

int64_t call_count(const call *c, const char *name, int i) {
    braid_operand_info info = info_of(c, name);
    return count_of(&info, i);
}

double call_get(call *c, const char *name, int i, int64_t index) {
    return dtype_load(given_operand(&c->memory, name)->plane[i], info_of(c, name).dtype, index);
}

void call_set(call *c, const char *name, int i, int64_t index, double value) {
    dtype_store(given_operand(&c->memory, name)->plane[i], info_of(c, name).dtype, index, value);
}

void call_set_all(call *c, const char *name, double value) {
    braid_operand_info info = info_of(c, name);
    for (int i = 0; i < info.planes; i++) {
        for (int64_t j = 0; j < count_of(&info, i); j++) call_set(c, name, i, j, value);
    }
}

void call_fill(call *c, const char *name, uint64_t seed) {
    braid_operand_info info = info_of(c, name);
    rng r = {.seed = seed};
    for (int i = 0; i < info.planes; i++) {
        for (int64_t j = 0; j < count_of(&info, i); j++) call_set(c, name, i, j, 2 * rng_uniform(&r) - 1);
    }
}

void call_copy(call *to, const char *name, call *from, const char *from_name) {
    braid_operand_info info = info_of(to, name), source = info_of(from, from_name);
    assert_int_equal(info.planes, source.planes);
    for (int i = 0; i < info.planes; i++) {
        assert_int_equal(info.bytes[i], source.bytes[i]);
        memcpy(given_operand(&to->memory, name)->plane[i], given_operand(&from->memory, from_name)->plane[i],
               info.bytes[i]);
    }
}

void call_blank(call *c, int i, int64_t b) {
    uint32_t *words = given_operand(&c->memory, "mask")->plane[i];
    words[b / 32] |= UINT32_C(1) << (b % 32);
}

/* ---- Running ------------------------------------------------------------------------------- */

void call_run(call *c, const char *kernel) {
    const braid_plan_options options = {.effort = BRAID_EFFORT_ESTIMATE, .kernel = kernel};
    succeed(c, braid_op_plan(c->op, &options));
    for (int j = 0; j < c->memory.count; j++) {
        braid_operand_info info;
        succeed(c, braid_op_operand(c->op, j, &info));
        for (int i = 0; info.role == BRAID_ROLE_OUT && i < info.planes; i++)
            memset(c->memory.operands[j].plane[i], 0xff, info.bytes[i]);
    }
    succeed(c, braid_op_run(c->op, c->memory.operands, c->memory.count));
}

void assert_near(call *got, const char *kernel, const char *name, int i, const double *want, double share) {
    double largest = 0;
    int64_t count = call_count(got, name, i);
    for (int64_t j = 0; j < count; j++) largest = fmax(largest, fabs(want[j]));
    for (int64_t j = 0; j < count; j++) {
        double value = call_get(got, name, i, j);
        if (fabs(value - want[j]) <= share * largest) continue;
        char text[BRAID_PROBLEM_TEXT] = "";
        succeed(got, braid_problem_print(braid_op_problem(got->op), text, sizeof text));
        fail_msg("%s %s: %s of stream %d, element %lld: expected %.9g within %g, got %.9g", text,
                 kernel ? kernel : "chosen", name, i, (long long)j, want[j], share * largest, value);
    }
}
