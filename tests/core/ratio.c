/*
 * Tests of ratios: intervals of known samples and known ratios by hand; then thousands of made-up races whose truth is
 * known, under noise, long tails, drift, shifts and disturbances that last, and how many false claims come of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "core/ratio.h"

#include <math.h>

#include "core/rng.h"

/* ---- By hand -------------------------------------------------------------------------------- */

static void assert_near(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-3 * fabs(expected) + 1e-12)) fail_msg("expected %.6g, got %.6g", expected, got);
}

static void assert_interval(const double *samples, int count, const double low_median_high[3]) {
    interval i = interval_of(samples, count);
    assert_true(i.low == low_median_high[0]);
    assert_true(i.median == low_median_high[1]);
    assert_true(i.high == low_median_high[2]);
}

static void intervals_of_known_samples(void **state) {
    double samples[2 * RATIO_MAX_ROUNDS];
    (void)state;
    assert_interval(NULL, 0, (const double[]){0, 0, 0});
    assert_interval((const double[]){5}, 1, (const double[]){5, 5, 5});
    assert_interval((const double[]){5, 3}, 2, (const double[]){3, 4, 5});
    assert_interval((const double[]){9, 2, 4}, 3, (const double[]){2, 4, 9});
    assert_interval((const double[]){7, 1, 6, 2, 5, 3, 4}, 7, (const double[]){1, 4, 7});
    for (int j = 0; j < 2 * RATIO_MAX_ROUNDS; j++) samples[j] = 1 + (j * 17) % 31; /* 1 to 31 in disorder */
    assert_interval(samples, 31, (const double[]){11, 16, 22});
    for (int j = 0; j < 31; j++) samples[j] = j == 4 || j == 9 ? 1e6 : 3; /* outliers move nothing */
    assert_interval(samples, 31, (const double[]){3, 3, 3});
    for (int j = 0; j < 2 * RATIO_MAX_ROUNDS; j++) samples[j] = j < RATIO_MAX_ROUNDS ? 1 : 2;
    assert_interval(samples, 2 * RATIO_MAX_ROUNDS, (const double[]){1, 1, 1}); /* no more than its room */
}

/* How often the interval of `count` samples holds the true median: exact, by counting heads. */
static double coverage(int count) {
    double samples[RATIO_MAX_ROUNDS] = {0}, held = 0, ways = 1;
    for (int j = 0; j < count; j++) samples[j] = j + 1;
    interval i = interval_of(samples, count);
    for (int below = 0; below <= count; below++) { /* `below` samples lie under the true median */
        if (below >= i.low && below < i.high) held += ways;
        ways = ways * (count - below) / (below + 1);
    }
    return held / pow(2, count);
}

static void intervals_hold_the_median_as_often_as_they_say(void **state) {
    (void)state;
    for (int count = 6; count <= RATIO_MAX_ROUNDS; count++) {
        assert_true(coverage(count) >= 0.947);
        assert_true(coverage(count) <= 0.99);
    }
}

/* Four groups of one block, with the ratios 1.1, 1.2, 1.1 and 1.2: mean log 0.13882, deviation 0.050236, error
 * 0.025118, 3 degrees of freedom, whose quantiles are 3.182 and 12.924. */
static void a_ratio_by_hand(void **state) {
    const double a[8] = {1.0, 1.2, 1.2, 1.2, 1.1, 1.1, 2.4, 2.4}, b[8] = {1, 1, 1, 1, 1, 1, 2, 2};
    (void)state;
    const ratio r = ratio_of_rounds(a, b, 8);
    assert_int_equal(r.freedom, 3);
    assert_near(r.log, 0.138816);
    assert_near(r.error, 0.0251179);
    const interval choice = ratio_interval(&r, CERTAIN_TO_CHOOSE, 0), claimed = ratio_interval(&r, CERTAIN_TO_CLAIM, 0),
                   floored = ratio_interval(&r, CERTAIN_TO_CHOOSE, 0.5);
    assert_near(choice.median, exp(0.138816));
    assert_near(choice.low, exp(0.138816 - 3.182 * 0.0251179));
    assert_near(choice.high, exp(0.138816 + 3.182 * 0.0251179));
    assert_near(claimed.low, exp(0.138816 - 12.924 * 0.0251179));
    assert_near(floored.high, 1.5 * choice.high);
    assert_near(floored.low, choice.low / 1.5);
}

static void little_says_nothing(void **state) {
    const double a[3] = {1, 1, 1}, b[3] = {9, 9, 9};
    (void)state;
    for (int rounds = 0; rounds <= 3; rounds++) {
        const ratio r = ratio_of_rounds(a, b, rounds);
        const interval i = ratio_interval(&r, CERTAIN_TO_CHOOSE, 0);
        assert_int_equal(r.freedom, 0);
        assert_true(i.low == 0 && isinf(i.high));
        assert_int_equal(claim_of(&i), CLAIM_AMBIGUOUS);
    }
}

