/*
 * Tests of the race: who is listed and why not, who wins made-up times, and what a plan tells. Nothing
 * here depends on how fast this machine is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "race/planned_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "race/measure.h"
#include "tests/support/fake_race.h"
#include "tests/support/given.h"

#define FLOAT "linear_fwd:b2:c3:k4"
#define RANDOM_RACES 20000

static const double untimed[3] = {0, 0, 0};

static void decide(race *r) {
    const braid_problem p = given_problem(FLOAT);
    race_decide(&p, r);
}

static race nobody(void) { return (race){.winner = 7}; }

/* ---- Deciding ----------------------------------------------------------------------------- */

/* Ours with this interval against a vendor of {10, 11, 12}. Returns whether ours won. */
static int ours_wins(double low, double median, double high, const char *why) {
    race r = nobody();
    int vendor = fake_racer(&r, BRAID_KIND_VENDOR, (const double[]){10, 11, 12}, 1);
    int own = fake_racer(&r, BRAID_KIND_OWN, (const double[]){low, median, high}, 1);
    decide(&r);
    assert_true(r.winner == own || r.winner == vendor);
    if (!strstr(r.why, why)) fail_msg("expected \"%s\", got: %s", why, r.why);
    return r.winner == own;
}

static void ours_wins_beyond_the_noise_only(void **state) {
    (void)state;
    assert_true(ours_wins(7, 8, 9, "1.38x as fast as the fastest vendor kernel (fake_0), between 1.1"));
    assert_true(ours_wins(7, 8, 11, "1.38x as fast"));
    assert_false(ours_wins(7, 8, 11.1, "a tie goes to the vendor")); /* the ratio's interval reaches 1 */
    assert_false(ours_wins(10, 11, 12, "a tie goes to the vendor"));
    assert_false(ours_wins(1, 9, 30, "a tie goes to the vendor"));
    assert_false(ours_wins(12, 13, 14, "a tie goes to the vendor")); /* it does so at the other end */
    assert_false(ours_wins(13, 22, 23, "the vendor's is 2.00x as fast"));
}

