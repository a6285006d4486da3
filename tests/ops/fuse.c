/*
 * The case tests of fuse: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "tests/support/cases.h"
#include "tests/support/gradients.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

/* ---- Properties ---------------------------------------------------------------------------- */

/* Element `index` of y belongs to this stream. */
static int stream_of(const braid_problem *p, int64_t index) {
    int64_t c = index % fuse_width(p);
    int stream = 0;
    while (c >= p->in_channels[stream]) c -= p->in_channels[stream++];
    return stream;
}

/* Sets the values of one stream in x, or in the columns of dy, to NaN. */
static void poison_stream(rig *r, int sick) {
    const braid_problem *p = &r->problem;
    if (p->pass == BRAID_PASS_FWD) {
        rig_set_all(r, FUSE_X, sick, NAN);
        return;
    }
    for (int64_t j = 0; j < rig_elements(r, FUSE_Y, 0); j++) {
        if (stream_of(p, j) == sick) rig_set(r, FUSE_Y, 0, j, NAN);
    }
}

/* NaN in one stream fills its own outputs and leaves those of the others alone. */
static outcome compare_sick(trial *t, const rig *well, const rig *ill, int sick) {
    const braid_problem *p = t->problem;
    int forward = p->pass == BRAID_PASS_FWD, slot = forward ? FUSE_Y : FUSE_X;
    for (int i = 0; i < rig_planes(well, slot); i++) {
        for (int64_t j = 0; j < rig_elements(well, slot, i); j++) {
            double before = rig_get(well, slot, i, j), after = rig_get(ill, slot, i, j);
            int is_sick = (forward ? stream_of(p, j) : i) == sick;
            if (is_sick ? !isnan(after) : before != after)
                return broken(t, "NaN in stream %d: %s of stream %d was %g, is %g", sick, op_operand_name(p, slot),
                              forward ? stream_of(p, j) : i, before, after);
        }
    }
    return HELD;
}

static outcome streams_keep_apart(trial *t) {
    rig well = {0}, ill = {0};
    int sick = (int)(t->seed % (uint64_t)t->problem->streams);
    outcome found = HELD;
    if (t->problem->pass == BRAID_PASS_BWD_WEIGHT) return NOT_HERE;
    if (rig_create(&well, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed) || rig_run(&well) ||
        rig_create(&ill, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed)) {
        found = could_not_run(t);
    } else {
        poison_stream(&ill, sick);
        found = rig_run(&ill) ? could_not_run(t) : compare_sick(t, &well, &ill, sick);
    }
    rig_destroy(&well);
    rig_destroy(&ill);
    return found;
}

/* Equal logits weigh nothing: with fuse=weighted the fused vector is that of fuse=concat, to the bit. */
static outcome equal_logits_copy(trial *t) {
    const braid_problem *p = t->problem;
    rig r = {0};
    outcome found = HELD;
    if (p->pass != BRAID_PASS_FWD || p->fusion != BRAID_FUSION_WEIGHTED) return NOT_HERE;
    if (rig_create(&r, p, t->device, t->kernel, IMAGE_REAL, t->seed)) return could_not_run(t);
    rig_set_all(&r, FUSE_LOGITS, 0, -3.25);
    if (rig_run(&r)) found = could_not_run(t);
    for (int64_t j = 0, column = 0; j < rig_elements(&r, FUSE_Y, 0) && found == HELD; j++) {
        int i = stream_of(p, j);
        column = j % fuse_width(p);
        for (int before = 0; before < i; before++) column -= p->in_channels[before];
        double x = rig_get(&r, FUSE_X, i, j / fuse_width(p) * p->in_channels[i] + column);
        if (rig_get(&r, FUSE_Y, 0, j) != x) found = broken(t, "y[%lld] is not its x", (long long)j);
    }
    rig_destroy(&r);
    return found;
}

