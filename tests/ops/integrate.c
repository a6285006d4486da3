/*
 * The case tests of integrate: see tests/support/cases.h. Streams meet in y and z belongs to none of them,
 * so the properties of independent streams hold for the gradients alone, and those of masks for r and dr.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "tests/support/cases.h"
#include "tests/support/gradients.h"
#include "tests/support/product_properties.h"
#include "tests/support/rig.h"
#include "tests/support/stream_properties.h"

static int is_forward(const trial *t) { return t->problem->pass == BRAID_PASS_FWD; }

static outcome gradients_permute(trial *t) { return is_forward(t) ? NOT_HERE : streams_permute(t); }

static outcome gradients_do_not_leak(trial *t) { return is_forward(t) ? NOT_HERE : streams_do_not_leak(t); }

/* Weight gradients are split by the work of all streams. */
static outcome data_gradients_stand_alone(trial *t) {
    return t->problem->pass == BRAID_PASS_BWD_DATA ? streams_stand_alone(t) : NOT_HERE;
}

/* dw and dbias sum over all samples, blanked ones too. */
static outcome active_samples(trial *t) {
    int all_masked = t->problem->integrated_in == 0 && !t->problem->bias;
    return t->problem->pass == BRAID_PASS_BWD_WEIGHT && !all_masked ? NOT_HERE : active_samples_alone(t);
}

/* With a it is no linear map of dy. */
static outcome linear_passes_are_adjoint(trial *t) { return t->problem->add ? NOT_HERE : passes_are_adjoint(t); }

/* ---- Blanked samples ----------------------------------------------------------------------- */

/* Sets r of every blanked sample to a value. */
static void set_blanked(rig *r, double value) {
    for (int i = 0; i < r->problem.streams; i++) {
        int64_t sample = rig_elements(r, INTEGRATE_R, i) / r->problem.batch;
        for (int64_t j = 0; j < rig_elements(r, INTEGRATE_R, i); j++) {
            if (mask_blanks(rig_plane(r, INTEGRATE_MASK, i), j / sample)) rig_set(r, INTEGRATE_R, i, j, value);
        }
    }
}

/* True where dr of every blanked sample is plus zero, or its a. */
static int blanked_get_nothing(const rig *r) {
    for (int i = 0; i < r->problem.streams; i++) {
        int64_t sample = rig_elements(r, INTEGRATE_R, i) / r->problem.batch;
        for (int64_t j = 0; j < rig_elements(r, INTEGRATE_R, i); j++) {
            double value = rig_get(r, INTEGRATE_R, i, j), wanted = 0;
            if (rig_planes(r, INTEGRATE_A)) wanted = rig_get(r, INTEGRATE_A, i, j);
            if (!mask_blanks(rig_plane(r, INTEGRATE_MASK, i), j / sample)) continue;
            if (value != wanted || (!rig_planes(r, INTEGRATE_A) && signbit(value))) return 0;
        }
    }
    return 1;
}

/* True where all outputs are equal; zeros of any sign are. */
static int same_outputs(const rig *a, const rig *b) {
    for (int slot = 0; slot < op_operand_count(op_of(&a->problem)); slot++) {
        if (!op_is_output(op_role(&a->problem, slot))) continue;
        for (int i = 0; i < rig_planes(a, slot); i++) {
            for (int64_t j = 0; j < rig_elements(a, slot, i); j++) {
                if (rig_get(a, slot, i, j) != rig_get(b, slot, i, j)) return 0;
            }
        }
    }
    return 1;
}

static int run_pair(trial *t, image_mode mode, rig *a, rig *b) {
    *a = *b = (rig){0};
    return !rig_create(a, t->problem, t->device, t->kernel, mode, t->seed) && !rig_run(a) &&
           !rig_create(b, t->problem, t->device, t->kernel, mode, t->seed);
}

static outcome finish(rig *a, rig *b, outcome found) {
    rig_destroy(a);
    rig_destroy(b);
    return found;
}

