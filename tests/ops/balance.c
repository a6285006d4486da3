/*
 * The case tests of balance: see tests/support/cases.h. The known answers follow from the equation: norms 3-4-5 and
 * powers of e and 2, whose logarithms differ by known amounts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "tests/support/cases.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

/* ---- Properties ---------------------------------------------------------------------------- */

/* All planes times four: the logarithms move together, so the loss stays, and the norms are four times as long. */
static outcome scale_does_not_matter(trial *t) {
    const braid_problem *p = t->problem;
    rig plain = {0}, large = {0};
    if (p->pass != BRAID_PASS_FWD) return NOT_HERE;
    outcome found = HELD;
    if (rig_create(&plain, p, t->device, t->kernel, IMAGE_REAL, t->seed) ||
        rig_create(&large, p, t->device, t->kernel, IMAGE_REAL, t->seed))
        found = could_not_run(t);
    for (int i = 0; i < p->streams && found == HELD; i++) {
        for (int64_t j = 0; j < rig_elements(&large, BALANCE_X, i); j++)
            rig_set(&large, BALANCE_X, i, j, 4 * rig_get(&large, BALANCE_X, i, j));
    }
    if (found == HELD && (rig_run(&plain) || rig_run(&large))) found = could_not_run(t);
    double was = found == HELD ? rig_get(&plain, BALANCE_LOSS, 0, 0) : 0;
    if (found == HELD && !(fabs(rig_get(&large, BALANCE_LOSS, 0, 0) - was) <= 1e-6 * (1 + was)))
        found = broken(t, "the loss is %g, of planes four times as large %g", was, rig_get(&large, BALANCE_LOSS, 0, 0));
    for (int i = 0; i < p->streams && found == HELD; i++) {
        if (rig_get(&large, BALANCE_NORMS, 0, i) != 4 * rig_get(&plain, BALANCE_NORMS, 0, i))
            found = broken(t, "the norm of stream %d is not four times as large", i);
    }
    rig_destroy(&plain);
    rig_destroy(&large);
    return found;
}

static const property properties[] = {
    {"the scale of all streams does not matter", scale_does_not_matter},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

/* ---- Known answers ------------------------------------------------------------------------- */

/* Plane i holds 3 and 4 times `factor` and zeros. */
static void set_norm(known *k, int i, double factor) {
    rig_set_all(&k->rig, BALANCE_X, i, 0);
    rig_set(&k->rig, BALANCE_X, i, 0, 3 * factor);
    rig_set(&k->rig, BALANCE_X, i, rig_elements(&k->rig, BALANCE_X, i) - 1, 4 * factor);
}

/* Norms 5 and 20: logarithms apart by log 4, variance (log 4)^2 / 2. */
static void two(known *k) {
    const double loss[] = {log(4) * log(4) / 2}, norms[] = {5, 20};
    set_norm(k, 0, 1);
    set_norm(k, 1, 4);
    if (!known_run(k)) return;
    known_expect(k, BALANCE_LOSS, loss, 1, 1e-6);
    known_expect(k, BALANCE_NORMS, norms, 2, 0);
}

/* Norms 5, 10 and 20: logarithms -log 2, 0, log 2 about their mean, variance (log 2)^2. */
static void three(known *k) {
    const double loss[] = {log(2) * log(2)};
    for (int i = 0; i < 3; i++) set_norm(k, i, 1 << i);
    if (known_run(k)) known_expect(k, BALANCE_LOSS, loss, 1, 1e-6);
}

/* Norms 0 and 1e-8: log 1e-8 and log 2e-8. */
static void nothing(known *k) {
    const double loss[] = {log(2) * log(2) / 2};
    set_norm(k, 0, 0);
    set_norm(k, 1, 2e-9);
    if (known_run(k)) known_expect(k, BALANCE_LOSS, loss, 1, 1e-6);
}

static void equal(known *k) {
    static const double loss[] = {0};
    for (int i = 0; i < 2; i++) set_norm(k, i, 0.5);
    if (known_run(k)) known_expect(k, BALANCE_LOSS, loss, 1, 0);
}

/* Norms 5 and 20, dloss 1: dx_0 = 2 (-log 2) / 5 x / 5 and dx_1 = 2 log 2 / 20 x / 20. */
static void two_gradient(known *k) {
    static const double norms[] = {5, 20}, dloss[] = {1};
    const double first = -2 * log(2) / 25, second = 2 * log(2) / 400;
    const double dx[] = {3 * first, 0, 4 * first}, dx_second[] = {12 * second, 16 * second};
    set_norm(k, 0, 1);
    set_norm(k, 1, 4);
    known_set(k, BALANCE_NORMS, norms, 2);
    known_set(k, BALANCE_LOSS, dloss, 1);
    if (!known_run(k)) return;
    known_expect(k, BALANCE_DX, dx, 3, 2e-8);
    for (int j = 0; j < 2; j++) {
        double got = rig_get(&k->rig, BALANCE_DX, 1, j);
        suite_expect(k->s, fabs(got - dx_second[j]) <= 2e-8, "%s with %s: dx of stream 1 [%d]: expected %g, got %g",
                     k->text, k->rig.kernel->name, j, dx_second[j], got);
    }
}

/* A stream without a contribution has no direction to go to. */
static void nothing_gradient(known *k) {
    static const double norms[] = {0, 20}, dx[] = {0, 0, 0};
    set_norm(k, 0, 0);
    set_norm(k, 1, 4);
    known_set(k, BALANCE_NORMS, norms, 2);
    if (known_run(k)) known_expect(k, BALANCE_DX, dx, 3, 0);
}

static void scenarios(suite *s) {
    known_each(s, "balance_fwd:f32:n2:b1:hw1x1:c3,2", two);
    known_each(s, "balance_fwd:bf16:n2:b3:hw2x1:c3,2:cp4", two);
    known_each(s, "balance_fwd:f16:n2:b1:hw1x4000:c3,5", two);
    known_each(s, "balance_fwd:f64:n2:b1:hw1x1:c3,2", two);
    known_each(s, "balance_fwd:f32:n3:b2:hw70x60:c3,2,1:cp5", three);
    known_each(s, "balance_fwd:f32:n2:b1:hw1x1:c3,2", nothing);
    known_each(s, "balance_fwd:f32:n2:b2:hw3x1:c30,20", equal);
    known_each(s, "balance_bwd_data:f32:n2:b1:hw1x1:c3,2", two_gradient);
    known_each(s, "balance_bwd_data:f64:n2:b1:hw1x1:c3,2:cp4", two_gradient);
    known_each(s, "balance_bwd_data:f32:n2:b1:hw1x1:c3,2:cp4", nothing_gradient);
    known_each(s, "balance_bwd_data:bf16:n2:b1:hw1x1:c3,2", nothing_gradient);
    known_refused(s, "balance_fwd:f32:n1:b1:hw1x1:c3", "expected n (streams) of 2 or more, got 1");
}

static void gradients(suite *s) {
    static const int slots[3] = {BALANCE_X, BALANCE_LOSS, BALANCE_DX};
    known_gradient(s, "balance_fwd:f64:n2:b2:hw3x4:c2,3", slots, NULL);
    known_gradient(s, "balance_fwd:f64:n4:b1:hw2x2:c1,5,2,3:cp6", slots, NULL);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){.op = BRAID_OP_BALANCE, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
