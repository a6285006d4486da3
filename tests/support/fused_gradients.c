/*
 * Finite differences of fused ops.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/fused_gradients.h"

#include <math.h>
#include <string.h>

typedef struct fused {
    const fused_gradients *g;
    rig pass[BRAID_PASS_COUNT];
} fused;

static int ends(const int *row, int count) {
    for (int j = 0; j < count; j++)
        if (row[j]) return 0;
    return 1;
}

static double loss(void *context) {
    fused *f = context;
    double sum = 0;
    if (rig_run(&f->pass[BRAID_PASS_FWD])) return NAN;
    for (int j = 0; j < FUSED_MOST && !ends(f->g->outputs[j], 2); j++) {
        sum += rig_inner(&f->pass[BRAID_PASS_FWD], f->g->outputs[j][0], &f->pass[BRAID_PASS_BWD_DATA],
                         f->g->outputs[j][1]);
    }
    return sum;
}

/* What both passes have in a slot: the backward one reads what the forward one read or wrote. */
static void copy_shared(const rig *from, rig *to) {
    for (int slot = 0; slot < op_operand_count(op_of(&to->problem)); slot++) {
        operand_role before = op_role(&from->problem, slot), after = op_role(&to->problem, slot);
        if (after != ROLE_IN || before == ROLE_NONE) continue;
        for (int i = 0; i < rig_planes(to, slot); i++)
            memcpy(rig_plane(to, slot, i), rig_plane(from, slot, i), to->layout.plane_bytes[slot][i]);
    }
}

static braid_status ready(suite *s, const braid_problem *p, fused *f) {
    for (int pass = BRAID_PASS_COUNT - 1; pass >= 0; pass--) {
        braid_problem q = *p;
        q.pass = (braid_pass)pass;
        if (!(op_of(p)->passes & (1u << pass))) continue;
        TRY(rig_create(&f->pass[pass], &q, s->device, able_kernel(&q, s->device, 0), IMAGE_REAL, s->seed));
    }
    if (f->g->agree) f->g->agree(&f->pass[BRAID_PASS_FWD], &f->pass[BRAID_PASS_BWD_DATA]);
    TRY(rig_run(&f->pass[BRAID_PASS_FWD]));
    for (int pass = BRAID_PASS_BWD_DATA; pass < BRAID_PASS_COUNT; pass++) {
        if (!(op_of(p)->passes & (1u << pass))) continue;
        copy_shared(&f->pass[BRAID_PASS_FWD], &f->pass[pass]);
        TRY(rig_run(&f->pass[pass]));
    }
    return BRAID_OK;
}

void check_fused_gradients(suite *s, const char *text, const fused_gradients *g) {
    fused f = {.g = g};
    braid_problem p;
    braid_status status = braid_problem_parse(text, &p);
    if (!status) status = ready(s, &p, &f);
    suite_expect(s, status == BRAID_OK, "gradients of %s: %s", text, braid_message());
    for (int j = 0; !status && j < FUSED_MOST && !ends(g->inputs[j], 3); j++) {
        const int *row = g->inputs[j];
        if (rig_planes(&f.pass[BRAID_PASS_FWD], row[0]) == 0) continue;
        check_gradient(s, text, &f.pass[BRAID_PASS_FWD], row[0], &f.pass[row[1]], row[2], loss, &f);
    }
    for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) rig_destroy(&f.pass[pass]);
}

void agree_on_scale(rig *forward, rig *backward) {
    for (int i = 0; i < forward->problem.streams; i++) {
        for (int64_t c = 0; c < rig_elements(forward, BN_FUSED_SCALE, i); c++) {
            double scale = rig_get(backward, BN_FUSED_GAMMA, i, c) * rig_get(backward, BN_FUSED_RSTD, i, c);
            rig_set(forward, BN_FUSED_SCALE, i, c, scale);
        }
    }
}
