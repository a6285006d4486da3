/*
 * Tests of train/schedule: the values of every rule against PyTorch's, frozen, and against formulas written here in
 * another way (sums and recursions in place of closed forms); warm-up, groups, text form, state.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/memory.h"
#include "core/rng.h"
#include "tests/support/fail_nth.h"
#include "core/reals.h"
#include "train/schedule.h"

#include "tests/train/schedule_values.h"

#define NEAR 1e-9 /* relative */

static void assert_near(double got, double expected, const char *text, int64_t step) {
    if (fabs(got - expected) <= NEAR * fmax(fabs(expected), 1e-12)) return;
    fail_msg("%s, step %lld: expected %.17g, got %.17g", text, (long long)step, expected, got);
}

static schedule parse(const char *text, int groups, int64_t epochs, int64_t steps_per_epoch) {
    schedule s;
    if (schedule_parse(text, &(schedule_run){groups, epochs, steps_per_epoch}, &s) != BRAID_OK)
        fail_msg("%s: %s", text, braid_message());
    return s;
}

/* ---- Against PyTorch ----------------------------------------------------------------------- */

static void as_frozen(const frozen_schedule *f, const char *text) {
    schedule s = parse(text, f->groups, f->epochs, f->steps_per_epoch);
    schedule_state state = {0};
    const double *rates = f->rates;
    for (int64_t step = 0; step < f->epochs * f->steps_per_epoch; step++) {
        for (int g = 0; g < f->groups; g++)
            assert_near(schedule_rate(&s, &state, step, g, f->base[g]), *rates++, text, step);
        if (f->metrics) schedule_observe(&s, &state, step, f->metrics[step]);
    }
}

static void frozen_values(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof frozen / sizeof *frozen; i++) {
        char *text;
        as_frozen(&frozen[i], frozen[i].text);
        schedule s = parse(frozen[i].text, frozen[i].groups, frozen[i].epochs, frozen[i].steps_per_epoch);
        assert_int_equal(schedule_print(&s, &text), BRAID_OK);
        as_frozen(&frozen[i], text); /* the printed form means the same */
        memory_free(text);
    }
}

/* ---- Against other formulas ------------------------------------------------------------------ */

/* cos(x) by the angle sum, step by step from cos(0): no call of cos but the first. */
static void cosine_by_recursion(void **unused) {
    (void)unused;
    schedule s = parse("cosine:eta_min=0.003", 1, 50, 7);
    double turn = acos(-1) / 50, before = cos(turn), now = 1; /* Chebyshev: c(n+1) = 2 c(1) c(n) - c(n-1) */
    for (int epoch = 0; epoch < 130; epoch++) {
        double expected = 0.003 + (0.4 - 0.003) * 0.5 * (1 + now);
        for (int i = 0; i < 7; i++)
            assert_near(schedule_rate(&s, NULL, epoch * 7 + i, 0, 0.4), expected, "cosine", epoch * 7 + i);
        double next = 2 * cos(turn) * now - before;
        before = now;
        now = next;
    }
}

static void restarts_by_rounds(void **unused) {
    (void)unused;
    schedule s = parse("cosine_restarts:t_0=3:t_mult=1.5:eta_min=0.01:each=step", 1, 40, 10);
    double begin = 0, length = 3;
    for (int step = 0; step < 400; step++) {
        double epoch = step / 10.0;
        while (epoch - begin >= length - 1e-12) {
            begin += length;
            length *= 1.5;
        }
        double sine = sin(acos(-1) / 2 * (epoch - begin) / length); /* (1 + cos 2a) / 2 = 1 - sin^2 a */
        assert_near(schedule_rate(&s, NULL, step, 0, 0.2), 0.01 + 0.19 * (1 - sine * sine), "restarts", step);
    }
    schedule usual = parse("cosine_restarts", 1, 100, 1); /* rounds of 25 epochs, down to 1e-7 */
    assert_near(schedule_rate(&usual, NULL, 25, 0, 0.2), 0.2, "restarts", 25);
    assert_near(schedule_rate(&usual, NULL, 37, 0, 0.2), 1e-7 + (0.2 - 1e-7) * pow(cos(acos(-1) * 12 / 50), 2),
                "restarts", 37);
    usual = parse("cosine_restarts", 1, 12, 1); /* never shorter than 10 */
    assert_near(schedule_rate(&usual, NULL, 10, 0, 0.2), 0.2, "restarts", 10);
}

