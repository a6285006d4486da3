/*
 * The case tests of dropout: see tests/support/cases.h. Kernels and the reference must agree to the bit, and the
 * bits must look random: shares and joint shares of kept values lie within five standard deviations of what
 * independent draws give (all seeds are fixed, so these tests cannot fail by chance).
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "tests/support/cases.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

/* ---- Properties ---------------------------------------------------------------------------- */

static int input_of(const braid_problem *p) { return p->pass == BRAID_PASS_FWD ? DROPOUT_X : DROPOUT_Y; }
static int output_of(const braid_problem *p) { return p->pass == BRAID_PASS_FWD ? DROPOUT_Y : DROPOUT_X; }

static outcome equals_reference(trial *t) {
    rig mine = {0}, truth = {0};
    int out = output_of(t->problem);
    outcome found = HELD;
    if (t->kernel->backend == KERNEL_REF) return NOT_HERE;
    if (rig_create(&mine, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed) ||
        rig_create(&truth, t->problem, t->device, able_kernel(t->problem, t->device, 0), IMAGE_REAL, t->seed) ||
        rig_run(&mine) || rig_run(&truth))
        found = could_not_run(t);
    for (int i = 0; found == HELD && i < t->problem->streams; i++) {
        if (memcmp(rig_plane(&mine, out, i), rig_plane(&truth, out, i), mine.layout.plane_bytes[out][i]) != 0)
            found = broken(t, "other bits than the reference in stream %d", i);
    }
    rig_destroy(&mine);
    rig_destroy(&truth);
    return found;
}

/* The same problem in the other pass, or with another pitch, keeps the same elements: all inputs are 1. */
static outcome keeps_the_same(trial *t, const braid_problem *other) {
    rig a = {0}, b = {0};
    outcome found = HELD;
    if (kernel_refuses(t->kernel, other, t->device) && other->pass == t->problem->pass) return NOT_HERE;
    if (rig_create(&a, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed) ||
        rig_create(&b, other, t->device, able_kernel(other, t->device, 0), IMAGE_REAL, t->seed))
        found = could_not_run(t);
    for (int i = 0; found == HELD && i < t->problem->streams; i++) {
        rig_set_all(&a, input_of(t->problem), i, 1);
        rig_set_all(&b, input_of(other), i, 1);
    }
    if (found == HELD && (rig_run(&a) || rig_run(&b))) found = could_not_run(t);
    for (int i = 0; found == HELD && i < t->problem->streams; i++) {
        for (int64_t j = 0; found == HELD && j < rig_elements(&a, DROPOUT_X, i); j++) {
            if (rig_get(&a, output_of(t->problem), i, j) != rig_get(&b, output_of(other), i, j))
                found = broken(t, "element %lld of stream %d differs", (long long)j, i);
        }
    }
    rig_destroy(&a);
    rig_destroy(&b);
    return found;
}

static outcome gradient_drops_alike(trial *t) {
    braid_problem other = *t->problem;
    other.pass = t->problem->pass == BRAID_PASS_FWD ? BRAID_PASS_BWD_DATA : BRAID_PASS_FWD;
    return keeps_the_same(t, &other);
}

static outcome pitch_does_not_matter(trial *t) {
    braid_problem other = *t->problem;
    for (int i = 0; i < other.streams; i++) other.in_pitch[i] += 3;
    return keeps_the_same(t, &other);
}