/* A launch of microseconds, and one that was disturbed: the times are told, and no ratio of them. */
static void no_ratio_of_noise(void **state) {
    static const double times[][3] = {{1.9e-6, 2e-6, 2.1e-6}, {1.9e-2, 2e-2, 2.1e-2}, {6.9e-3, 7e-3, 7.1e-3}};
    static const struct {
        int own, vendor;
        const char *why;
    } cases[] = {{0, 2, "ours is faster than the fastest vendor kernel (fake_0): 2 us (1.9 to 2.1) against 7 ms (6.9"},
                 {2, 1, "ours is 2.86x as fast as"},
                 {1, 0, "the vendor's is faster than our best (fake_1): 2 us (1.9 to 2.1) against 20 ms (19 to 21)"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        race r = nobody();
        fake_racer(&r, BRAID_KIND_VENDOR, times[cases[i].vendor], 1);
        fake_racer(&r, BRAID_KIND_OWN, times[cases[i].own], 1);
        decide(&r);
        if (!strstr(r.why, cases[i].why)) fail_msg("expected \"%s\", got: %s", cases[i].why, r.why);
    }
    assert_true(ours_wins(0.1, 0.11, 0.12, "ours is faster than the fastest vendor kernel (fake_0): 110 ms (100 to"));
}

static void the_fastest_of_each_side_meet(void **state) {
    race r = nobody();
    (void)state;
    fake_racer(&r, BRAID_KIND_REF, (const double[]){1, 1, 1}, 1); /* a reference never wins beside others */
    fake_racer(&r, BRAID_KIND_VENDOR, (const double[]){20, 21, 22}, 1);
    fake_racer(&r, BRAID_KIND_OWN, (const double[]){30, 31, 32}, 1);
    int own = fake_racer(&r, BRAID_KIND_OWN, (const double[]){7, 8, 9}, 1);
    int vendor = fake_racer(&r, BRAID_KIND_VENDOR, (const double[]){10, 11, 12}, 1);
    decide(&r);
    assert_int_equal(r.winner, own);
    assert_non_null(strstr(r.why, r.racers[vendor].kernel->name));
    snprintf(r.racers[own].reason, RACE_TEXT, "wrong"); /* and out */
    decide(&r);
    assert_int_equal(r.winner, vendor);
}

static void one_side_alone(void **state) {
    race r = nobody();
    (void)state;
    fake_racer(&r, BRAID_KIND_REF, (const double[]){1, 1, 1}, 1);
    int own = fake_racer(&r, BRAID_KIND_OWN, (const double[]){3, 4, 5}, 1);
    decide(&r);
    assert_int_equal(r.winner, own);
    assert_non_null(strstr(r.why, "no vendor kernel took part"));
    r = nobody();
    int vendor = fake_racer(&r, BRAID_KIND_VENDOR, (const double[]){3, 4, 5}, 1);
    fake_racer(&r, BRAID_KIND_REF, (const double[]){1, 1, 1}, 1);
    decide(&r);
    assert_int_equal(r.winner, vendor);
    assert_non_null(strstr(r.why, "none of ours took part"));
}

static void the_reference_last(void **state) {
    race r = nobody();
    (void)state;
    int ref = fake_racer(&r, BRAID_KIND_REF, (const double[]){3, 4, 5}, 1);
    int own = fake_racer(&r, BRAID_KIND_OWN, (const double[]){1, 1, 1}, 1);
    snprintf(r.racers[own].reason, RACE_TEXT, "wrong");
    decide(&r);
    assert_int_equal(r.winner, ref);
    assert_non_null(strstr(r.why, "only the reference"));
}

/* A chain with this interval against a fused kernel of {10, 11, 12}, of ours or of a vendor. Returns whether it won. */
static int chain_wins(braid_kind against, double low, double median, double high) {
    race r = nobody();
    int chain = fake_racer(&r, BRAID_KIND_CHAIN, (const double[]){low, median, high}, 1);
    int fused = fake_racer(&r, against, (const double[]){10, 11, 12}, 1);
    decide(&r);
    assert_int_equal(r.winner, r.winner == chain ? chain : fused);
    assert_int_equal(strstr(r.why, "the chain of natural ops is") != NULL, r.winner == chain);
    if (r.winner == chain) assert_non_null(strstr(r.why, r.racers[fused].kernel->name));
    return r.winner == chain;
}

static void a_chain_wins_beyond_the_noise_only(void **state) {
    static const braid_kind fused[] = {BRAID_KIND_OWN, BRAID_KIND_VENDOR};
    (void)state;
    for (int j = 0; j < 2; j++) {
        assert_true(chain_wins(fused[j], 7, 8, 11));
        assert_false(chain_wins(fused[j], 7, 8, 11.1)); /* the ratio's interval reaches 1 */
        assert_false(chain_wins(fused[j], 1, 9, 30));
        assert_false(chain_wins(fused[j], 13, 14, 15));
    }
}

static void a_chain_before_the_reference(void **state) {
    race r = nobody();
    (void)state;
    fake_racer(&r, BRAID_KIND_REF, (const double[]){1, 1, 1}, 1);
    int chain = fake_racer(&r, BRAID_KIND_CHAIN, (const double[]){3, 4, 5}, 1);
    decide(&r);
    assert_int_equal(r.winner, chain);
    assert_non_null(strstr(r.why, "no fused kernel took part"));
}

static void by_cost_where_nothing_was_timed(void **state) {
    race r = nobody();
    (void)state;
    fake_racer(&r, BRAID_KIND_REF, untimed, 9);
    int own = fake_racer(&r, BRAID_KIND_OWN, untimed, 2);
    int vendor = fake_racer(&r, BRAID_KIND_VENDOR, untimed, 3);
    int cheapest = fake_racer(&r, BRAID_KIND_OWN, untimed, 1);
    snprintf(r.racers[cheapest].reason, RACE_TEXT, "cannot");
    decide(&r);
    assert_int_equal(r.winner, own);
    assert_non_null(strstr(r.why, "cost model"));
    assert_non_null(strstr(r.why, "nothing was measured"));
    r.racers[vendor].low = r.racers[vendor].median = r.racers[vendor].high =
        100; /* a measured time beats any forecast */
    decide(&r);
    assert_int_equal(r.winner, vendor);
}

static void nobody_can(void **state) {
    race r = nobody();
    (void)state;
    decide(&r);
    assert_int_equal(r.winner, -1);
    int own = fake_racer(&r, BRAID_KIND_OWN, (const double[]){1, 2, 3}, 1);
    snprintf(r.racers[own].reason, RACE_TEXT, "cannot");
    decide(&r);
    assert_int_equal(r.winner, -1);
    assert_non_null(strstr(r.why, "no candidate can do this problem"));
}

/* The fastest of ours by median has a wide interval; a steady one beats the vendor all the same. */
static void a_steady_kernel_wins(void **state) {
    race r = nobody();
    (void)state;
    fake_racer(&r, BRAID_KIND_VENDOR, (const double[]){9, 10, 11}, 1);
    fake_racer(&r, BRAID_KIND_OWN, (const double[]){5, 6, 12}, 1);
    int steady = fake_racer(&r, BRAID_KIND_OWN, (const double[]){7, 7.5, 8}, 1);
    decide(&r);
    assert_int_equal(r.winner, steady);
}

static int timed_of(const race *r, int j, braid_kind kind) {
    return !r->racers[j].reason[0] && r->racers[j].median > 0 && kernel_kind(r->racers[j].kernel) == kind;
}

/* What must hold of any decision. */
static void assert_fair(const race *r) {
    const racer *winner = &r->racers[r->winner];
    braid_kind kind = kernel_kind(winner->kernel);
    assert_int_equal(winner->reason[0], 0);
    int vendors = 0;
    for (int j = 0; j < r->count; j++) vendors += timed_of(r, j, BRAID_KIND_VENDOR);
    for (int j = 0; j < r->count; j++) {
        braid_kind other = kernel_kind(r->racers[j].kernel);
        int free_choice = kind == BRAID_KIND_VENDOR || (kind == BRAID_KIND_OWN && vendors == 0);
        if (free_choice && timed_of(r, j, kind)) assert_true(winner->median <= r->racers[j].median);
        if ((kind == BRAID_KIND_OWN || kind == BRAID_KIND_CHAIN) && timed_of(r, j, BRAID_KIND_VENDOR))
            assert_true(winner->median < r->racers[j].median);
        if (kind == BRAID_KIND_REF) assert_true(other == kind || !timed_of(r, j, other));
    }
}

static void random_races_are_fair(void **state) {
    rng r = {.seed = 2};
    (void)state;
    for (int j = 0; j < RANDOM_RACES; j++) {
        race drawn = nobody();
        for (int64_t count = rng_between(&r, 1, 8); count > 0; count--) {
            double median = 1 + rng_uniform(&r), spread = rng_uniform(&r) * 0.3;
            const double times[3] = {median - spread, median, median + spread};
            int kind = (int)rng_between(&r, BRAID_KIND_OWN, BRAID_KIND_PEER);
            int one = fake_racer(&drawn, kind == BRAID_KIND_PEER ? BRAID_KIND_CHAIN : (braid_kind)kind, times, 1);
            if (rng_between(&r, 1, 5) == 1) snprintf(drawn.racers[one].reason, RACE_TEXT, "out");
        }
        decide(&drawn);
        if (drawn.winner >= 0) assert_fair(&drawn);
    }
}

/* The floor of noise counts: what is shown within it is a tie. */
static void the_floor_counts(void **state) {
    static const double ours[3] = {0.949, 0.95, 0.951}, theirs[3] = {0.999, 1, 1.001};
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        race r = nobody();
        int vendor = fake_racer(&r, BRAID_KIND_VENDOR, theirs, 1);
        int own = fake_racer(&r, BRAID_KIND_OWN, ours, 1);
        r.floor = wide ? 0.06 : 0.04;
        decide(&r);
        assert_int_equal(r.winner, wide ? vendor : own);
    }
}