static void one_cycle_ends(void **unused) {
    (void)unused;
    schedule s = parse("one_cycle", 1, 10, 10); /* 100 steps: the peak at 0.3 * 100 - 1 */
    assert_near(schedule_rate(&s, NULL, 0, 0, 0.01), 0.1 / 25, "one_cycle", 0);
    assert_near(schedule_rate(&s, NULL, 29, 0, 0.01), 0.1, "one_cycle", 29);
    assert_near(schedule_rate(&s, NULL, 64, 0, 0.01), (0.1 + 0.1 / 25e4) / 2, "one_cycle", 64); /* half-way down */
    assert_near(schedule_rate(&s, NULL, 99, 0, 0.01), 0.1 / 25e4, "one_cycle", 99);
    assert_near(schedule_rate(&s, NULL, 5000, 0, 0.01), 0.1 / 25e4, "one_cycle", 5000);
    double last = 0;
    for (int step = 0; step < 30; step++) {
        double rate = schedule_rate(&s, NULL, step, 0, 0.01);
        assert_true(rate > last);
        last = rate;
    }
    for (int step = 30; step < 100; step++) {
        double rate = schedule_rate(&s, NULL, step, 0, 0.01);
        assert_true(rate < last);
        last = rate;
    }
    schedule tiny = parse("one_cycle:pct=0", 1, 1, 1);
    assert_near(schedule_rate(&tiny, NULL, 0, 0, 0.01), 0.1 / 25e4, "one_cycle", 0);
    tiny = parse("one_cycle:pct=0.5", 1, 1, 2); /* top at step 0 */
    assert_near(schedule_rate(&tiny, NULL, 0, 0, 0.01), 0.1, "one_cycle", 0);
}

static void step_by_product(void **unused) {
    (void)unused;
    schedule s = parse("step", 1, 200, 3);
    double expected = 0.5;
    for (int epoch = 0; epoch < 200; epoch++) {
        if (epoch > 0 && epoch % 30 == 0) expected *= 0.1;
        for (int i = 0; i < 3; i++)
            assert_near(schedule_rate(&s, NULL, epoch * 3 + i, 0, 0.5), expected, "step", epoch * 3 + i);
    }
}

/* A plain ReduceLROnPlateau with a rate of its own that it changes, on random metrics. */
static void plateau_by_simulation(void **unused) {
    (void)unused;
    rng r = {.seed = 5};
    for (int round = 0; round < 200; round++) {
        int patience = (int)rng_between(&r, 0, 4), cooldown = (int)rng_between(&r, 0, 3);
        char text[100];
        snprintf(text, sizeof text, "plateau:patience=%d:cooldown=%d:min_lr=0.001:factor=0.4", patience, cooldown);
        schedule s = parse(text, 1, 60, 1);
        schedule_state state = {0};
        double rate = 0.1, best = INFINITY;
        int bad = 0, wait = 0;
        for (int epoch = 0; epoch < 60; epoch++) {
            double metric = rng_uniform(&r) < 0.05 ? NAN : rng_uniform(&r) * 2 / (1 + 0.05 * epoch);
            assert_near(schedule_rate(&s, &state, epoch, 0, 0.1), rate, text, epoch);
            schedule_observe(&s, &state, epoch, metric);
            if (metric < best * (1 - 1e-4)) {
                best = metric;
                bad = 0;
            } else {
                bad++;
            }
            if (wait > 0) {
                wait--;
                bad = 0;
            }
            if (bad <= patience) continue;
            if (rate - fmax(rate * 0.4, 0.001) > 1e-8) rate = fmax(rate * 0.4, 0.001);
            wait = cooldown;
            bad = 0;
        }
    }
}