static const property properties[] = {
    {"kernels equal the reference bit for bit", equals_reference},
    {"the gradient drops what the forward pass drops", gradient_drops_alike},
    {"the pitch does not matter", pitch_does_not_matter},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

/* ---- Known answers ------------------------------------------------------------------------- */

static void set_key(known *k, int64_t seed, int64_t step) {
    const int64_t key[2] = {seed, step};
    memcpy(rig_plane(&k->rig, DROPOUT_KEY, 0), key, sizeof key);
}

/* Seed 0, step 0: the published block of an empty counter and key, 6627e8d5 e169c58d bc57ac4c 9b00dbd8, of which the
 * first alone is less than half of 2^32. NaN and infinity are dropped like any other value. */
static void published(known *k) {
    static const double x[] = {NAN, 3, -5, INFINITY}, y[] = {0, 6, -10, INFINITY};
    set_key(k, 0, 0);
    known_set(k, input_of(&k->rig.problem), x, COUNT(x));
    if (known_run(k)) known_expect(k, output_of(&k->rig.problem), y, COUNT(y), 0);
}

/* The 24 bits of the first word are 0x6627e8 = 6694888, its share of 2^24 is exactly the rate: kept. */
static void at_the_limit(known *k) {
    static const double x[] = {1};
    const double y[] = {(double)(float)(1 / (1 - 6694888 * 0x1p-24))};
    set_key(k, 0, 0);
    known_set(k, DROPOUT_X, x, 1);
    if (known_run(k)) known_expect(k, DROPOUT_Y, y, 1, 0);
}

static void above_the_limit(known *k) {
    static const double x[] = {1}, y[] = {0};
    set_key(k, 0, 0);
    known_set(k, DROPOUT_X, x, 1);
    if (known_run(k)) known_expect(k, DROPOUT_Y, y, 1, 0);
}

static void none_is_dropped(known *k) {
    static const double x[] = {1, -0.0, NAN, -INFINITY, 0x1p-149, 0x1p127, 3};
    known_set(k, DROPOUT_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, DROPOUT_Y, x, COUNT(x), 0);
}

/* ---- Randomness ---------------------------------------------------------------------------- */

/* How many of `count` pairs, each true with the given chance, were true: five standard deviations at most. */
static void expect_share(known *k, const char *what, int64_t hits, int64_t count, double chance) {
    double away = fabs((double)hits - (double)count * chance), deviation = sqrt((double)count * chance * (1 - chance));
    suite_expect(k->s, away <= 5 * deviation, "%s with %s: %s: %lld of %lld, expected a share of %g", k->text,
                 k->rig.kernel->name, what, (long long)hits, (long long)count, chance);
}

/* Runs with all inputs 1 and tells which elements of plane i were kept. */
static void kept_of(known *k, int64_t seed, int64_t step, int i, unsigned char *kept) {
    set_key(k, seed, step);
    for (int j = 0; j < k->rig.problem.streams; j++) rig_set_all(&k->rig, DROPOUT_X, j, 1);
    if (!known_run(k)) return;
    for (int64_t j = 0; j < rig_elements(&k->rig, DROPOUT_Y, i); j++) kept[j] = rig_get(&k->rig, DROPOUT_Y, i, j) != 0;
}

static int64_t both(const unsigned char *a, const unsigned char *b, int64_t count) {
    int64_t hits = 0;
    for (int64_t j = 0; j < count; j++) hits += a[j] && b[j];
    return hits;
}

/* 40,960 values in each of two planes: the share kept, and the joint shares with neighbours of every distance up to
 * five, with the other plane, with the next step, with a step 2^32 on, and with the next seed. */
#define DRAWN 40960
static void looks_random(known *k) {
    static unsigned char kept[DRAWN], other[DRAWN];
    double chance = 1 - k->rig.problem.rate, square = chance * chance;
    kept_of(k, 20261115, 7, 0, kept);
    expect_share(k, "values kept", both(kept, kept, DRAWN), DRAWN, chance);
    for (int64_t apart = 1; apart <= 5; apart++)
        expect_share(k, "neighbours kept", both(kept, kept + apart, DRAWN - apart), DRAWN - apart, square);
    kept_of(k, 20261115, 7, 1, other);
    expect_share(k, "kept in both planes", both(kept, other, DRAWN), DRAWN, square);
    kept_of(k, 20261115, 8, 0, other);
    expect_share(k, "kept in both steps", both(kept, other, DRAWN), DRAWN, square);
    kept_of(k, 20261115, 7 + (INT64_C(1) << 32), 0, other);
    expect_share(k, "kept in both steps, far apart", both(kept, other, DRAWN), DRAWN, square);
    kept_of(k, 20261116, 7, 0, other);
    expect_share(k, "kept with both seeds", both(kept, other, DRAWN), DRAWN, square);
    kept_of(k, 20261115 + (INT64_C(1) << 32), 7, 0, other);
    expect_share(k, "kept with both seeds, far apart", both(kept, other, DRAWN), DRAWN, square);
}

/* The rule of docs/ops/dropout.md once more: number e of the sequence (seed, 16 step + i), its upper 24 bits. */
static void keeps_what_the_page_says(known *k) {
    static const double key[] = {77, 12345};
    known_set(k, DROPOUT_KEY, key, COUNT(key));
    for (int i = 0; i < 3; i++) rig_set_all(&k->rig, DROPOUT_X, i, 1);
    if (!known_run(k)) return;
    for (int i = 0; i < 3; i++) {
        rng numbers = {.seed = 77, .stream = 16 * 12345 + (uint64_t)i};
        for (int64_t e = 0; e < rig_elements(&k->rig, DROPOUT_Y, i); e++) {
            const double kept = (double)(rng_u32(&numbers) >> 8) / 0x1p24 >= 0.25 ? (double)(float)(1 / 0.75) : 0;
            const double got = rig_get(&k->rig, DROPOUT_Y, i, e);
            if (!suite_expect(k->s, got == kept, "%s: y[%lld] of stream %d expected %g, got %g", k->text, (long long)e,
                              i, kept, got))
                return;
        }
    }
}

static void scenarios(suite *s) {
    known_each(s, "dropout_fwd:f32:n3:b2:hw3x5:c7,1,4:rate0.25", keeps_what_the_page_says);
    known_each(s, "dropout_fwd:f32:b1:hw1x4:c1:rate0.5", published);
    known_each(s, "dropout_fwd:bf16:b1:hw1x1:c4:rate0.5:cp7", published);
    known_each(s, "dropout_fwd:f16:b1:hw2x1:c2:rate0.5:cp3", published);
    known_each(s, "dropout_bwd_data:f32:b2:hw1x2:c1:rate0.5:cp2", published);
    known_each(s, "dropout_fwd:f32:b1:hw1x1:c1:rate0.39904642105102539", at_the_limit);
    known_each(s, "dropout_fwd:f32:b1:hw1x1:c1:rate0.39904642105102544", above_the_limit);
    known_each(s, "dropout_fwd:f32:b1:hw1x1:c4:rate0.99999999", above_the_limit);
    known_each(s, "dropout_fwd:f32:b1:hw1x7:c1:rate0", none_is_dropped);
    known_each(s, "dropout_fwd:f32:n2:b4:hw16x16:c40:rate0.5", looks_random);
    known_each(s, "dropout_fwd:bf16:n2:b4:hw16x16:c40:rate0.1", looks_random);
    known_refused(s, "dropout_fwd:f32:b1:hw1x4:c1:rate1", "expected rate of at least 0 and below 1, got 1");
    known_refused(s, "dropout_fwd:f32:b1:hw1x4:c1:rate=-0.5", "expected rate (rate) of at least 0 and at most 1");
}

static void gradients(suite *s) {
    static const int slots[3] = {DROPOUT_X, DROPOUT_Y, DROPOUT_X};
    known_gradient(s, "dropout_fwd:f64:n2:b2:hw3x4:c5,3:rate0.5", slots, NULL);
    known_gradient(s, "dropout_fwd:f64:n3:b2:hw3x4:c5,3,1:rate0.25:cp8,4,2", slots, NULL);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){.op = BRAID_OP_DROPOUT, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