/* With add3, dr is what it is without and a, and dz and az. */
static outcome a_is_added(trial *t) {
    static const int pairs[][2] = {{INTEGRATE_R, INTEGRATE_A}, {INTEGRATE_Z, INTEGRATE_AZ}};
    const int add = t->problem->integrated_in > 0 ? INTEGRATE_ADD_R | INTEGRATE_ADD_Z : INTEGRATE_ADD_R;
    return addends_are_added(t, add, pairs, 2);
}

static outcome blanked_do_not_leak(trial *t) {
    rig a, b;
    if (!t->problem->mask || t->problem->batch == 0) return NOT_HERE;
    if (!run_pair(t, IMAGE_REAL, &a, &b)) return finish(&a, &b, could_not_run(t));
    outcome found = HELD;
    if (t->problem->pass == BRAID_PASS_BWD_DATA) {
        if (!blanked_get_nothing(&a)) found = broken(t, "dr of a blanked sample is not 0, or its a");
    } else {
        set_blanked(&b, NAN);
        if (rig_run(&b))
            found = could_not_run(t);
        else if (!same_outputs(&a, &b))
            found = broken(t, "NaN in r of blanked samples changes the outputs");
    }
    return finish(&a, &b, found);
}

/* In y and all weight gradients. */
static outcome blanking_is_zero_r(trial *t) {
    rig a, b;
    if (!t->problem->mask || t->problem->batch == 0 || t->problem->pass == BRAID_PASS_BWD_DATA) return NOT_HERE;
    if (!run_pair(t, IMAGE_EXACT, &a, &b)) return finish(&a, &b, could_not_run(t));
    set_blanked(&b, 0);
    for (int i = 0; i < t->problem->streams; i++)
        memset(rig_plane(&b, INTEGRATE_MASK, i), 0, b.layout.plane_bytes[INTEGRATE_MASK][i]);
    outcome found = HELD;
    if (rig_run(&b))
        found = could_not_run(t);
    else if (!same_outputs(&a, &b))
        found = broken(t, "a blanked stream is not one whose r is 0");
    return finish(&a, &b, found);
}

/* ---- Contributions ------------------------------------------------------------------------- */

/* Leaves one source: stream number `only`, or z and the bias where that is the number of streams. */
static void keep_source(rig *r, int only) {
    int streams = r->problem.streams;
    for (int i = 0; i < streams; i++) {
        if (i != only) rig_set_all(r, INTEGRATE_R, i, 0);
    }
    if (only == streams) return;
    if (r->problem.integrated_in > 0) rig_set_all(r, INTEGRATE_Z, 0, 0);
    if (r->problem.bias) rig_set_all(r, INTEGRATE_BIAS, 0, 0);
}

/* Takes what one source adds away from y of the rig. */
static outcome take_away(trial *t, rig *whole, int only) {
    rig part = {0};
    outcome found = HELD;
    if (rig_create(&part, t->problem, t->device, t->kernel, IMAGE_EXACT, t->seed)) return could_not_run(t);
    keep_source(&part, only);
    if (rig_run(&part)) found = could_not_run(t);
    for (int64_t j = 0; j < rig_elements(whole, INTEGRATE_Y, 0) && found == HELD; j++) {
        rig_set(whole, INTEGRATE_Y, 0, j, rig_get(whole, INTEGRATE_Y, 0, j) - rig_get(&part, INTEGRATE_Y, 0, j));
    }
    rig_destroy(&part);
    return found;
}

