/*
 * Properties and known answers of the optimisers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/update_tests.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

/* ---- Properties ---------------------------------------------------------------------------- */

static const int states[] = {UPDATE_W, UPDATE_M, UPDATE_V};

static int same_plane(const rig *a, const rig *b, int slot) {
    return memcmp(rig_plane(a, slot, 0), rig_plane(b, slot, 0), a->layout.plane_bytes[slot][0]) == 0;
}

static int64_t group_of(const rig *r, int64_t index) {
    int64_t group = 0;
    const int64_t *segments = rig_plane(r, UPDATE_SEGMENTS, 0);
    for (int64_t j = 0; j < r->problem.segments && segments[2 * j] <= index; j++) group = segments[2 * j + 1];
    return group;
}

/* The copy is w, rounded once. */
static outcome check_half(trial *t, const rig *r) {
    for (int64_t j = 0; rig_planes(r, UPDATE_HALF) && j < rig_elements(r, UPDATE_HALF, 0); j++) {
        double rounded[1];
        dtype_store(rounded, r->problem.dtype, 0, rig_get(r, UPDATE_W, 0, j));
        if (dtype_load(rounded, r->problem.dtype, 0) != rig_get(r, UPDATE_HALF, 0, j))
            return broken(t, "half[%lld] is not w, rounded", (long long)j);
    }
    return HELD;
}

/* Two rigs of the trial, filled alike. */
static outcome make_two(trial *t, rig *a, rig *b) {
    *a = *b = (rig){0};
    if (rig_create(a, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed)) return could_not_run(t);
    if (rig_create(b, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed)) return could_not_run(t);
    return HELD;
}

static outcome finish(rig *a, rig *b, outcome found) {
    rig_destroy(a);
    rig_destroy(b);
    return found;
}

outcome same_bits_everywhere(trial *t, int of_reference) {
    rig a = {0}, b = {0};
    const kernel *other = NULL, *able;
    for (int j = 0; (able = able_kernel(t->problem, t->device, j)) != NULL; j++) {
        if ((able->backend == KERNEL_REF) == of_reference && !able->vendor) other = able;
    }
    if (!other || other == t->kernel || t->kernel->vendor || t->kernel->backend != KERNEL_CPU) return NOT_HERE;
    outcome found = HELD;
    if (rig_create(&a, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed) || rig_run(&a) ||
        rig_create(&b, t->problem, t->device, other, IMAGE_REAL, t->seed) || rig_run(&b))
        found = could_not_run(t);
    for (int slot = 0; found == HELD && slot < op_operand_count(op_of(t->problem)); slot++) {
        if (op_is_output(op_role(t->problem, slot)) && !same_plane(&a, &b, slot))
            found = broken(t, "other bits in %s than %s", op_operand_name(t->problem, slot), other->name);
    }
    return finish(&a, &b, found);
}

static outcome bits_of_reference(trial *t) { return same_bits_everywhere(t, 1); }

static outcome skips_whole_update(trial *t) {
    static const double scales[] = {NAN, INFINITY, -INFINITY};
    rig before, after;
    outcome found = make_two(t, &before, &after);
    if (found == HELD) rig_set(&after, UPDATE_SCALE, 0, 0, scales[t->seed % 3]);
    if (found == HELD && rig_run(&after)) found = could_not_run(t);
    for (int j = 0; found == HELD && j < 3; j++) {
        if (rig_planes(&after, states[j]) && !same_plane(&before, &after, states[j]))
            found = broken(t, "changed %s", op_operand_name(t->problem, states[j]));
    }
    if (found == HELD) found = check_half(t, &after);
    return finish(&before, &after, found);
}

/* One more group frozen: its elements stay, all others are as in a run without it. */
static outcome freezes_one_group(trial *t) {
    rig live, frozen, before = {0};
    int64_t cold = (int64_t)(t->seed % (uint64_t)t->problem->groups);
    outcome found = make_two(t, &live, &frozen);
    if (found == HELD && rig_create(&before, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed))
        found = could_not_run(t);
    if (found == HELD) rig_set(&frozen, UPDATE_HYPER, 0, 3 * cold + 2, 0);
    if (found == HELD && (rig_run(&live) || rig_run(&frozen))) found = could_not_run(t);
    for (int j = 0; found == HELD && j < 3; j++) {
        for (int64_t i = 0; rig_planes(&live, states[j]) && i < t->problem->in_channels[0]; i++) {
            const rig *expected = group_of(&live, i) == cold ? &before : &live;
            if (rig_get(&frozen, states[j], 0, i) != rig_get(expected, states[j], 0, i))
                found =
                    broken(t, "%s[%lld] of group %lld, group %lld is frozen", op_operand_name(t->problem, states[j]),
                           (long long)i, (long long)group_of(&live, i), (long long)cold);
        }
    }
    if (found == HELD) found = check_half(t, &frozen);
    rig_destroy(&before);
    return finish(&live, &frozen, found);
}