/* An interval over more than a thousandfold each way is as none. */
static void far_too_wide_says_nothing(void **state) {
    (void)state;
    const ratio wider = {50, 2, 7};
    const interval w = ratio_interval(&wider, CERTAIN_TO_CLAIM, 0);
    assert_true(w.low == 0 && isinf(w.high));
    assert_int_equal(claim_of(&w), CLAIM_AMBIGUOUS);
}

/* The order within a block takes off a drift, whatever its slope. */
static void drift_is_taken_off(void **state) {
    double a[64], b[64];
    (void)state;
    for (int block = 0; block < 32; block++) {
        const double t = 4.0 * block;
        a[2 * block] = 1 + 0.01 * t, b[2 * block] = 1 + 0.01 * (t + 1);
        b[2 * block + 1] = 1 + 0.01 * (t + 2), a[2 * block + 1] = 1 + 0.01 * (t + 3);
    }
    const ratio r = ratio_of_rounds(a, b, 64);
    assert_true(fabs(r.log) < 1e-12 && r.error < 1e-12);
}

/* Students's quantiles beyond the table: 4.0727 and 2.1314 for 15, 3.6460 and 2.0423 for 30. */
static void many_degrees_of_freedom(void **state) {
    static const double expected[2][2] = {{2.1314, 4.0727}, {2.0423, 3.6460}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const ratio r = {0, 1e-3, 15 * (i + 1)};
        for (int how = 0; how < 2; how++)
            assert_near(log(ratio_interval(&r, (certainty)how, 0).high), 1e-3 * expected[i][how]);
    }
}