static const property properties[] = {
    {"NaN in one stream reaches no other", streams_keep_apart},
    {"equal logits weigh nothing", equal_logits_copy},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

/* ---- Known answers ------------------------------------------------------------------------- */

static void set_second(known *k, const double *values, int count) {
    for (int j = 0; j < count; j++) rig_set(&k->rig, FUSE_X, 1, j, values[j]);
}

static const double first[] = {1, 2, 3, 4}, second[] = {5, 6};

/* Two samples of two and one channels; bits are kept, those of -0 and infinity too. */
static void concat(known *k) {
    static const double sick[] = {1, -0.0, INFINITY, NAN}, y[] = {1, -0.0, 5, INFINITY, NAN, 6};
    known_set(k, FUSE_X, sick, COUNT(sick));
    set_second(k, second, COUNT(second));
    if (known_run(k)) known_expect(k, FUSE_Y, y, COUNT(y), 0);
}

/* Logits 0 and log 3: shares of 1/4 and 3/4, times two streams. */
static void weighted(known *k) {
    static const double logits[] = {0, 1.0986122886681098}, y[] = {0.5, 1, 7.5, 1.5, 2, 9};
    known_set(k, FUSE_X, first, COUNT(first));
    known_set(k, FUSE_LOGITS, logits, COUNT(logits));
    set_second(k, second, COUNT(second));
    if (known_run(k)) known_expect(k, FUSE_Y, y, COUNT(y), 1e-5);
}

/* The second sample goes to the second stream alone: exp(-1000) is 0. */
static void gated(known *k) {
    static const double logits[] = {0, 1.0986122886681098, -500, 500}, y[] = {0.25, 0.5, 3.75, 0, 0, 6};
    known_set(k, FUSE_X, first, COUNT(first));
    known_set(k, FUSE_LOGITS, logits, COUNT(logits));
    set_second(k, second, COUNT(second));
    if (known_run(k)) known_expect(k, FUSE_Y, y, COUNT(y), 1e-5);
}

/* A logit of -infinity is a share of 0; NaN, or +infinity, leaves no share a number. */
static void sick_logits(known *k) {
    static const double logits[] = {-INFINITY, 2, INFINITY, 0, 1, NAN}, x[] = {1, 1, 1, 1, 1, 1};
    static const double y[] = {0, 0, 1, NAN, NAN, NAN, NAN, NAN, NAN};
    known_set(k, FUSE_X, x, COUNT(x));
    known_set(k, FUSE_LOGITS, logits, COUNT(logits));
    set_second(k, x, 3);
    if (known_run(k)) known_expect(k, FUSE_Y, y, COUNT(y), 0);
}

static void concat_gradient(known *k) {
    static const double dy[] = {1, 2, 3, 4, 5, 6}, dx[] = {1, 2, 4, 5};
    known_set(k, FUSE_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, FUSE_X, dx, COUNT(dx), 0);
}

/* t = 2 (11, 45) with shares 1/4 and 3/4: their mean is 73, the slopes 1/4 (22 - 73) and 3/4 (90 - 73). */
static void weighted_logits(known *k) {
    static const double dy[] = {1, 1, 3, 1, 1.25, 5}, logits[] = {0, 1.0986122886681098}, dlogits[] = {-12.75, 12.75};
    known_set(k, FUSE_X, first, COUNT(first));
    known_set(k, FUSE_Y, dy, COUNT(dy));
    known_set(k, FUSE_LOGITS, logits, COUNT(logits));
    set_second(k, second, COUNT(second));
    if (known_run(k)) known_expect(k, FUSE_DLOGITS, dlogits, COUNT(dlogits), 1e-4);
}

/* One stream has nothing to weigh. */
static void single_stream(known *k) {
    static const double zeros[] = {0, 0, 0};
    if (known_run(k)) known_expect(k, FUSE_DLOGITS, zeros, (int)rig_elements(&k->rig, FUSE_DLOGITS, 0), 1e-40);
}

static void scenarios(suite *s) {
    known_each(s, "fuse_fwd:f32:b2:c2,1:fuse=concat", concat);
    known_each(s, "fuse_fwd:bf16:b2:c2,1:fuse=concat:cp8", concat);
    known_each(s, "fuse_fwd:f16:b2:c2,1:fuse=concat:cp2", concat);
    known_each(s, "fuse_fwd:f32:b2:c2,1:fuse=weighted", weighted);
    known_each(s, "fuse_fwd:f64:b2:c2,1:fuse=weighted:cp4", weighted);
    known_each(s, "fuse_fwd:f32:b2:c2,1:fuse=gated:cp4", gated);
    known_each(s, "fuse_fwd:f32:b3:c2,1:fuse=gated", sick_logits);
    known_each(s, "fuse_bwd_data:f32:b2:c2,1:fuse=concat", concat_gradient);
    known_each(s, "fuse_bwd_data:bf16:b2:c2,1:fuse=concat:cp4", concat_gradient);
    known_each(s, "fuse_bwd_weight:f32:b2:c2,1:fuse=weighted", weighted_logits);
    known_each(s, "fuse_bwd_weight:bf16:b2:c2,1:fuse=weighted:cp8", weighted_logits);
    known_each(s, "fuse_bwd_weight:f32:b3:c4:fuse=gated", single_stream);
    known_each(s, "fuse_bwd_weight:f32:b3:c4:fuse=weighted", single_stream);
    known_refused(s, "fuse_bwd_weight:f32:b2:c2,1:fuse=concat", "got fuse=concat, which has no logits");
    known_refused(s, "fuse_bwd_weight:f32:b2:c2,1", "expected fuse=weighted or fuse=gated");
}

/* ---- Gradients ----------------------------------------------------------------------------- */

static void gradients(suite *s) {
    static const int slots[3] = {FUSE_X, FUSE_Y, FUSE_X};
    known_gradient(s, "fuse_fwd:f64:n3:b2:c4,1,3:fuse=concat:cp4", slots, NULL);
    check_all_gradients(s, "fuse_fwd:f64:n2:b3:c5,3:fuse=weighted");
    check_all_gradients(s, "fuse_fwd:f64:n3:b4:c5,1,3:fuse=gated:cp8");
    if (!s->whole) return;
    check_all_gradients(s, "fuse_fwd:f64:n9:b2:c2:fuse=weighted");
    check_all_gradients(s, "fuse_fwd:f64:n5:b7:c1,2,3,4,17:fuse=gated");
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){.op = BRAID_OP_FUSE, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
