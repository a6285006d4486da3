/*
 * Finite differences.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/gradients.h"

#include <math.h>
#include <string.h>

int gradient_agrees(double analytic, double numeric) { return fabs(analytic - numeric) <= 1e-5 + 1e-3 * fabs(numeric); }

void check_gradient(suite *s, const char *what, rig *inputs, int slot, const rig *of, int gradient, loss_function value,
                    void *context) {
    int64_t wrong = 0, elements = 0;
    double first_analytic = 0, first_numeric = 0, largest = 0;
    for (int i = 0; i < rig_planes(inputs, slot); i++) {
        for (int64_t j = 0; j < rig_elements(inputs, slot, i); j++, elements++) {
            double at = rig_get(inputs, slot, i, j), analytic = rig_get(of, gradient, i, j);
            rig_set(inputs, slot, i, j, at + GRADIENT_STEP);
            double above = value(context);
            rig_set(inputs, slot, i, j, at - GRADIENT_STEP);
            double below = value(context);
            rig_set(inputs, slot, i, j, at);
            double numeric = (above - below) / (2 * GRADIENT_STEP);
            largest = fmax(largest, fabs(analytic));
            if (gradient_agrees(analytic, numeric)) continue;
            if (!wrong++) {
                first_analytic = analytic;
                first_numeric = numeric;
            }
        }
    }
    suite_expect(s, wrong == 0 && elements > 0 && largest > 0,
                 "gradient of %s in %s: %lld of %lld elements differ, the first is %.9g, finite differences give %.9g",
                 op_operand_name(&inputs->problem, slot), what, (long long)wrong, (long long)elements, first_analytic,
                 first_numeric);
}

/* ---- All passes of an op ------------------------------------------------------------------- */

/* The passes of one problem, on the same data, weights, bias, mask and dy = v. */
typedef struct product {
    rig pass[BRAID_PASS_COUNT];
    int y; /* the slot */
} product;

static double product_loss(void *context) {
    product *p = context;
    return rig_run(&p->pass[BRAID_PASS_FWD])
               ? NAN
               : rig_inner(&p->pass[BRAID_PASS_FWD], p->y, &p->pass[BRAID_PASS_BWD_DATA], p->y);
}

static braid_status ready_product(suite *s, const braid_problem *p, product *out) {
    for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
        braid_problem q = *p;
        q.pass = (braid_pass)pass;
        if (!(op_of(p)->passes >> pass & 1)) continue;
        TRY(rig_create(&out->pass[pass], &q, s->device, able_kernel(&q, s->device, 0), IMAGE_REAL, s->seed));
        if (pass != BRAID_PASS_FWD) TRY(rig_run(&out->pass[pass]));
    }
    return BRAID_OK;
}

/* The operand of the forward pass whose gradient a slot holds: the same one, or that of its name without the d; -1:
 * none. */
static int gradient_of(const braid_problem *p, int slot) {
    const char *name = op_operand_name(p, slot);
    if (op_role(p, slot) == ROLE_DOUT) return slot;
    for (int other = 0; op_role(p, slot) == ROLE_OUT && other < op_operand_count(op_of(p)); other++) {
        if (name[0] == 'd' && strcmp(op_of(p)->operands[other].name, name + 1) == 0) return other;
    }
    return -1;
}

void check_all_gradients(suite *s, const char *text) {
    product all = {0};
    braid_problem p;
    braid_status status = braid_problem_parse(text, &p);
    if (!status) status = ready_product(s, &p, &all);
    suite_expect(s, status == BRAID_OK, "gradients of %s: %s", text, braid_message());
    for (int slot = 0; !status && slot < op_operand_count(op_of(&p)); slot++) {
        if (op_role(&all.pass[BRAID_PASS_FWD].problem, slot) == ROLE_OUT) all.y = slot;
    }
    for (int pass = BRAID_PASS_BWD_DATA; !status && pass < BRAID_PASS_COUNT; pass++) {
        const rig *of = &all.pass[pass];
        for (int slot = 0; of->kernel && slot < op_operand_count(op_of(&p)); slot++) {
            int of_slot = gradient_of(&of->problem, slot);
            if (of_slot < 0) continue;
            check_gradient(s, text, &all.pass[BRAID_PASS_FWD], of_slot, of, slot, product_loss, &all);
        }
    }
    for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) rig_destroy(&all.pass[pass]);
}