static outcome contributions_add_up(trial *t) {
    rig whole = {0};
    int is_wide = t->problem->dtype == BRAID_DTYPE_F32 || t->problem->dtype == BRAID_DTYPE_F64;
    if (!is_forward(t) || !is_wide) return NOT_HERE;
    outcome found = HELD;
    if (rig_create(&whole, t->problem, t->device, t->kernel, IMAGE_EXACT, t->seed) || rig_run(&whole))
        found = could_not_run(t);
    for (int only = 0; only <= t->problem->streams && found == HELD; only++) found = take_away(t, &whole, only);
    for (int64_t j = 0; found == HELD && j < rig_elements(&whole, INTEGRATE_Y, 0); j++) {
        double rest = rig_get(&whole, INTEGRATE_Y, 0, j);
        if (rest != 0) found = broken(t, "y at %lld is off the sum of its sources by %g", (long long)j, rest);
    }
    rig_destroy(&whole);
    return found;
}

/* ---- Scenarios ----------------------------------------------------------------------------- */

#define SMALL ":f32:n2:b2:hw3x4:c1:zi1:zo1:st2:bias1:mask1"

/* r_0 = 2, r_1 = 5, z = its index, v_0 = 3, v_1 = 7, w = 10, bias = 1, dy = 1 + its index; y is 2x2. Sample 1 of
 * stream 0 is blanked, and all of stream 1 where `all`. False where there is no such kernel, or it failed. */
static int run_small(suite *s, rig *r, const char *text, int index, int all) {
    static const double values[INTEGRATE_Y + 1] = {[INTEGRATE_W] = 10, [INTEGRATE_BIAS] = 1};
    braid_problem p;
    *r = (rig){0};
    braid_status status = braid_problem_parse(text, &p);
    const kernel *k = status ? NULL : able_kernel(&p, s->device, index);
    if (index > 0 && !k) return 0;
    if (!status) status = rig_create(r, &p, s->device, k, IMAGE_EXACT, 1);
    for (int slot = 0; !status && slot < op_operand_count(op_of(&p)); slot++) {
        for (int i = 0; i < rig_planes(r, slot) && op_is_input(op_role(&p, slot)) && slot != INTEGRATE_MASK; i++) {
            rig_set_all(r, slot, i, slot == INTEGRATE_R ? 2 + 3 * i : slot == INTEGRATE_V ? 3 + 4 * i : values[slot]);
        }
    }
    for (int64_t j = 0; j < 24 && !status && p.pass != BRAID_PASS_BWD_DATA; j++) {
        rig_set(r, INTEGRATE_Z, 0, j, (double)j);
    }
    for (int64_t j = 0; j < 8 && !status && p.pass != BRAID_PASS_FWD; j++) {
        rig_set(r, INTEGRATE_Y, 0, j, 1 + (double)j);
    }
    if (!status) *(uint32_t *)rig_plane(r, INTEGRATE_MASK, 0) = 2;
    if (!status) *(uint32_t *)rig_plane(r, INTEGRATE_MASK, 1) = all ? 3 : 0;
    if (!status) status = rig_run(r);
    return suite_expect(s, status == BRAID_OK, "%s: %s", text, braid_message());
}

static void expect_values(suite *s, const rig *r, int slot, int i, const double *expected) {
    for (int64_t j = 0; j < rig_elements(r, slot, i); j++) {
        double got = rig_get(r, slot, i, j);
        suite_expect(s, got == expected[j], "%s: %s of plane %d at %lld: expected %g, got %g", r->kernel->name,
                     op_operand_name(&r->problem, slot), i, (long long)j, expected[j], got);
    }
}