/* Beside other work the times choose nothing, and the reason says what ran. */
static void a_busy_machine_goes_by_cost(void **state) {
    race r = nobody();
    (void)state;
    fake_racer(&r, BRAID_KIND_VENDOR, (const double[]){0.9, 1, 1.1}, 3);
    int cheapest = fake_racer(&r, BRAID_KIND_OWN, (const double[]){9, 10, 11}, 2);
    r.is_busy = 1;
    snprintf(r.load, sizeof r.load, "other processes kept 1.7 of 2 CPUs busy");
    decide(&r);
    assert_int_equal(r.winner, cheapest);
    assert_non_null(strstr(r.why, "kept 1.7 of 2 CPUs busy: the cost model chooses"));
}

static void the_baseline_is_the_vendors_first(void **state) {
    race r = nobody();
    (void)state;
    assert_int_equal(race_baseline(&r), -1);
    int own = fake_racer(&r, BRAID_KIND_OWN, (const double[]){1, 1, 1}, 1);
    assert_int_equal(race_baseline(&r), own);
    int ref = fake_racer(&r, BRAID_KIND_REF, (const double[]){2, 2, 2}, 1);
    assert_int_equal(race_baseline(&r), ref);
    int chain = fake_racer(&r, BRAID_KIND_CHAIN, (const double[]){3, 3, 3}, 1);
    assert_int_equal(race_baseline(&r), chain);
    fake_racer(&r, BRAID_KIND_VENDOR, (const double[]){5, 5, 5}, 1);
    int vendor = fake_racer(&r, BRAID_KIND_VENDOR, (const double[]){4, 4, 4}, 1);
    assert_int_equal(race_baseline(&r), vendor);
}