/* Where all groups ask for the same, the segments leave no trace. */
static outcome segments_leave_no_trace(trial *t) {
    rig many, one;
    outcome found = make_two(t, &many, &one);
    for (int64_t j = 3; found == HELD && j < 3 * t->problem->groups; j++) {
        rig_set(&many, UPDATE_HYPER, 0, j, rig_get(&many, UPDATE_HYPER, 0, j % 3));
        rig_set(&one, UPDATE_HYPER, 0, j, rig_get(&one, UPDATE_HYPER, 0, j % 3));
    }
    for (int64_t j = 1; found == HELD && j < t->problem->segments; j++)
        rig_set(&one, UPDATE_SEGMENTS, 0, 2 * j, (double)t->problem->in_channels[0]);
    if (found == HELD && (rig_run(&many) || rig_run(&one))) found = could_not_run(t);
    for (int j = 0; found == HELD && j < 3; j++) {
        if (rig_planes(&many, states[j]) && !same_plane(&many, &one, states[j]))
            found = broken(t, "other bits in %s", op_operand_name(t->problem, states[j]));
    }
    return finish(&many, &one, found);
}

static outcome rate_zero_keeps_w(trial *t) {
    rig before, after;
    outcome found = make_two(t, &before, &after);
    for (int64_t j = 0; found == HELD && j < t->problem->groups; j++) {
        rig_set(&after, UPDATE_HYPER, 0, 3 * j, 0);
        rig_set(&after, UPDATE_HYPER, 0, 3 * j + 2, 1);
    }
    if (found == HELD && rig_run(&after)) found = could_not_run(t);
    if (found == HELD && !same_plane(&before, &after, UPDATE_W)) found = broken(t, "changed w");
    if (found == HELD && rig_planes(&after, UPDATE_V) && t->problem->alpha < 1 && same_plane(&before, &after, UPDATE_V))
        found = broken(t, "left v as it was");
    return finish(&before, &after, found);
}