/* ---- Warm-up and groups -------------------------------------------------------------------- */

static void warmup_before_every_rule(void **unused) {
    (void)unused;
    for (int i = 0; schedule_rules[i]; i++) {
        char text[100];
        schedule_state state = {0};
        snprintf(text, sizeof text, "%s:warmup=4", schedule_rules[i]->name);
        schedule s = parse(text, 2, 20, 5);
        schedule alone = parse(schedule_rules[i]->name, 2, 16, 5);
        for (int step = 0; step < 20; step++) {
            double epoch = s.by_step ? step / 5.0 : step / 5;
            assert_near(schedule_rate(&s, &state, step, 1, 0.3), 0.3 * (0.1 + 0.9 * epoch / 4), text, step);
        }
        for (int step = 20; step < 110; step++)
            assert_near(schedule_rate(&s, &state, step, 1, 0.3), schedule_rate(&alone, &state, step - 20, 1, 0.3), text,
                        step);
    }
    schedule fine = parse("constant:warmup=2.5:start_factor=0.5:each=step", 1, 10, 4);
    assert_near(schedule_rate(&fine, NULL, 5, 0, 1), 0.75, "constant", 5);
    assert_near(schedule_rate(&fine, NULL, 10, 0, 1), 1, "constant", 10);
}

/* Steps in a warm-up that ends between two of them: those that begin before its end, counted one by one. */
static void a_warmup_may_end_between_steps(void **unused) {
    static const double warmups[] = {0.3, 1.25, 1.3, 2.74};
    (void)unused;
    for (size_t i = 0; i < sizeof warmups / sizeof *warmups; i++) {
        enum { EPOCHS = 5, STEPS = 4 };
        char text[64];
        int64_t first = 0;
        real_format(text, sizeof text, "one_cycle:warmup=%g", warmups[i]);
        schedule s = parse(text, 1, EPOCHS, STEPS);
        while ((double)first / STEPS < warmups[i]) first++;
        assert_near(schedule_rate(&s, NULL, first, 0, 0.01), 0.1 / 25, text, first);
        assert_true(schedule_rate(&s, NULL, first + 1, 0, 0.01) > 0.1 / 25);
        assert_true(schedule_rate(&s, NULL, EPOCHS * STEPS - 2, 0, 0.01) > 1.01 * 0.1 / 25e4);
        assert_near(schedule_rate(&s, NULL, EPOCHS * STEPS - 1, 0, 0.01), 0.1 / 25e4, text, EPOCHS * STEPS - 1);
        /* The peak is at a share of 0.3 of the steps that are left: as if there had been no warm-up. */
        schedule alone = parse("one_cycle", 1, 1, EPOCHS * STEPS - first);
        for (int64_t step = first; step < EPOCHS * STEPS; step++)
            assert_near(schedule_rate(&s, NULL, step, 0, 0.01), schedule_rate(&alone, NULL, step - first, 0, 0.01),
                        text, step);
    }
}

static void warmup_metrics_do_not_count(void **unused) {
    (void)unused;
    schedule s = parse("plateau:patience=0:warmup=3", 1, 10, 1);
    schedule_state state = {0};
    for (int epoch = 0; epoch < 3; epoch++) schedule_observe(&s, &state, epoch, epoch == 0 ? 0.001 : 5);
    assert_int_equal(state.seen, 0);
    assert_int_equal(state.reductions, 0);
    schedule_observe(&s, &state, 3, 2);
    assert_int_equal(state.seen, 1);
    schedule_observe(&s, &state, 4, 2);
    assert_int_equal(state.reductions, 1);
}