/* A kernel against itself, as ours and as the vendor's: random rounds of one distribution. Ours may win as rarely as an
 * interval to choose by lies below 1 by chance: 1 of 40. */
static void a_kernel_does_not_beat_itself(void **state) {
    rng r = {.seed = 21};
    int claims = 0;
    const int races = 2000, rounds = 32;
    (void)state;
    for (int j = 0; j < races; j++) {
        race drawn = nobody();
        double samples[2][RATIO_MAX_ROUNDS];
        for (int side = 0; side < 2; side++) {
            for (int round = 0; round < rounds; round++) { /* a floor, noise, and now and then an interruption */
                samples[side][round] =
                    1 + 0.05 * rng_uniform(&r) + (rng_between(&r, 1, 20) == 1 ? 3 * rng_uniform(&r) : 0);
            }
            const interval i = interval_of(samples[side], rounds);
            fake_racer(&drawn, side ? BRAID_KIND_VENDOR : BRAID_KIND_OWN, (const double[]){i.low, i.median, i.high}, 1);
        }
        drawn.racers[0].over = ratio_of_rounds(samples[0], samples[1], rounds);
        drawn.racers[1].over = ratio_itself();
        decide(&drawn);
        claims += drawn.winner == 0;
    }
    assert_in_range(claims, 1, races / 30);
}

/* ---- Listing ------------------------------------------------------------------------------ */

static braid_context *context_with(braid_repro repro, const char *disable) {
    braid_context *context = NULL;
    const braid_context_options options = {"cpu", 1, repro, "", disable};
    assert_int_equal(braid_context_create(&options, &context), BRAID_OK);
    return context;
}

