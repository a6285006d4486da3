/*
 * Known answers and gradients of ops with one data operand.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/known.h"

#include <math.h>
#include <string.h>

#include "tests/support/gradients.h"

void known_each(suite *s, const char *text, void (*play)(known *k)) {
    braid_problem p;
    const kernel *able;
    int kernels = 0;
    if (!suite_expect(s, braid_problem_parse(text, &p) == BRAID_OK, "%s: %s", text, braid_message())) return;
    for (; (able = able_kernel(&p, s->device, kernels)) != NULL; kernels++) {
        known k = {.s = s, .text = text};
        braid_status status = rig_create(&k.rig, &p, s->device, able, IMAGE_REAL, s->seed);
        if (suite_expect(s, status == BRAID_OK, "%s: %s", text, braid_message())) play(&k);
        rig_destroy(&k.rig);
    }
    suite_expect(s, kernels > 0, "%s: expected a kernel that can do it", text);
}

void known_set(known *k, int slot, const double *values, int count) {
    for (int j = 0; j < count; j++) rig_set(&k->rig, slot, 0, j, values[j]);
}

int known_run(known *k) {
    return suite_expect(k->s, rig_run(&k->rig) == BRAID_OK, "%s with %s: %s", k->text, k->rig.kernel->name,
                        braid_message());
}

static int agrees(double got, double expected, double tolerance) {
    if (isnan(expected)) return isnan(got);
    if (tolerance > 0 && isfinite(expected)) return fabs(got - expected) <= tolerance;
    return got == expected && signbit(got) == signbit(expected);
}

void known_expect(known *k, int slot, const double *values, int count, double tolerance) {
    for (int j = 0; j < count; j++) {
        double got = rig_get(&k->rig, slot, 0, j);
        suite_expect(k->s, agrees(got, values[j], tolerance), "%s with %s: %s[%d]: expected %.9g, got %.9g", k->text,
                     k->rig.kernel->name, op_operand_name(&k->rig.problem, slot), j, values[j], got);
    }
}

/* ---- Gradients ----------------------------------------------------------------------------- */

typedef struct pair {
    rig forward, backward;
    int y;
} pair;

static double pair_loss(void *context) {
    pair *both = context;
    return rig_run(&both->forward) ? NAN : rig_inner(&both->forward, both->y, &both->backward, both->y);
}

/* The backward run sees what the forward rig has of its inputs: data, labels, and what was kept for it. */
static void copy_inputs(pair *both) {
    const braid_problem *p = &both->backward.problem;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        for (int i = 0; op_role(p, slot) == ROLE_IN && i < rig_planes(&both->backward, slot); i++) {
            memcpy(rig_plane(&both->backward, slot, i), rig_plane(&both->forward, slot, i),
                   both->forward.layout.plane_bytes[slot][i]);
        }
    }
}

void known_gradient(suite *s, const char *text, const int slots[3], void (*spread)(rig *r)) {
    pair both = {.y = slots[1]};
    braid_problem p;
    braid_status status = braid_problem_parse(text, &p);
    if (!status) status = rig_create(&both.forward, &p, s->device, able_kernel(&p, s->device, 0), IMAGE_REAL, s->seed);
    p.pass = BRAID_PASS_BWD_DATA;
    if (!status) {
        status = rig_create(&both.backward, &p, s->device, able_kernel(&p, s->device, 0), IMAGE_REAL, s->seed + 1);
    }
    if (!status && spread) spread(&both.forward);
    if (!status) status = rig_run(&both.forward);
    if (!status) copy_inputs(&both);
    if (!status) status = rig_run(&both.backward);
    suite_expect(s, status == BRAID_OK, "gradients of %s: %s", text, braid_message());
    if (!status) check_gradient(s, text, &both.forward, slots[0], &both.backward, slots[2], pair_loss, &both);
    rig_destroy(&both.forward);
    rig_destroy(&both.backward);
}

void known_refused(suite *s, const char *text, const char *words) {
    braid_problem p;
    braid_status status = braid_problem_parse(text, &p);
    suite_expect(s, status != BRAID_OK && strstr(braid_message(), words), "%s: expected to be refused with \"%s\"",
                 text, words);
}
