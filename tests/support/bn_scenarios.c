/*
 * Situations of batch normalisation with known answers: running statistics, blanked samples, constant
 * channels, a mean far from zero. Every kernel of the op under test takes its place in the chain in turn.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/bn_chain.h"

#include <math.h>
#include <string.h>

typedef struct scene {
    suite *s;
    const kernel *kernel;
    const char *name;
} scene;

static void expect_near(const scene *e, const char *what, double got, double expected, double tolerance) {
    suite_expect(e->s, fabs(got - expected) <= tolerance, "%s with %s: %s: expected %.9g, got %.9g", e->name,
                 e->kernel->name, what, expected, got);
}

/* gamma 1, beta 0, running statistics 0 and 1, no batch seen. */
static void start_fresh(bn_chain *c) {
    for (int i = 0; i < c->finalize.problem.streams; i++) {
        rig_set_all(&c->finalize, BN_FINALIZE_GAMMA, i, 1);
        rig_set_all(&c->finalize, BN_FINALIZE_BETA, i, 0);
        rig_set_all(&c->finalize, BN_FINALIZE_RUNNING_MEAN, i, 0);
        rig_set_all(&c->finalize, BN_FINALIZE_RUNNING_VAR, i, 1);
    }
    rig_set_all(&c->finalize, BN_FINALIZE_BATCHES, 0, 0);
}

static double running(const bn_chain *c, int slot, int stream) { return rig_get(&c->finalize, slot, stream, 0); }
static double batches(const bn_chain *c) { return rig_get(&c->finalize, BN_FINALIZE_BATCHES, 0, 0); }

/* The largest magnitude from element `first` on; NaN where one is NaN. */
static double largest(const rig *r, int slot, int i, int64_t first) {
    double most = 0;
    for (int64_t j = first; j < rig_elements(r, slot, i); j++) {
        double value = fabs(rig_get(r, slot, i, j));
        if (!(value <= most)) most = value;
        if (isnan(value)) break;
    }
    return most;
}

/* Blanks the samples of `bits` in stream i. */
static void blank(bn_chain *c, int i, uint32_t bits) { *(uint32_t *)rig_plane(&c->stats, BN_STATS_MASK, i) = bits; }

static int forward(const scene *e, bn_chain *c) {
    braid_status status = bn_chain_forward(c);
    return suite_expect(e->s, status == BRAID_OK, "%s with %s: %s", e->name, e->kernel->name, braid_message());
}

/* ---- Train --------------------------------------------------------------------------------- */

/* 10 on four of eight samples, the others blanked and NaN: the running mean goes to 1, not to 0.5; a stream with
 * all samples does the same. y is 0, because a constant channel has no spread, and the batch is counted once. */
static void constant_on_half(const scene *e, bn_chain *c) {
    int64_t sample = rig_elements(&c->stats, BN_STATS_X, 0) / 8;
    for (int i = 0; i < 2; i++) rig_set_all(&c->stats, BN_STATS_X, i, 10);
    for (int64_t j = 4 * sample; j < 8 * sample; j++) rig_set(&c->stats, BN_STATS_X, 0, j, NAN);
    blank(c, 0, 0xF0);
    blank(c, 1, 0);
    if (!forward(e, c)) return;
    for (int i = 0; i < 2; i++) {
        expect_near(e, "running mean", running(c, BN_FINALIZE_RUNNING_MEAN, i), 1, 1e-6);
        expect_near(e, "running variance", running(c, BN_FINALIZE_RUNNING_VAR, i), 0.9, 1e-6);
        expect_near(e, "variance", rig_get(&c->stats, BN_STATS_VAR, i, 0), 0, 0);
        expect_near(e, "largest y", largest(&c->apply, BN_APPLY_Y, i, 0), 0, 1e-3);
    }
    expect_near(e, "largest y of blanked samples", largest(&c->apply, BN_APPLY_Y, 0, 4 * sample), 0, 0);
    expect_near(e, "batches", batches(c), 1, 0);
}

/* A stream without an active sample: its running statistics keep their bits, y is 0, the other stream moves. */
static void all_blanked(const scene *e, bn_chain *c) {
    rig_set_all(&c->finalize, BN_FINALIZE_RUNNING_MEAN, 0, 0.3);
    rig_set_all(&c->finalize, BN_FINALIZE_RUNNING_VAR, 0, 0.7);
    rig_set_all(&c->stats, BN_STATS_X, 0, NAN);
    rig_set_all(&c->stats, BN_STATS_X, 1, 10);
    blank(c, 0, 0xFF);
    blank(c, 1, 0);
    if (!forward(e, c)) return;
    expect_near(e, "running mean of the blanked stream", running(c, BN_FINALIZE_RUNNING_MEAN, 0), 0.3f, 0);
    expect_near(e, "running variance of the blanked stream", running(c, BN_FINALIZE_RUNNING_VAR, 0), 0.7f, 0);
    expect_near(e, "running mean of the other stream", running(c, BN_FINALIZE_RUNNING_MEAN, 1), 1, 1e-6);
    expect_near(e, "batches", batches(c), 1, 0);
    expect_near(e, "largest y of the blanked stream", largest(&c->apply, BN_APPLY_Y, 0, 0), 0, 0);
    int status = bn_chain_backward(c) == BRAID_OK;
    suite_expect(e->s, status, "%s with %s: %s", e->name, e->kernel->name, braid_message());
    expect_near(e, "dgamma of the blanked stream", rig_get(&c->sums, BN_BWD_REDUCE_DGAMMA, 0, 0), 0, 0);
    expect_near(e, "largest dx of the blanked stream", largest(&c->bn_bwd_apply, BN_BWD_APPLY_DX, 0, 0), 0, 0);
}

