/*
 * Properties of the losses over classes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/class_properties.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/dtype.h"

/* ---- Properties ---------------------------------------------------------------------------- */

outcome rows_add_up_to_zero(trial *t) {
    const braid_problem *p = t->problem;
    rig r = {0};
    if (p->pass != BRAID_PASS_BWD_DATA || (p->dtype != BRAID_DTYPE_F32 && p->dtype != BRAID_DTYPE_F64)) return NOT_HERE;
    outcome found = HELD;
    if (rig_create(&r, p, t->device, t->kernel, IMAGE_REAL, t->seed) || rig_run(&r)) found = could_not_run(t);
    for (int64_t sample = 0; sample < p->batch && found == HELD; sample++) {
        double sum = 0, magnitude = 0;
        for (int64_t c = 0; c < p->in_channels[0]; c++) {
            double value = rig_get(&r, CLASS_DX, 0, sample * p->in_channels[0] + c);
            sum += value;
            magnitude += fabs(value);
        }
        /* each element is within 40 units of its own size and that of the terms that cancel in it */
        double units = 80 * dtype_unit_roundoff(p->dtype) * (magnitude + fabs(rig_get(&r, CLASS_LOSS, 0, 0)));
        if (!(fabs(sum) <= units))
            found = broken(t, "the gradients of sample %lld add up to %g", (long long)sample, sum);
    }
    rig_destroy(&r);
    return found;
}

static int is_ignored(const rig *r, int64_t sample) { return rig_get(r, CLASS_LABELS, 0, sample) < 0; }

static int row_is_zero(const rig *r, int64_t sample) {
    size_t bytes = rig_sample_bytes(r, CLASS_DX, 0);
    const unsigned char *row = (const unsigned char *)rig_plane(r, CLASS_DX, 0) + (size_t)sample * bytes;
    for (size_t j = 0; j < bytes; j++) {
        if (row[j]) return 0;
    }
    return 1;
}

outcome ignored_samples_do_not_leak(trial *t) {
    const braid_problem *p = t->problem;
    rig plain = {0}, sick = {0};
    int out = p->pass == BRAID_PASS_FWD ? CLASS_LOSS : CLASS_DX;
    outcome found = HELD;
    if (rig_create(&plain, p, t->device, t->kernel, IMAGE_REAL, t->seed) ||
        rig_create(&sick, p, t->device, t->kernel, IMAGE_REAL, t->seed))
        found = could_not_run(t);
    int64_t ignored = 0;
    for (int64_t sample = 0; sample < p->batch && found == HELD; sample++) {
        if (!is_ignored(&sick, sample)) continue;
        ignored++;
        for (int64_t c = 0; c < p->in_channels[0]; c++) rig_set(&sick, CLASS_X, 0, sample * p->in_channels[0] + c, NAN);
    }
    if (found == HELD && ignored == 0) found = NOT_HERE;
    if (found == HELD && (rig_run(&plain) || rig_run(&sick))) found = could_not_run(t);
    if (found == HELD &&
        memcmp(rig_plane(&plain, out, 0), rig_plane(&sick, out, 0), plain.layout.plane_bytes[out][0]) != 0)
        found = broken(t, "NaN in an ignored sample reached %s", op_operand_name(p, out));
    for (int64_t sample = 0; sample < p->batch && found == HELD && out == CLASS_DX; sample++) {
        if (is_ignored(&sick, sample) && !row_is_zero(&sick, sample))
            found = broken(t, "the ignored sample %lld has a gradient", (long long)sample);
    }
    rig_destroy(&plain);
    rig_destroy(&sick);
    return found;
}

/* ---- Known answers ------------------------------------------------------------------------- */

void class_expect(known *k, const double *x, const double *labels, double loss, double correct) {
    int64_t logits = rig_elements(&k->rig, CLASS_X, 0);
    known_set(k, CLASS_X, x, (int)logits);
    known_set(k, CLASS_LABELS, labels, (int)k->rig.problem.batch);
    if (!known_run(k)) return;
    known_expect(k, CLASS_LOSS, &loss, 1, 1e-6 * fabs(loss));
    known_expect(k, CLASS_CORRECT, &correct, 1, 0);
}

/* Far apart: the losses are 0 where the label wins, else the distance. */
static void far_apart(known *k) {
    static const double x[] = {1e4, -1e4, 0, 1e4, -1e4, 0}, labels[] = {0, 1};
    class_expect(k, x, labels, k->rig.problem.dtype == BRAID_DTYPE_BF16 ? 9984 : 1e4, 1);
}

