/*
 * The case tests of clip_norm: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "ops/scaling.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"
#include "tests/support/update_tests.h"

/* ---- Properties ---------------------------------------------------------------------------- */

static outcome bits_of_portable(trial *t) { return same_bits_everywhere(t, 0); }

/* One value that is not finite, anywhere, where there are some among those in half precision: no scale, and the step is
 * not counted. */
static outcome notices_any_infinity(trial *t) {
    static const double values[] = {NAN, INFINITY, -INFINITY};
    rig r;
    const int64_t halves = t->problem->integrated_in, count = halves ? halves : t->problem->in_channels[0];
    const int slot = halves ? CLIP_NORM_H : CLIP_NORM_G;
    int64_t at = (int64_t)(t->seed / 3 % (uint64_t)count);
    if (rig_create(&r, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed)) return could_not_run(t);
    double value = values[t->seed % 3], step = rig_get(&r, CLIP_NORM_STEP, 0, 0);
    rig_set(&r, slot, 0, at, value);
    outcome found = rig_run(&r) ? could_not_run(t) : HELD;
    if (found == HELD && (isfinite(rig_get(&r, CLIP_NORM_NORM, 0, 0)) || !isnan(rig_get(&r, CLIP_NORM_SCALE, 0, 0))))
        found = broken(t, "%s[%lld] = %g gives norm %g, scale %g", halves ? "h" : "g", (long long)at, value,
                       rig_get(&r, CLIP_NORM_NORM, 0, 0), rig_get(&r, CLIP_NORM_SCALE, 0, 0));
    if (found == HELD && rig_get(&r, CLIP_NORM_STEP, 0, 0) != step) found = broken(t, "counted the step");
    rig_destroy(&r);
    return found;
}

/* The loss scale leaves no trace in the norm, and stands in the scale alone: exact for powers of two. */
static outcome loss_scale_cancels(trial *t) {
    rig a, b = {0};
    outcome found = HELD;
    if (t->problem->integrated_in) return NOT_HERE; /* 1024 times as much may be beyond them */
    if (rig_create(&a, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed) ||
        rig_create(&b, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed))
        found = could_not_run(t);
    for (int64_t j = 0; found == HELD && j < t->problem->in_channels[0]; j++)
        rig_set(&b, CLIP_NORM_G, 0, j, 1024 * rig_get(&b, CLIP_NORM_G, 0, j));
    if (found == HELD) rig_set(&b, CLIP_NORM_LOSS_SCALE, 0, 0, 1024 * rig_get(&b, CLIP_NORM_LOSS_SCALE, 0, 0));
    if (found == HELD && (rig_run(&a) || rig_run(&b))) found = could_not_run(t);
    if (found == HELD && rig_get(&a, CLIP_NORM_NORM, 0, 0) != rig_get(&b, CLIP_NORM_NORM, 0, 0))
        found = broken(t, "another norm");
    if (found == HELD && rig_get(&a, CLIP_NORM_SCALE, 0, 0) != 1024 * rig_get(&b, CLIP_NORM_SCALE, 0, 0))
        found = broken(t, "scale %g and %g", rig_get(&a, CLIP_NORM_SCALE, 0, 0), rig_get(&b, CLIP_NORM_SCALE, 0, 0));
    rig_destroy(&a);
    rig_destroy(&b);
    return found;
}

/* The gradients as they were scaled have no norm above the limit. */
static outcome keeps_limit(trial *t) {
    rig r;
    double sum = 0;
    if (!(t->problem->limit > 0)) return NOT_HERE;
    if (rig_create(&r, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed)) return could_not_run(t);
    outcome found = rig_run(&r) ? could_not_run(t) : HELD;
    for (int64_t j = 0; found == HELD && j < t->problem->in_channels[0]; j++) {
        const int64_t whole = t->problem->in_channels[0] - t->problem->integrated_in;
        double g = j < whole ? rig_get(&r, CLIP_NORM_G, 0, j) : rig_get(&r, CLIP_NORM_Y, 0, j - whole);
        double scaled = g * rig_get(&r, CLIP_NORM_SCALE, 0, 0);
        sum += scaled * scaled;
    }
    if (found == HELD && sqrt(sum) > t->problem->limit * (1 + 1e-6)) found = broken(t, "a norm of %g", sqrt(sum));
    rig_destroy(&r);
    return found;
}