/* Sets the values 1, 2, ... m in every channel, so that mean and variance are known. */
static void count_up(bn_chain *c, double scale) {
    for (int i = 0; i < c->stats.problem.streams; i++) {
        int64_t channels = c->stats.problem.in_channels[i];
        for (int64_t j = 0; j < rig_elements(&c->stats, BN_STATS_X, i); j++) {
            rig_set(&c->stats, BN_STATS_X, i, j, scale * (double)(j / channels + 1));
        }
    }
    blank(c, 0, 0);
    blank(c, 1, 0);
}

/* The variance of 1..m, biased: (m^2 - 1) / 12. */
static double spread(double m) { return (m * m - 1) / 12; }

/* The batch is normalised with the biased variance, the running statistics take the unbiased one. */
static void biased_and_unbiased(const scene *e, bn_chain *c) {
    double m = (double)(rig_elements(&c->stats, BN_STATS_X, 0) / c->stats.problem.in_channels[0]);
    count_up(c, 1);
    if (!forward(e, c)) return;
    double rstd = 1 / sqrt(spread(m) + 1e-5);
    expect_near(e, "biased variance", rig_get(&c->stats, BN_STATS_VAR, 0, 0), spread(m), 1e-4);
    expect_near(e, "running variance", running(c, BN_FINALIZE_RUNNING_VAR, 0), 0.9 + 0.1 * spread(m) * m / (m - 1),
                1e-4);
    expect_near(e, "running mean", running(c, BN_FINALIZE_RUNNING_MEAN, 0), 0.1 * (m + 1) / 2, 1e-5);
    expect_near(e, "first y", rig_get(&c->apply, BN_APPLY_Y, 0, 0), (1 - (m + 1) / 2) * rstd, 1e-5);
}

/* The plain mean of all batches so far. */
static void cumulative(const scene *e, bn_chain *c) {
    double m = (double)(rig_elements(&c->stats, BN_STATS_X, 0) / c->stats.problem.in_channels[0]);
    double first = (m + 1) / 2, variance = spread(m) * m / (m - 1);
    for (int round = 1; round <= 3; round++) {
        double mean_scale = (round + 1) / 2.0,
               square_scale = (round + 1) * (2 * round + 1) / 6.0; /* of scales 1..round */
        count_up(c, round);
        if (!forward(e, c)) return;
        expect_near(e, "running mean", running(c, BN_FINALIZE_RUNNING_MEAN, 1), first * mean_scale, 1e-4 * first);
        expect_near(e, "running variance", running(c, BN_FINALIZE_RUNNING_VAR, 1), variance * square_scale,
                    1e-4 * variance);
        expect_near(e, "batches", batches(c), round, 0);
    }
}

/* A mean a thousand times the spread: a variance from the mean of squares would be wrong by 6 %. */
static void far_from_zero(const scene *e, bn_chain *c) {
    int64_t channels = c->stats.problem.in_channels[0], elements = rig_elements(&c->stats, BN_STATS_X, 0);
    double sum = 0, squares = 0, count = (double)(elements / channels);
    rng r = {.seed = e->s->seed, .stream = 3};
    count_up(c, 1);
    for (int64_t j = 0; j < elements; j++) rig_set(&c->stats, BN_STATS_X, 0, j, 1000 + rng_normal(&r));
    for (int64_t j = 0; j < elements; j += channels) sum += rig_get(&c->stats, BN_STATS_X, 0, j);
    for (int64_t j = 0; j < elements; j += channels)
        squares += pow(rig_get(&c->stats, BN_STATS_X, 0, j) - sum / count, 2);
    if (!forward(e, c)) return;
    double variance = squares / count, y = 0;
    for (int64_t j = 0; j < elements; j += channels) y += pow(rig_get(&c->apply, BN_APPLY_Y, 0, j), 2);
    expect_near(e, "mean", rig_get(&c->stats, BN_STATS_MEAN, 0, 0), sum / count, 1e-3);
    expect_near(e, "variance", rig_get(&c->stats, BN_STATS_VAR, 0, 0), variance, 1e-3 * variance);
    expect_near(e, "variance of y", y / count, 1, 1e-2);
}