static race list_with(braid_repro repro, const char *disable, const char *text) {
    race r;
    braid_context *context = context_with(repro, disable);
    const braid_problem p = given_problem(text);
    race_list(context, &p, &r);
    braid_context_destroy(context);
    return r;
}

static void every_kernel_of_the_pass_is_listed_once(void **state) {
    const race r = list_with(BRAID_REPRO_RUN, "", FLOAT);
    int expected = 0;
    (void)state;
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        expected += k->op == BRAID_OP_LINEAR && k->pass == BRAID_PASS_FWD && k->backend != KERNEL_CUDA;
    }
    assert_int_equal(r.count, expected);
    assert_int_equal(r.winner, -1);
    for (int j = 0; j < r.count; j++) {
        for (int other = 0; other < j; other++) assert_true(r.racers[j].kernel != r.racers[other].kernel);
        assert_true(r.racers[j].median == 0 && r.racers[j].max_err == -1);
    }
}

static void the_second_level_leaves_out_before_the_race(void **state) {
    const race r = list_with(BRAID_REPRO_THREADS, "", FLOAT);
    int left_out = 0, able = 0;
    (void)state;
    for (int j = 0; j < r.count; j++) {
        const racer *one = &r.racers[j];
        int invariant = !(one->kernel->flags & KERNEL_VARIES_WITH_THREADS);
        if (!invariant) assert_non_null(strstr(one->reason, "number of threads"));
        left_out += !invariant;
        able += !one->reason[0];
    }
    assert_true(left_out > 0 && able > 0);
}

static void disabling_by_vendor_and_by_name(void **state) {
    const char *own = given_kernel(BRAID_OP_LINEAR, BRAID_PASS_FWD, NULL);
    char disable[256];
    (void)state;
    snprintf(disable, sizeof disable, "openblas,%s,", own);
    const race r = list_with(BRAID_REPRO_RUN, disable, FLOAT);
    for (int j = 0; j < r.count; j++) {
        const kernel *k = r.racers[j].kernel;
        int named = (k->vendor && strcmp(k->vendor, "openblas") == 0) || strcmp(k->name, own) == 0;
        assert_int_equal(strstr(r.racers[j].reason, "left out by BRAID_DISABLE") != NULL, named);
    }
    static const char *const wrong[] = {"open", "onednn,onednnn", ",linear_fwd"}; /* words must match whole */
    for (int j = 0; j < 3; j++) {
        braid_context *context = NULL;
        const braid_context_options options = {"cpu", 1, BRAID_REPRO_RUN, "", wrong[j]};
        assert_int_equal(braid_context_create(&options, &context), BRAID_ERROR_ARGUMENT);
        assert_null(context);
        assert_non_null(strstr(braid_message(), "disable: expected names of kernels"));
    }
}

/* ---- Through the public interface ----------------------------------------------------------- */

static void a_plan_by_name(void **state) {
    braid_context *context = context_with(BRAID_REPRO_RUN, "");
    braid_op *op = given_op(context, FLOAT);
    (void)state;
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (k->op != BRAID_OP_LINEAR || k->pass != BRAID_PASS_FWD || k->backend == KERNEL_CUDA) continue;
        if (kernel_refuses(k, braid_op_problem(op), context->device)) continue;
        if (braid_op_plan(op, &(braid_plan_options){.kernel = k->name}) != BRAID_OK) fail_msg("%s", braid_message());
        const braid_race *seen = braid_op_explain(op);
        assert_string_equal(seen->candidates[seen->winner].kernel, k->name);
        assert_string_equal(seen->why, "asked for by name");
    }
    braid_op_destroy(op);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

