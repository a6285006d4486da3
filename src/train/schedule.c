/*
 * The clock of a schedule: warm-up, epochs or steps, groups. The arithmetic of each rule is in schedule_<rule>.c, the
 * text form in schedule_text.c. Rates are closed forms: no step needs the one before it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/schedule.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/json.h"

#define SCHEDULE_ADDRESS(name) &schedule_##name,
const schedule_rule *const schedule_rules[] = {SCHEDULE_LIST(SCHEDULE_ADDRESS) NULL};
#undef SCHEDULE_ADDRESS

#define PI 3.14159265358979323846

double schedule_half_cosine(double from, double to, double share) {
    return to + (from - to) * (1 + cos(PI * share)) / 2;
}

/* The epoch of a step, with its fraction where the schedule goes by steps. */
static double epoch_of(const schedule *s, int64_t step) {
    int64_t whole = step / s->run.steps_per_epoch, rest = step % s->run.steps_per_epoch;
    return (double)whole + (s->by_step ? (double)rest / (double)s->run.steps_per_epoch : 0);
}

double schedule_rate(const schedule *s, const schedule_state *state, int64_t step, int group, double rate) {
    double epoch = epoch_of(s, step);
    if (epoch < s->warmup) return rate * (s->start_factor + (1 - s->start_factor) * epoch / s->warmup);
    int64_t first = (int64_t)ceil(s->warmup * (double)s->run.steps_per_epoch);
    const schedule_point at = {
        .epoch = epoch - s->warmup,
        .step = step - first,
        .steps = s->run.epochs * s->run.steps_per_epoch - first,
        .rate = rate,
        .values = s->values[group],
        .state = state,
    };
    return s->rule->rate(&at);
}

void schedule_observe(const schedule *s, schedule_state *state, int64_t epoch, double metric) {
    if (s->rule->observe && (double)epoch >= s->warmup) s->rule->observe(s->values[0], metric, state);
}

void schedule_follow(schedule *s, bool larger_is_better) {
    const schedule_parameter *list = s->rule->parameters;
    for (int j = 0; list[j].name; j++) {
        if (strcmp(list[j].name, "maximize") != 0) continue;
        for (int group = 0; group < s->run.groups; group++) s->values[group][j] = larger_is_better;
    }
}

/* ---- Saving ------------------------------------------------------------------------------- */

json_t *schedule_state_save(const schedule_state *state) {
    return json_pack("{s:I, s:I, s:I, s:I, s:f}", "seen", (json_int_t)state->seen, "bad", (json_int_t)state->bad,
                     "cooldown", (json_int_t)state->cooldown, "reductions", (json_int_t)state->reductions, "best",
                     state->seen ? state->best : 0);
}

braid_status schedule_state_load(const json_t *saved, schedule_state *state) {
    schedule_state read;
    const struct {
        const char *name;
        int64_t *value;
    } counts[] = {
        {"seen", &read.seen}, {"bad", &read.bad}, {"cooldown", &read.cooldown}, {"reductions", &read.reductions}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        TRY(json_get_integer(saved, counts[i].name, counts[i].value));
        if (*counts[i].value < 0 || *counts[i].value > JSON_MOST_COUNT)
            return fail(BRAID_ERROR_DATA, "schedule state: expected \"%s\" from 0 to 2^40, got %lld", counts[i].name,
                        (long long)*counts[i].value);
    }
    TRY(json_get_number(saved, "best", &read.best));
    *state = read;
    return BRAID_OK;
}