/* ---- Eval ---------------------------------------------------------------------------------- */

/* Running statistics normalise and stay as they are. */
static void eval_keeps_still(const scene *e, bn_chain *c) {
    count_up(c, 1);
    for (int i = 0; i < 2; i++) {
        rig_set_all(&c->finalize, BN_FINALIZE_RUNNING_MEAN, i, 2);
        rig_set_all(&c->finalize, BN_FINALIZE_RUNNING_VAR, i, 4);
        rig_set_all(&c->finalize, BN_FINALIZE_GAMMA, i, 3);
        rig_set_all(&c->finalize, BN_FINALIZE_BETA, i, 5);
        rig_set_all(&c->finalize, BN_FINALIZE_MEAN, i, NAN); /* ignored */
        rig_set_all(&c->finalize, BN_FINALIZE_VAR, i, NAN);
    }
    rig_set_all(&c->finalize, BN_FINALIZE_BATCHES, 0, 6);
    if (!forward(e, c)) return;
    expect_near(e, "running mean", running(c, BN_FINALIZE_RUNNING_MEAN, 1), 2, 0);
    expect_near(e, "running variance", running(c, BN_FINALIZE_RUNNING_VAR, 1), 4, 0);
    expect_near(e, "batches", batches(c), 6, 0);
    expect_near(e, "first y", rig_get(&c->apply, BN_APPLY_Y, 1, 0), (1 - 2) / sqrt(4 + 1e-5) * 3 + 5, 1e-5);
    int status = bn_chain_backward(c) == BRAID_OK;
    suite_expect(e->s, status, "%s with %s: %s", e->name, e->kernel->name, braid_message());
    double dy = rig_get(&c->sums, BN_BWD_REDUCE_DY, 1, 0);
    expect_near(e, "first dx", rig_get(&c->bn_bwd_apply, BN_BWD_APPLY_DX, 1, 0), dy * 3 / sqrt(4 + 1e-5), 1e-5);
}

/* ---- All ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*play)(const scene *e, bn_chain *c);
    braid_phase phase;
    braid_average average;
} scenes[] = {
    {"constant 10 on half of the samples", constant_on_half, BRAID_PHASE_TRAIN, BRAID_AVERAGE_EXPONENTIAL},
    {"a stream without active samples", all_blanked, BRAID_PHASE_TRAIN, BRAID_AVERAGE_EXPONENTIAL},
    {"biased and unbiased variance", biased_and_unbiased, BRAID_PHASE_TRAIN, BRAID_AVERAGE_EXPONENTIAL},
    {"cumulative average", cumulative, BRAID_PHASE_TRAIN, BRAID_AVERAGE_CUMULATIVE},
    {"mean a thousand times the spread", far_from_zero, BRAID_PHASE_TRAIN, BRAID_AVERAGE_EXPONENTIAL},
    {"eval keeps the running statistics", eval_keeps_still, BRAID_PHASE_EVAL, BRAID_AVERAGE_EXPONENTIAL},
};

static braid_problem scene_problem(size_t which) {
    return (braid_problem){.dtype = BRAID_DTYPE_F32,
                           .streams = 2,
                           .batch = 8,
                           .size = {3, 5},
                           .in_channels = {19, 3},
                           .in_pitch = {20, 4},
                           .mask = 1,
                           .phase = scenes[which].phase,
                           .average = scenes[which].average};
}

static void play(suite *s, const kernel *k, size_t which) {
    scene e = {s, k, scenes[which].name};
    braid_problem whole = scene_problem(which), own = bn_problem_of(&whole, k->op);
    bn_chain c;
    braid_status status = braid_problem_check(&own);
    if (!status && kernel_refuses(k, &own, s->device)) return;
    if (!status) status = bn_chain_create(&c, &whole, s->device, k, s->seed);
    if (!suite_expect(s, status == BRAID_OK, "%s: %s", e.name, braid_message())) return;
    start_fresh(&c);
    scenes[which].play(&e, &c);
    bn_chain_destroy(&c);
}

void bn_scenarios(suite *s) {
    for (int j = 0; j < kernel_count(); j++) {
        for (size_t which = 0; kernel_at(j)->op == s->op && which < sizeof scenes / sizeof scenes[0]; which++) {
            play(s, kernel_at(j), which);
        }
    }
}

void bn_refuses_single_value(suite *s) {
    braid_problem p = {.op = s->op, .streams = 1, .batch = 1, .size = {1, 1}, .in_channels = {4}};
    braid_status status = braid_problem_check(&p);
    suite_expect(s, status == BRAID_ERROR_ARGUMENT && strstr(braid_message(), "more than 1 value"),
                 "one value per channel: expected a refusal in words, got status %d", (int)status);
    p.phase = BRAID_PHASE_EVAL;
    status = braid_problem_check(&p);
    suite_expect(s, status == BRAID_OK, "one value per channel in eval: expected no refusal, got: %s", braid_message());
}