static const property properties[] = {
    {"the same bits with every instruction set", bits_of_portable},
    {"a value that is not finite is noticed anywhere", notices_any_infinity},
    {"the loss scale cancels", loss_scale_cancels},
    {"the limit is kept", keeps_limit},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

/* ---- Known answers ------------------------------------------------------------------------- */

typedef struct answer {
    double g[4], loss_scale, norm, scale; /* scale before its rounding */
    int counts;
} answer;

static void play(known *k, const answer *a) {
    const double fixed[SCALING_COUNT] = {SCALING_FIXED, 1};
    double step[] = {7}, norm[] = {(double)(float)a->norm}, scale[] = {(double)(float)a->scale};
    known_set(k, CLIP_NORM_G, a->g, 4);
    known_set(k, CLIP_NORM_LOSS_SCALE, &a->loss_scale, 1);
    known_set(k, CLIP_NORM_SCALING, fixed, SCALING_COUNT);
    known_set(k, CLIP_NORM_STEP, step, 1);
    if (!known_run(k)) return;
    known_expect(k, CLIP_NORM_NORM, norm, 1, 0);
    known_expect(k, CLIP_NORM_SCALE, scale, 1, 0);
    step[0] += a->counts;
    known_expect(k, CLIP_NORM_STEP, step, 1, 0);
}

static void with_limit(known *k) {
    static const answer answers[] = {
        {{3, 0, -4, 0}, 1, 5, 2.0 / (5 + 1e-6), 1},
        {{3, 0, -4, 0}, 2, 2.5, 2.0 / (2.5 + 1e-6) / 2, 1},
        {{1, 1, 1, -1}, 1, 2, 2.0 / (2 + 1e-6), 1},
        {{0.5, 0.5, 0.5, -0.5}, 1, 1, 1, 1},
        {{0, 0, 0, -0.0}, 8, 0, 0.125, 1},
        {{3e38, 3e38, 0, 0}, 1024, 3e38 * 1.4142135623730951 / 1024, 2.0 / (3e38 * 1.4142135623730951), 1},
        {{3e38, 3e38, 0, 0}, 1, INFINITY, NAN, 0}, /* beyond f32 */
        {{1, NAN, 0, 0}, 1, NAN, NAN, 0},
        {{1, 0, 0, -INFINITY}, 1, INFINITY, NAN, 0},
        {{1, 0, 0, 0}, 0, INFINITY, NAN, 0},
        {{0, 0, 0, 0}, 0, NAN, NAN, 0},
        {{1, 0, 0, 0}, NAN, NAN, NAN, 0},
        {{0, 0, 0, 0}, 1e-40, 0, NAN, 0}, /* 1 / loss_scale is beyond f32 */
    };
    for (size_t j = 0; j < sizeof answers / sizeof answers[0]; j++) play(k, &answers[j]);
}

static void without_limit(known *k) {
    static const answer answers[] = {
        {{3, 0, -4, 0}, 1, 5, 1, 1},
        {{300, 0, -400, 0}, 4, 125, 0.25, 1},
        {{0, 0, 0, 0}, 3, 0, 1.0 / 3, 1},
        {{NAN, 0, 0, 0}, 1, NAN, NAN, 0},
    };
    for (size_t j = 0; j < sizeof answers / sizeof answers[0]; j++) play(k, &answers[j]);
}

/* A float that adds up squares would stand still at 2^24. */
static void long_sums(known *k) {
    rig_set_all(&k->rig, CLIP_NORM_G, 0, 1);
    rig_set(&k->rig, CLIP_NORM_G, 0, 0, 4096);
    rig_set(&k->rig, CLIP_NORM_LOSS_SCALE, 0, 0, 1);
    rig_set(&k->rig, CLIP_NORM_SCALING, 0, SCALING_BATCHES, 1);
    double norm[] = {(double)(float)sqrt(16777216.0 + 19999)};
    if (known_run(k)) known_expect(k, CLIP_NORM_NORM, norm, 1, 0);
}

/* Gradients in half precision count as the others do, and come back in f32. */
static void casts_on_the_way(known *k) {
    static const double g[] = {2}, h[] = {0.333251953125, -4, 65504}, one[] = {1}, step[] = {7};
    const double fixed[SCALING_COUNT] = {SCALING_FIXED, 1};
    const double norm[] = {(double)(float)sqrt(4 + h[0] * h[0] + 16 + 65504.0 * 65504.0)};
    known_set(k, CLIP_NORM_G, g, 1);
    known_set(k, CLIP_NORM_H, h, 3);
    known_set(k, CLIP_NORM_LOSS_SCALE, one, 1);
    known_set(k, CLIP_NORM_SCALING, fixed, SCALING_COUNT);
    known_set(k, CLIP_NORM_STEP, step, 1);
    if (!known_run(k)) return;
    known_expect(k, CLIP_NORM_Y, h, 3, 0);
    known_expect(k, CLIP_NORM_NORM, norm, 1, 0);
}

/* ---- The factor of the loss ---------------------------------------------------------------- */

typedef struct scaling_case {
    double g, loss, loss_scale, table[SCALING_COUNT]; /* before */
    double scale, next, after[SCALING_COUNT];         /* expected */
} scaling_case;

static void play_scaling(known *k, const scaling_case *c) {
    const double g[4] = {c->g, 0, 0, 0}, step[] = {7}, counted[] = {isnan(c->scale) ? 7 : 8};
    known_set(k, CLIP_NORM_G, g, 4);
    known_set(k, CLIP_NORM_LOSS, &c->loss, 1);
    known_set(k, CLIP_NORM_LOSS_SCALE, &c->loss_scale, 1);
    known_set(k, CLIP_NORM_SCALING, c->table, SCALING_COUNT);
    known_set(k, CLIP_NORM_STEP, step, 1);
    if (!known_run(k)) return;
    known_expect(k, CLIP_NORM_SCALE, &c->scale, 1, 0);
    known_expect(k, CLIP_NORM_LOSS_SCALE, &c->next, 1, 0);
    known_expect(k, CLIP_NORM_SCALING, c->after, SCALING_COUNT, 0);
    known_expect(k, CLIP_NORM_STEP, counted, 1, 0);
}

static void follows_overflows(known *k) {
    enum { FIXED = SCALING_FIXED, HALTS = SCALING_HALTS, DYNAMIC = SCALING_DYNAMIC };
    static const scaling_case cases[] = {
        {1, 1, 65536, {DYNAMIC, 1, 0, 0, 0}, 1.0 / 65536, 65536, {DYNAMIC, 1, 1, 0, 0}},
        {1, 1, 1024, {DYNAMIC, 4, 5, 3, 9}, 1.0 / 4096, 1024, {DYNAMIC, 4, 6, 0, 9}},
        {1, 1, 1024, {DYNAMIC, 1, 1998, 0, 2}, 1.0 / 1024, 1024, {DYNAMIC, 1, 1999, 0, 2}},
        {1, 1, 1024, {DYNAMIC, 1, 1999, 0, 2}, 1.0 / 1024, 2048, {DYNAMIC, 1, 0, 0, 2}},
        {1, 1, 4294967296.0, {DYNAMIC, 1, 1999, 0, 2}, 1.0 / 4294967296.0, 4294967296.0, {DYNAMIC, 1, 0, 0, 2}},
        {INFINITY, 1, 1024, {DYNAMIC, 1, 1999, 0, 2}, NAN, 512, {DYNAMIC, 1, 0, 1, 3}},
        {INFINITY, 1, 1024, {DYNAMIC, 1, 0, 19, 30}, NAN, 512, {DYNAMIC, 1, 0, 20, 31}},
        {INFINITY, 1, 1024, {DYNAMIC, 1, 0, 20, 30}, NAN, NAN, {DYNAMIC, 1, 0, 21, 31}},
        {NAN, 1, 1.0 / 512, {DYNAMIC, 1, 0, 0, 0}, NAN, 1.0 / 1024, {DYNAMIC, 1, 0, 1, 1}},
        {NAN, 1, 1.0 / 1024, {DYNAMIC, 1, 0, 0, 0}, NAN, NAN, {DYNAMIC, 1, 0, 1, 1}},
        {1, INFINITY, 1024, {DYNAMIC, 1, 5, 0, 0}, NAN, NAN, {DYNAMIC, 1, 0, 1, 1}},
        {1, NAN, 1, {HALTS, 1, 0, 0, 0}, NAN, NAN, {HALTS, 1, 0, 1, 1}},
        {NAN, 1, 1, {HALTS, 1, 0, 0, 0}, NAN, NAN, {HALTS, 1, 0, 1, 1}},
        {1, 1, NAN, {HALTS, 1, 0, 1, 1}, NAN, NAN, {HALTS, 1, 0, 2, 2}},
        {1, 1, 1, {HALTS, 2, 0, 0, 0}, 0.5, 1, {HALTS, 2, 0, 0, 0}},
        {NAN, 1, 8, {FIXED, 1, 0, 0, 0}, NAN, 8, {FIXED, 1, 0, 1, 1}},
        {1, INFINITY, 8, {FIXED, 1, 0, 0, 0}, NAN, 8, {FIXED, 1, 0, 1, 1}},
    };
    for (size_t j = 0; j < sizeof cases / sizeof cases[0]; j++) play_scaling(k, &cases[j]);
}

static void scenarios(suite *s) {
    known_each(s, "clip_norm:f32:c4", follows_overflows);
    known_each(s, "clip_norm:f16:c4", follows_overflows);
    known_each(s, "clip_norm:f32:c4:limit2", with_limit);
    known_each(s, "clip_norm:bf16:c4:limit2", with_limit);
    known_each(s, "clip_norm:f32:c4", without_limit);
    known_each(s, "clip_norm:f16:c4", without_limit);
    known_each(s, "clip_norm:f32:c20000", long_sums);
    known_each(s, "clip_norm:f16:c4:zi3", casts_on_the_way);
    known_refused(s, "clip_norm:c4:limit-1", "limit");
    known_refused(s, "clip_norm:f16:c4:zi5", "at most c, got 5");
    known_refused(s, "clip_norm:n2:c4,4", "from 1 to 1");
}

int main(int argc, char **argv) {
    return cases_main(argc, argv,
                      &(op_tests){.op = BRAID_OP_CLIP_NORM, .properties = properties, .scenarios = scenarios});
}