static void far_apart_gradient(known *k) {
    static const double x[] = {1e4, -1e4, 0, 1e4, -1e4, 0}, labels[] = {0, 1}, dloss[] = {2};
    static const double dx[] = {0, 0, 0, 1, -1, 0};
    known_set(k, CLASS_X, x, 6);
    known_set(k, CLASS_LABELS, labels, 2);
    known_set(k, CLASS_LOSS, dloss, 1);
    if (!known_run(k)) return;
    for (int j = 0; j < 6; j++) {
        double got = rig_get(&k->rig, CLASS_DX, 0, j);
        suite_expect(k->s, got == dx[j], "%s with %s: dx[%d]: expected %g, got %g", k->text, k->rig.kernel->name, j,
                     dx[j], got);
    }
}

static void one_class(known *k) {
    static const double x[] = {3, -1e4}, labels[] = {0, 0};
    class_expect(k, x, labels, 0, 2);
}

static void all_ignored(known *k) {
    static const double x[] = {3, NAN, 2, 1}, labels[] = {-1, -100};
    class_expect(k, x, labels, 0, 0);
}

/* The first of equal ones counts. */
static void ties(known *k) {
    static const double x[] = {5, 5, 1, 1, 5, 5, 5, 5, 5}, labels[] = {0, 2, 1};
    known_set(k, CLASS_X, x, 9);
    known_set(k, CLASS_LABELS, labels, 3);
    static const double correct[] = {1};
    if (known_run(k)) known_expect(k, CLASS_CORRECT, correct, 1, 0);
}

static const double sick_rows[][3] = {{1, NAN, 0}, {1, INFINITY, 0}, {-INFINITY, -INFINITY, -INFINITY}};

/* NaN, infinity, and nothing but -infinity leave no loss, whichever class is the label; -infinity beside a number is a
 * class that cannot be. */
static void sick(known *k) {
    static const double label[] = {1};
    for (int row = 0; row < 3; row++) {
        for (int c = 0; c < 3; c++) {
            int right = (row == 1 && c == 1) || (row == 2 && c == 0); /* the first of the largest */
            class_expect(k, sick_rows[row], (const double[]){c}, NAN, right);
        }
    }
    class_expect(k, (const double[]){0, -INFINITY, -INFINITY}, (const double[]){0}, 0, 1);
    class_expect(k, (const double[]){0, -INFINITY, -INFINITY}, label, INFINITY, 0);
}

static void sick_gradient(known *k) {
    static const double dx[] = {NAN, NAN, NAN};
    for (int j = 0; j < 9; j++) {
        known_set(k, CLASS_X, sick_rows[j / 3], 3);
        known_set(k, CLASS_LABELS, (const double[]){j % 3}, 1);
        if (known_run(k)) known_expect(k, CLASS_DX, dx, 3, 0);
    }
}

/* A label that is no class reads nothing beside x: a run that was not checked before takes it as ignored. */
static void no_class(known *k) {
    static const double x[] = {1e4, -1e4, 0, 1, 2, 3, 4, 5, 6}, labels[] = {1, 3, 2147483647};
    class_expect(k, x, labels, 2e4, 0);
}

static void play(suite *s, const char *op, const char *rest, void (*scene)(known *k)) {
    char text[128];
    snprintf(text, sizeof text, "%s%s", op, rest);
    known_each(s, text, scene);
}

void class_scenarios(suite *s, const char *op) {
    play(s, op, "_fwd:f32:b2:c3", far_apart);
    play(s, op, "_fwd:f64:b2:c3", far_apart);
    play(s, op, "_fwd:bf16:b2:c3:cp4", far_apart);
    play(s, op, "_bwd_data:f32:b2:c3:cp7", far_apart_gradient);
    play(s, op, "_bwd_data:bf16:b2:c3", far_apart_gradient);
    play(s, op, "_fwd:f32:b2:c1", one_class);
    play(s, op, "_fwd:f16:b2:c1:cp2", one_class);
    play(s, op, "_fwd:f32:b2:c2", all_ignored);
    play(s, op, "_fwd:f32:b3:c3", ties);
    play(s, op, "_fwd:bf16:b3:c3", ties);
    play(s, op, "_fwd:f32:b1:c3", sick);
    play(s, op, "_fwd:f64:b1:c3", sick);
    play(s, op, "_bwd_data:f32:b1:c3", sick_gradient);
    play(s, op, "_fwd:f32:b3:c3", no_class);
}