static void claims_of_intervals(void **state) {
    static const struct {
        interval i;
        claim expected;
    } cases[] = {{{0.9, 0.8, 0.999}, CLAIM_FAST},
                 {{0.9, 0.8, 1}, CLAIM_AMBIGUOUS},
                 {{1.2, 1.001, 1.5}, CLAIM_SLOW},
                 {{1, 0.96, 1.04}, CLAIM_SAME},
                 {{1, 0.96, 1.06}, CLAIM_AMBIGUOUS},
                 {{1, 0.94, 1.04}, CLAIM_AMBIGUOUS},
                 {{1, 1, 1}, CLAIM_SAME},
                 {{0, 0, 0}, CLAIM_NONE},
                 {{(double)NAN, 0, 2}, CLAIM_NONE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(claim_of(&cases[i].i), cases[i].expected);
}

/* Two runs against two: means log 1.05 apart, errors 0.01 each, Welch's 2 degrees of freedom. */
static void runs_by_hand(void **state) {
    const double a[2] = {1.05 * exp(0.01), 1.05 * exp(-0.01)}, b[2] = {exp(0.01), exp(-0.01)};
    (void)state;
    const ratio r = ratio_of_runs(a, 2, b, 2), one = ratio_of_runs(a, 1, b, 2), none = ratio_of_runs(a, 0, b, 2);
    assert_near(r.log, log(1.05));
    assert_near(r.error, 0.01 * sqrt(2));
    assert_int_equal(r.freedom, 2);
    assert_int_equal(one.freedom, 0);
    assert_int_equal(none.freedom, 0);
}

static void ratios_over_the_same_third(void **state) {
    const ratio a = {0.5, 0.01, 9}, b = {0.2, 0.02, 4}, itself = ratio_itself();
    (void)state;
    const ratio ab = ratio_between(&a, &b), a0 = ratio_between(&a, &itself);
    assert_near(ab.log, 0.3);
    assert_near(ab.error, 0.03);
    assert_int_equal(ab.freedom, 4);
    assert_true(a0.log == a.log && a0.error == a.error && a0.freedom == a.freedom);
}

/* ---- Made-up races -------------------------------------------------------------------------- */

/* What disturbs a machine: each of these changes the time of a batch. */
typedef struct machine {
    const char *name;
    double noise;             /* normal, of every batch */
    double tail;              /* chance that a batch is interrupted, for up to its own length */
    double drift;             /* of the clock, over the whole race */
    double shift;             /* chance that with a batch the clock changes, to 1 to 1.2 of its time */
    double least;             /* share of races in which the truth must be found */
    double last, last_length; /* chance that a disturbance of 30 % begins, and how many batches it lasts */
} machine;

static const machine machines[] = {
    {"steady", .noise = 0.01, .least = 0.99},
    {"long tails", .noise = 0.01, .tail = 0.15, .least = 0.75},
    {"drift", .noise = 0.005, .drift = 0.5, .least = 0.99},
    {"shifts", .noise = 0.005, .shift = 0.05, .least = 0.9},
    {"disturbances that last", .noise = 0.005, .last = 0.02, .last_length = 25},
    {"all", .noise = 0.02, .tail = 0.1, .drift = 0.2, .shift = 0.02, .last = 0.01, .last_length = 15},
};
#define MACHINES (int)(sizeof machines / sizeof machines[0])
#define CANDIDATES 3
#define RACES 6000

typedef struct clock_of {
    const machine *m;
    rng random;
    double at, level; /* share of the race; of the clock */
    int disturbed;    /* batches that a disturbance still lasts */
} clock_of;

static double batch(clock_of *c, double truth, double step) {
    const machine *m = c->m;
    c->at += step;
    if (rng_uniform(&c->random) < m->shift) c->level = 1 + 0.2 * rng_uniform(&c->random);
    if (c->disturbed > 0) c->disturbed--;
    if (m->last > 0 && rng_uniform(&c->random) < m->last)
        c->disturbed = (int)(m->last_length * (0.5 + rng_uniform(&c->random)));
    double seconds = truth * c->level * (1 + m->drift * c->at) * (1 + m->noise * rng_normal(&c->random));
    if (c->disturbed > 0) seconds *= 1.3;
    return rng_uniform(&c->random) < m->tail ? seconds * (1 + rng_uniform(&c->random)) : seconds;
}

/* The claim of candidate 1 over candidate 0, of which it takes `truth` times as long. */
static claim race_once(clock_of *c, int rounds, double truth, int in_turns, double floor) {
    double seconds[CANDIDATES][RATIO_MAX_ROUNDS];
    const double step = 1.0 / (rounds * CANDIDATES);
    for (int i = 0; i < rounds * CANDIDATES; i++) {
        const int round = in_turns ? i / CANDIDATES : i % rounds, place = in_turns ? i % CANDIDATES : i / rounds;
        const int j = round % 2 && in_turns ? CANDIDATES - 1 - place : place;
        seconds[j][round] = batch(c, j == 1 ? truth : 1, step);
    }
    const ratio r = ratio_of_rounds(seconds[1], seconds[0], rounds);
    const interval i = ratio_interval(&r, CERTAIN_TO_CLAIM, floor);
    return claim_of(&i);
}

/* How many of so many races end with each claim. */
static void count_claims(const machine *m, int rounds, double truth, int in_turns, int counts[5]) {
    const rng seeded = {.seed = 7, .stream = (uint64_t)rounds};
    clock_of c = {.m = m, .random = seeded};
    for (int k = 0; k < 5; k++) counts[k] = 0;
    for (int k = 0; k < RACES; k++) {
        c.at = 0;
        c.level = 1;
        c.disturbed = 0;
        counts[race_once(&c, rounds, truth, in_turns, 0)]++;
    }
}

/* 1 of 1000 may be wrong, without any floor; 6 of 6,000 are expected then, and more than 15 would be once in 2,000. */
static void false_claims_are_as_rare_as_they_say(void **state) {
    static const int rounds[] = {8, 14, 30, 64};
    (void)state;
    for (int m = 0; m < MACHINES; m++) {
        for (int k = 0; k < 4; k++) {
            int counts[5];
            count_claims(&machines[m], rounds[k], 1, 1, counts);
            const int wrong = counts[CLAIM_FAST] + counts[CLAIM_SLOW];
            if (wrong > 15) fail_msg("%s, %d rounds: %d false claims in %d", machines[m].name, rounds[k], wrong, RACES);
        }
    }
}

/* The count can fail: the same races one candidate after the other, not in turns, are full of false claims. */
static void without_turns_claims_are_false(void **state) {
    (void)state;
    for (int m = 2; m < MACHINES; m++) {
        int counts[5];
        count_claims(&machines[m], 30, 1, 0, counts);
        if (counts[CLAIM_FAST] + counts[CLAIM_SLOW] < RACES / 100)
            fail_msg("%s: only %d false claims", machines[m].name, counts[CLAIM_FAST] + counts[CLAIM_SLOW]);
    }
}

/* Five percent more is found, and equal times are told to be the same; less often, the more disturbed the machine. */
static void what_is_there_is_found(void **state) {
    (void)state;
    for (int m = 0; m < MACHINES; m++) {
        int slow[5], same[5];
        count_claims(&machines[m], 64, 1.05, 1, slow);
        count_claims(&machines[m], 64, 1, 1, same);
        print_message("%s: of %d races %d find 5 %%, %d tell the same\n", machines[m].name, RACES, slow[CLAIM_SLOW],
                      same[CLAIM_SAME]);
        assert_int_equal(slow[CLAIM_FAST], 0);
        assert_true(slow[CLAIM_SLOW] >= machines[m].least * RACES && same[CLAIM_SAME] >= machines[m].least * RACES);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_of_known_samples),
        cmocka_unit_test(intervals_hold_the_median_as_often_as_they_say),
        cmocka_unit_test(a_ratio_by_hand),
        cmocka_unit_test(little_says_nothing),
        cmocka_unit_test(far_too_wide_says_nothing),
        cmocka_unit_test(drift_is_taken_off),
        cmocka_unit_test(many_degrees_of_freedom),
        cmocka_unit_test(claims_of_intervals),
        cmocka_unit_test(runs_by_hand),
        cmocka_unit_test(ratios_over_the_same_third),
        cmocka_unit_test(false_claims_are_as_rare_as_they_say),
        cmocka_unit_test(without_turns_claims_are_false),
        cmocka_unit_test(what_is_there_is_found),
    };
    return cmocka_run_group_tests_name("ratio", tests, NULL, NULL);
}