/* Worked out by hand from the equation. z is read at 0, 2, 8, 10 of sample 0 and 12, 14, 20, 22 of sample 1. */
static void known_answers(suite *s) {
    static const double y[] = {42, 62, 122, 142, 156, 176, 236, 256};
    static const double dr[2][8] = {{3, 6, 9, 12}, {7, 14, 21, 28, 35, 42, 49, 56}};
    static const double dz[24] = {[0] = 10, [2] = 20, [8] = 30, [10] = 40, [12] = 50, [14] = 60, [20] = 70, [22] = 80};
    static const double dv[2] = {2 * 10, 5 * 36}, dw = 2 * 2 + 3 * 8 + 4 * 10 + 5 * 12 + 6 * 14 + 7 * 20 + 8 * 22,
                        dbias = 36;
    rig r;
    for (int j = 0; run_small(s, &r, "integrate_fwd" SMALL, j, 0); j++, rig_destroy(&r))
        expect_values(s, &r, INTEGRATE_Y, 0, y);
    rig_destroy(&r);
    for (int j = 0; run_small(s, &r, "integrate_bwd_data" SMALL, j, 0); j++, rig_destroy(&r)) {
        for (int i = 0; i < 2; i++) expect_values(s, &r, INTEGRATE_R, i, dr[i]);
        expect_values(s, &r, INTEGRATE_Z, 0, dz);
    }
    rig_destroy(&r);
    for (int j = 0; run_small(s, &r, "integrate_bwd_weight" SMALL, j, 0); j++, rig_destroy(&r)) {
        for (int i = 0; i < 2; i++) expect_values(s, &r, INTEGRATE_V, i, &dv[i]);
        expect_values(s, &r, INTEGRATE_W, 0, &dw);
        expect_values(s, &r, INTEGRATE_BIAS, 0, &dbias);
    }
    rig_destroy(&r);
}

/* A stream without an active sample gets gradients of exactly 0; y is what the others make of it. */
static void stream_all_blanked(suite *s) {
    static const double y[] = {7, 27, 87, 107, 121, 141, 201, 221}, zeros[8], dv = 2 * 10;
    rig r;
    for (int j = 0; run_small(s, &r, "integrate_fwd" SMALL, j, 1); j++, rig_destroy(&r))
        expect_values(s, &r, INTEGRATE_Y, 0, y);
    rig_destroy(&r);
    for (int j = 0; run_small(s, &r, "integrate_bwd_data" SMALL, j, 1); j++, rig_destroy(&r))
        expect_values(s, &r, INTEGRATE_R, 1, zeros);
    rig_destroy(&r);
    for (int j = 0; run_small(s, &r, "integrate_bwd_weight" SMALL, j, 1); j++, rig_destroy(&r)) {
        expect_values(s, &r, INTEGRATE_V, 0, &dv);
        expect_values(s, &r, INTEGRATE_V, 1, zeros);
    }
    rig_destroy(&r);
}

static void scenarios(suite *s) {
    known_answers(s);
    stream_all_blanked(s);
}

/* ---- The whole ----------------------------------------------------------------------------- */

static const property properties[] = {
    {"the passes are adjoint", linear_passes_are_adjoint},
    {"a is added to dr", a_is_added},
    {"y is the sum of what its sources add", contributions_add_up},
    {"blanking a stream is setting its r to 0", blanking_is_zero_r},
    {"NaN in r of blanked samples reaches nothing, their dr is 0", blanked_do_not_leak},
    {"gradients of permuted streams permute", gradients_permute},
    {"data gradients together equal those alone", data_gradients_stand_alone},
    {"NaN in one stream reaches no gradient of another", gradients_do_not_leak},
    {"active samples equal a batch of their own", active_samples},
    {"a batch equals its parts", batch_splits},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

static void gradients(suite *s) {
    check_all_gradients(s, "integrate_fwd:f64:n2:b2:hw3x4:c2,3:zi3:zo2:st2:bias1");
    if (!s->whole) return;
    check_all_gradients(s, "integrate_fwd:f64:n1:b1:hw1x1:c1:zi1:zo1");
    check_all_gradients(s, "integrate_fwd:f64:n3:b5:hw3x2:c2,1,4:zi0:zo3:bias1:mask1");
    check_all_gradients(s, "integrate_fwd:f64:n2:b6:hw4x5:c3,1:zi2:zo4:st1x3:bias1:mask1");
    check_all_gradients(s, "integrate_fwd:f64:n8:b2:hw2x3:c2:zi4:zo3:cp4");
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){
            .op = BRAID_OP_INTEGRATE, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