static void a_measured_plan_explains_itself(void **state) {
    braid_context *context = context_with(BRAID_REPRO_THREADS, "openblas");
    braid_op *op = given_op(context, FLOAT);
    int timed = 0;
    (void)state;
    assert_int_equal(braid_op_explain(op)->winner, -1);
    assert_int_equal(braid_op_explain(op)->count, 0);
    assert_non_null(braid_op_explain(op)->why);
    if (braid_op_plan(op, &(braid_plan_options){.seconds = 1e-3}) != BRAID_OK) fail_msg("%s", braid_message());
    const braid_race *seen = braid_op_explain(op);
    assert_in_range(seen->winner, 0, seen->count - 1);
    assert_int_equal(seen->from_wisdom, 0);
    assert_true(seen->flops == 2.0 * 2 * 3 * 4);
    assert_true(seen->bytes == 4.0 * (2 * 3 + 3 * 4 + 2 * 4));
    assert_true(strlen(seen->why) > 10);
    for (int j = 0; j < seen->count; j++) {
        const braid_candidate *c = &seen->candidates[j];
        assert_non_null(c->kernel);
        if (c->median_s > 0) {
            assert_true(c->low_s > 0 && c->low_s <= c->median_s && c->median_s <= c->high_s);
            assert_true(c->max_err >= 0 && c->max_err <= 1 && c->compared > 0);
            timed++;
        } else {
            assert_non_null(c->reason);
        }
        if (c->kind == BRAID_KIND_VENDOR) assert_true(c->median_s == 0 && c->max_err == -1 && c->compared == 0);
    }
    assert_true(timed > 0 && seen->candidates[seen->winner].median_s > 0);
    braid_op_destroy(op);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

static void assert_planned(braid_op *op, const braid_plan_options *options) {
    if (braid_op_plan(op, options) != BRAID_OK) fail_msg("%s", braid_message());
}

/* The verdicts of the first race serve the second, which has times of its own; other efforts check for themselves. */
static void a_second_race_is_not_checked_again(void **state) {
    static const braid_effort efforts[] = {BRAID_EFFORT_MEASURE, BRAID_EFFORT_MEASURE, BRAID_EFFORT_EXHAUSTIVE};
    braid_context *context = context_with(BRAID_REPRO_RUN, "");
    braid_op *op = given_op(context, FLOAT);
    int kept = 0;
    (void)state;
    for (int j = 0; j < 3; j++) {
        racer *first = &op->race.racers[0];
        if (j) snprintf(first->reason, sizeof first->reason, "found wrong");
        assert_planned(op, &(braid_plan_options){.effort = efforts[j], .seconds = 1e-3, .again = 1});
        assert_int_equal(strcmp(first->reason, "found wrong") == 0, j == 1);
        assert_int_equal(first->median > 0, j != 1);
        for (int i = 1; i < op->race.count; i++) {
            const racer *one = &op->race.racers[i];
            kept += !one->reason[0];
            if (!one->reason[0]) assert_true(one->median > 0 && one->max_err >= 0 && one->compared > 0);
        }
    }
    assert_true(kept > 3);
    braid_op_destroy(op);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

/* Nothing was timed, and still the chosen kernel's workspace is told. */
static void an_estimate_tells_the_workspace(void **state) {
    braid_context *context = context_with(BRAID_REPRO_RUN, "");
    braid_op *op = given_op(context, "conv2d_fwd:b1:hw9x9:c16:k16:rs3x3:pad1");
    (void)state;
    assert_planned(op, &(braid_plan_options){.kernel = "conv2d_fwd__cpu_indirect_gemm_portable"});
    const braid_race *seen = braid_op_explain(op);
    assert_true(op->workspace_bytes > 0);
    assert_int_equal(seen->candidates[seen->winner].workspace_bytes, op->workspace_bytes);
    braid_op_destroy(op);
    braid_context_destroy(context);
}

/* ---- Large problems ------------------------------------------------------------------------- */

static size_t largest_block;

static void *alloc_watched(void *user, size_t bytes, size_t alignment) {
    (void)user;
    if (bytes > largest_block) largest_block = bytes;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void free_watched(void *user, void *memory) {
    (void)user;
    free(memory);
}

/* Inputs of 50 MB, which take twice as much in double. */
static void a_quick_check_takes_fewer_samples(void **state) {
    const braid_allocator watched = {alloc_watched, free_watched, NULL};
    (void)state;
    assert_int_equal(braid_set_allocator(&watched), BRAID_OK);
    braid_context *context = context_with(BRAID_REPRO_RUN, "");
    const braid_problem p = given_problem("avgpool_fwd:b48:hw64x64:c64");
    race r;
    race_list(context, &p, &r);
    largest_block = 0;
    assert_int_equal(race_check_quick(context, &p, 1, &r), BRAID_OK);
    assert_true(largest_block > 30000000 && largest_block < 60000000);
    for (int j = 0; j < r.count; j++) assert_true(r.racers[j].reason[0] || r.racers[j].compared >= 1024);
    assert_int_equal(race_check(context, &p, 1, &r), BRAID_OK);
    assert_true(largest_block > 100000000);
    braid_context_destroy(context);
    assert_int_equal(braid_set_allocator(NULL), BRAID_OK);
}

static void a_check_shows_every_error(void **state) {
    braid_context *context = context_with(BRAID_REPRO_RUN, "");
    braid_op *op = given_op(context, "conv2d_fwd:n2:b2:hw5x6:c3,1:k4,2:rs3:pad1:bias1:mask1");
    int checked = 0;
    (void)state;
    if (braid_op_check(op, 5) != BRAID_OK) fail_msg("%s", braid_message());
    const braid_race *seen = braid_op_explain(op);
    for (int j = 0; j < seen->count; j++) {
        const braid_candidate *c = &seen->candidates[j];
        if (c->reason)
            assert_true(c->compared == 0 && c->max_err == -1);
        else
            assert_true(c->compared >= 2 * 5 * 6 * 6 && c->max_err >= 0 && c->max_err <= 1);
        assert_true(c->median_s == 0);
        checked += !c->reason;
    }
    assert_true(checked >= 2);
    assert_refused(braid_op_run(op, NULL, 0), BRAID_ERROR_ARGUMENT, "planned"); /* a check plans nothing */
    braid_op_destroy(op);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_wins_beyond_the_noise_only),
        cmocka_unit_test(no_ratio_of_noise),
        cmocka_unit_test(the_fastest_of_each_side_meet),
        cmocka_unit_test(one_side_alone),
        cmocka_unit_test(the_reference_last),
        cmocka_unit_test(a_chain_wins_beyond_the_noise_only),
        cmocka_unit_test(a_chain_before_the_reference),
        cmocka_unit_test(by_cost_where_nothing_was_timed),
        cmocka_unit_test(nobody_can),
        cmocka_unit_test(a_steady_kernel_wins),
        cmocka_unit_test(random_races_are_fair),
        cmocka_unit_test(the_floor_counts),
        cmocka_unit_test(a_busy_machine_goes_by_cost),
        cmocka_unit_test(the_baseline_is_the_vendors_first),
        cmocka_unit_test(a_kernel_does_not_beat_itself),
        cmocka_unit_test(every_kernel_of_the_pass_is_listed_once),
        cmocka_unit_test(the_second_level_leaves_out_before_the_race),
        cmocka_unit_test(disabling_by_vendor_and_by_name),
        cmocka_unit_test(a_plan_by_name),
        cmocka_unit_test(a_measured_plan_explains_itself),
        cmocka_unit_test(an_estimate_tells_the_workspace),
        cmocka_unit_test(a_second_race_is_not_checked_again),
        cmocka_unit_test(a_quick_check_takes_fewer_samples),
        cmocka_unit_test(a_check_shows_every_error),
    };
    return cmocka_run_group_tests_name("race", tests, NULL, NULL);
}