const property update_properties[] = {
    {"the bits of the reference in f32", bits_of_reference},
    {"a scale that is not finite skips the update", skips_whole_update},
    {"a frozen group does not change, nor do others by it", freezes_one_group},
    {"segments of equal groups leave no trace", segments_leave_no_trace},
    {"a learning rate of 0 changes the state alone", rate_zero_keeps_w},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

/* ---- Known answers -------------------------------------------------------------------------- */

static const ten_steps *answer; /* of the play that is on */

static void begin(known *k) {
    static const double segments[] = {0, 0, 3, 1, 5, 2, 5, 2, 6, 0, 8, 2};
    static const double hyper[] = {0.1, 0.01, 1, 0.03125, 0, 1, 0.5, 0.5, 0}, scale[] = {0.3};
    known_set(k, UPDATE_SEGMENTS, segments, 12);
    known_set(k, UPDATE_HYPER, hyper, 9);
    known_set(k, UPDATE_SCALE, scale, 1);
    for (int i = 0; i < TEN_STEPS_ELEMENTS; i++) {
        rig_set(&k->rig, UPDATE_W, 0, i, (double)(3 * i % 7 - 3) / 4);
        if (rig_planes(&k->rig, UPDATE_M)) rig_set(&k->rig, UPDATE_M, 0, i, 0);
        if (rig_planes(&k->rig, UPDATE_V)) rig_set(&k->rig, UPDATE_V, 0, i, 0);
    }
}

/* Takes the step of number t, which the op is told is number `told`. */
static int take_step(known *k, int t, int told) {
    for (int i = 0; i < TEN_STEPS_ELEMENTS; i++)
        rig_set(&k->rig, UPDATE_G, 0, i, (double)((7 * i + 5 * t) % 11 - 5) / 8);
    rig_set(&k->rig, UPDATE_STEP, 0, 0, told);
    return known_run(k);
}

/* The answers of f32 are written with as many digits as tell floats apart. */
static void expect_answer(known *k, int slot, const double *values) {
    int is_f64 = k->rig.problem.dtype == BRAID_DTYPE_F64;
    double expected[TEN_STEPS_ELEMENTS];
    for (int i = 0; i < TEN_STEPS_ELEMENTS; i++) expected[i] = is_f64 ? values[i] : (double)(float)values[i];
    if (rig_planes(&k->rig, slot)) known_expect(k, slot, expected, TEN_STEPS_ELEMENTS, is_f64 ? 1e-14 : 0);
}

static void play_ten_steps(known *k) {
    begin(k);
    for (int t = 1; t <= 10; t++) {
        if (!take_step(k, t, t)) return;
    }
    expect_answer(k, UPDATE_W, answer->w);
    expect_answer(k, UPDATE_M, answer->m);
    expect_answer(k, UPDATE_V, answer->v);
}

void update_ten_steps(suite *s, const char *op, const char *options, const ten_steps *f32, const ten_steps *f64) {
    static const char *const dtypes[] = {"f32", "bf16", "f16", "f64"};
    for (int j = 0; j < 4; j++) {
        char text[128];
        snprintf(text, sizeof text, "%s:%s:c9:g3:seg6%s", op, dtypes[j], options);
        answer = j < 3 ? f32 : f64;
        known_each(s, text, play_ten_steps);
    }
}

/* ---- Situations ----------------------------------------------------------------------------- */

static void play_step_zero(known *k) {
    double first[TEN_STEPS_ELEMENTS];
    begin(k);
    if (!take_step(k, 1, 1)) return;
    for (int i = 0; i < TEN_STEPS_ELEMENTS; i++) first[i] = rig_get(&k->rig, UPDATE_W, 0, i);
    begin(k);
    if (take_step(k, 1, 0)) known_expect(k, UPDATE_W, first, TEN_STEPS_ELEMENTS, 0);
}

/* Runs a table of two segments on an arena of four through the public interface. */
static void expect_refused(suite *s, const char *op, const int64_t table[4], const char *words) {
    static float floats[8][8];
    static int64_t step = 1;
    static const char *const names[] = {"w", "g", "m", "v", "hyper", "scale"};
    braid_context *context = NULL;
    braid_op *made = NULL;
    braid_problem p;
    braid_operand operands[8] = {{"segments", {(void *)(uintptr_t)table}}, {"step", {&step}}};
    char text[64];
    int count = 2;
    snprintf(text, sizeof text, "%s:f32:c4:g2:seg2", op);
    braid_status status = braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &context);
    if (!status) status = braid_problem_parse(text, &p);
    if (!status) status = braid_op_create(context, &p, &made);
    if (!status) status = braid_op_plan(made, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE});
    suite_expect(s, status == BRAID_OK, "%s: %s", text, braid_message());
    for (int j = 0; !status && j < 6; j++) {
        int slot = j < 4 ? j : j == 4 ? UPDATE_HYPER : UPDATE_SCALE;
        if (op_of(&p)->planes(&p, slot)) operands[count++] = (braid_operand){names[j], {floats[j]}};
    }
    floats[0][0] = 3;
    if (!status) status = braid_op_run(made, operands, count);
    suite_expect(s, status == (words ? BRAID_ERROR_ARGUMENT : BRAID_OK) && (!words || strstr(braid_message(), words)),
                 "%s: expected \"%s\", got status %d: %s", text, words ? words : "no refusal", (int)status,
                 braid_message());
    suite_expect(s, floats[0][0] == 3, "%s: changed w", text);
    braid_op_destroy(made);
    braid_context_destroy(context);
}

void update_situations(suite *s, const char *op) {
    static const int64_t good[] = {0, 1, 4, 0}, late[] = {1, 0, 2, 0}, outside[] = {0, 0, 5, 0}, group[] = {0, 0, 2, 2},
                         negative[] = {0, -1, 2, 0}, unsorted[] = {0, 0, -1, 0};
    char text[64];
    snprintf(text, sizeof text, "%s:f32:c9:g3:seg6", op);
    known_each(s, text, play_step_zero);
    expect_refused(s, op, good, NULL);
    expect_refused(s, op, late, "segment 0 to begin from 0 to 0");
    expect_refused(s, op, outside, "segment 1 to begin from 0 to 4, got 5");
    expect_refused(s, op, unsorted, "segment 1 to begin from 0 to 4, got -1");
    expect_refused(s, op, group, "group of segment 1 from 0 to 1, got 2");
    expect_refused(s, op, negative, "group of segment 0 from 0 to 1, got -1");
}
