/*
 * Finite differences.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/gradients.h"

#include <math.h>
#include <string.h>

enum { X = CONV2D_X, W = CONV2D_W, BIAS = CONV2D_BIAS, Y = CONV2D_Y }; /* linear numbers them alike */

int gradient_agrees(double analytic, double numeric) { return fabs(analytic - numeric) <= 1e-5 + 1e-3 * fabs(numeric); }

void check_gradient(suite *s, const char *what, rig *inputs, int slot, const rig *of, int gradient, loss_function value,
                    void *context) {
    int64_t wrong = 0, elements = 0;
    double first_analytic = 0, first_numeric = 0, largest = 0;
    for (int i = 0; i < inputs->problem.streams; i++) {
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

/* ---- conv2d and linear --------------------------------------------------------------------- */

/* The three passes of one problem, on the same x, w, bias, mask and dy = v. */
typedef struct product {
    rig pass[BRAID_PASS_COUNT];
} product;

static double product_loss(void *context) {
    product *p = context;
    return rig_run(&p->pass[BRAID_PASS_FWD]) ? NAN
                                             : rig_inner(&p->pass[BRAID_PASS_FWD], Y, &p->pass[BRAID_PASS_BWD_DATA], Y);
}

static braid_status ready_product(suite *s, const braid_problem *p, product *out) {
    for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
        braid_problem q = *p;
        q.pass = (braid_pass)pass;
        TRY(rig_create(&out->pass[pass], &q, s->device, able_kernel(&q, s->device, 0), IMAGE_REAL, s->seed));
        if (pass != BRAID_PASS_FWD) TRY(rig_run(&out->pass[pass]));
    }
    return BRAID_OK;
}

void check_product_gradients(suite *s, const char *text) {
    product all = {0};
    braid_problem p;
    braid_status status = braid_problem_parse(text, &p);
    if (!status) status = ready_product(s, &p, &all);
    suite_expect(s, status == BRAID_OK, "gradients of %s: %s", text, braid_message());
    rig *forward = &all.pass[BRAID_PASS_FWD], *data = &all.pass[BRAID_PASS_BWD_DATA],
        *weight = &all.pass[BRAID_PASS_BWD_WEIGHT];
    if (!status) {
        check_gradient(s, text, forward, X, data, X, product_loss, &all);
        check_gradient(s, text, forward, W, weight, W, product_loss, &all);
        if (p.bias) check_gradient(s, text, forward, BIAS, weight, BIAS, product_loss, &all);
    }
    for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) rig_destroy(&all.pass[pass]);
}