static void groups_have_their_own(void **unused) {
    (void)unused;
    schedule s = parse("cosine:t_max=95:eta_min=3e-7,5e-7,9e-8:warmup=5:start_factor=0.2", 3, 120, 10);
    const double base[3] = {3e-5, 9e-5, 7e-6}, floor_rate[3] = {3e-7, 5e-7, 9e-8};
    for (int g = 0; g < 3; g++) {
        assert_near(schedule_rate(&s, NULL, 0, g, base[g]), 0.2 * base[g], "cosine", 0);
        assert_near(schedule_rate(&s, NULL, 50, g, base[g]), base[g], "cosine", 50);
        assert_near(schedule_rate(&s, NULL, 1000, g, base[g]), floor_rate[g], "cosine", 1000);
    }
    s = parse("step:size=2,3", 2, 10, 1);
    assert_near(schedule_rate(&s, NULL, 2, 0, 1), 0.1, "step", 2);
    assert_near(schedule_rate(&s, NULL, 2, 1, 1), 1, "step", 2);
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void text_forms(void **unused) {
    (void)unused;
    static const char *const forms[][2] = {
        {"constant", "constant:warmup=0:start_factor=0.1:each=epoch"},
        {"cosine", "cosine:t_max=30:eta_min=0:warmup=0:start_factor=0.1:each=epoch"},
        {"cosine:warmup=5", "cosine:t_max=25:eta_min=0:warmup=5:start_factor=0.1:each=epoch"},
        {"cosine:warmup=30", "cosine:t_max=1:eta_min=0:warmup=30:start_factor=0.1:each=epoch"},
        {"cosine:eta_min=1e-3,2e-3:each=step",
         "cosine:t_max=30:eta_min=0.001,0.002:warmup=0:start_factor=0.1:each=step"},
        {"cosine_restarts", "cosine_restarts:t_0=10:t_mult=1:eta_min=1e-07:warmup=0:start_factor=0.1:each=epoch"},
        {"one_cycle", "one_cycle:peak=10:pct=0.3:div=25:final_div=10000:warmup=0:start_factor=0.1:each=step"},
        {"step:size=4,4", "step:size=4:gamma=0.1:warmup=0:start_factor=0.1:each=epoch"},
        {"plateau", "plateau:factor=0.5:patience=5:min_lr=1e-07:threshold=0.0001:cooldown=0:maximize=0:warmup=0:"
                    "start_factor=0.1:each=epoch"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char *text;
        schedule s = parse(forms[i][0], 2, 30, 3);
        assert_int_equal(schedule_print(&s, &text), BRAID_OK);
        assert_string_equal(text, forms[i][1]);
        memory_free(text);
    }
    assert_int_equal(memory_live(), 0);
}

static void text_refusals(void **unused) {
    (void)unused;
    static const char *const wrong[][2] = {
        {"", "expected one of constant, cosine"},
        {"cosin", "got \"cosin\""},
        {"cosine:", "expected name=value"},
        {"cosine:t_max", "got \"t_max\""},
        {"cosine:t_max=", "expected numbers for t_max"},
        {"cosine:t_max=5x", "got \"5x\""},
        {"cosine:t_max=5,", "expected numbers"},
        {"cosine:t_max=0", "from 1 to 1e+09, got 0"},
        {"cosine:t_max=nan", "got nan"},
        {"cosine:eta_min=-1", "got -1"},
        {"cosine:eta_min=1,2,3", "each of the 2 groups, got 3"},
        {"cosine:gamma=1", "only t_max, eta_min, warmup"},
        {"cosine:warmup=-1", "expected warmup"},
        {"cosine:warmup=1,2", "warmup"},
        {"cosine:start_factor=0", "start_factor"},
        {"cosine:each=batch", "each=epoch or each=step"},
        {"one_cycle:each=epoch", "one_cycle goes by steps"},
        {"plateau:patience=1.5", "a whole number"},
        {"plateau:maximize=2", "got 2"},
        {"step:gamma=1.5", "gamma"},
    };
    schedule s, untouched;
    memset(&s, 7, sizeof s);
    untouched = s;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(schedule_parse(wrong[i][0], &(schedule_run){2, 30, 3}, &s), BRAID_ERROR_ARGUMENT);
        if (!strstr(braid_message(), wrong[i][1])) fail_msg("%s: got \"%s\"", wrong[i][0], braid_message());
        assert_memory_equal(&s, &untouched, sizeof s);
    }
    assert_int_equal(schedule_parse(NULL, &(schedule_run){2, 30, 3}, &s), BRAID_ERROR_ARGUMENT);
    assert_int_equal(schedule_parse("step", &(schedule_run){0, 30, 3}, &s), BRAID_ERROR_ARGUMENT);
    assert_int_equal(schedule_parse("step", &(schedule_run){17, 30, 3}, &s), BRAID_ERROR_ARGUMENT);
    assert_int_equal(schedule_parse("step", &(schedule_run){1, 0, 3}, &s), BRAID_ERROR_ARGUMENT);
    assert_int_equal(schedule_parse("step", &(schedule_run){1, 1, 0}, &s), BRAID_ERROR_ARGUMENT);
    assert_int_equal(schedule_parse("step", &(schedule_run){1, INT64_MAX, 2}, &s), BRAID_ERROR_ARGUMENT);
}

/* ---- State --------------------------------------------------------------------------------- */

/* Saved and loaded after every epoch, through text, a plateau goes on as if nothing had been. */
static void state_survives(void **unused) {
    (void)unused;
    const frozen_schedule *f = &frozen[sizeof frozen / sizeof *frozen - 1];
    schedule s = parse(f->text, f->groups, f->epochs, 1);
    schedule_state state = {0};
    for (int epoch = 0; epoch < f->epochs; epoch++) {
        char *text;
        size_t bytes;
        json_t *saved = schedule_state_save(&state), *loaded;
        assert_int_equal(json_write(saved, &text, &bytes), BRAID_OK);
        assert_int_equal(json_read(text, bytes, "state", BRAID_ERROR_DATA, &loaded), BRAID_OK);
        memset(&state, 0x55, sizeof state);
        assert_int_equal(schedule_state_load(loaded, &state), BRAID_OK);
        json_decref(saved);
        json_decref(loaded);
        memory_free(text);
        assert_near(schedule_rate(&s, &state, epoch, 0, f->base[0]), f->rates[epoch], f->text, epoch);
        schedule_observe(&s, &state, epoch, f->metrics[epoch]);
    }
}

static void state_refusals(void **unused) {
    (void)unused;
    static const char *const wrong[] = {"{}", "[]",
                                        "{\"seen\":1,\"bad\":-1,\"cooldown\":0,\"reductions\":0,\"best\":1}",
                                        "{\"seen\":1,\"bad\":0,\"cooldown\":0,\"reductions\":0,\"best\":\"x\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        schedule_state state = {.bad = 77};
        json_t *saved = json_loads(wrong[i], 0, NULL);
        assert_int_equal(schedule_state_load(saved, &state), BRAID_ERROR_DATA);
        assert_int_equal(state.bad, 77);
        json_decref(saved);
    }
}

static void without_memory(void **unused) {
    (void)unused;
    schedule s = parse("cosine", 1, 10, 1);
    char *text;
    fail_alloc_install();
    fail_alloc_arm(1, FAIL_ONCE);
    assert_int_equal(schedule_print(&s, &text), BRAID_ERROR_MEMORY);
    assert_null(text);
    fail_alloc_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frozen_values),
        cmocka_unit_test(cosine_by_recursion),
        cmocka_unit_test(restarts_by_rounds),
        cmocka_unit_test(one_cycle_ends),
        cmocka_unit_test(step_by_product),
        cmocka_unit_test(plateau_by_simulation),
        cmocka_unit_test(warmup_before_every_rule),
        cmocka_unit_test(a_warmup_may_end_between_steps),
        cmocka_unit_test(warmup_metrics_do_not_count),
        cmocka_unit_test(groups_have_their_own),
        cmocka_unit_test(text_forms),
        cmocka_unit_test(text_refusals),
        cmocka_unit_test(state_survives),
        cmocka_unit_test(state_refusals),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
