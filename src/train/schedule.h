/*
 * Learning rates over time. A schedule is a rule (one small file each, see SCHEDULE_LIST) with the values
 * of its parameters for each group of weights, behind a linear warm-up. The rate is a pure function of the schedule,
 * the step, the group's own rate and, where a rule watches a metric, of a small state: nothing else has to
 * be saved to go on later.
 *
 * As text, in options and checkpoints: the rule, then name=value fields; a list gives each group its own value, one
 * value is for all: cosine:t_max=95:eta_min=3e-7,5e-7,9e-8:warmup=5
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_SCHEDULE_H
#define BRAID_TRAIN_SCHEDULE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

/* The rules. A new one is a file that defines `const schedule_rule schedule_<name>`, and a name here. */
#define SCHEDULE_LIST(X) X(constant) X(cosine) X(cosine_restarts) X(one_cycle) X(step) X(plateau)

#define SCHEDULE_MAX_GROUPS 16
#define SCHEDULE_MAX_PARAMETERS 8

/* What a rule remembers of the metrics that it was shown. All zeros at the start. */
typedef struct schedule_state {
    int64_t seen;       /* how often a metric was the best so far */
    int64_t bad;        /* epochs in a row without a better one */
    int64_t cooldown;   /* epochs left in which bad ones do not count */
    int64_t reductions; /* how often the rate was cut */
    double best;        /* the best metric; meaningless while seen is 0 */
} schedule_state;

/* Where a rule is asked for a rate: counted from the end of the warm-up. */
typedef struct schedule_point {
    double epoch;         /* whole numbers, or with fractions where the schedule goes by steps */
    int64_t step, steps;  /* of all epochs behind the warm-up */
    double rate;          /* the group's own */
    const double *values; /* of the group, in the order of the rule's parameters */
    const schedule_state *state;
} schedule_point;

typedef struct schedule_parameter {
    const char *name; /* NULL ends the list */
    double low, high; /* both allowed */
    bool whole;
    double usual;                       /* the default */
    double (*usual_for)(double epochs); /* where it depends on the epochs behind the warm-up; NULL: `usual` */
} schedule_parameter;

typedef struct schedule_rule {
    const char *name, *summary;
    schedule_parameter parameters[SCHEDULE_MAX_PARAMETERS + 1];
    bool always_by_step;
    double (*rate)(const schedule_point *at);
    /* Takes in the metric of an epoch, NULL where the rule watches none. NaN is never better. `values` of the first
     * group. */
    void (*observe)(const double *values, double metric, schedule_state *state);
} schedule_rule;

#define SCHEDULE_DECLARE(name) extern const schedule_rule schedule_##name;
SCHEDULE_LIST(SCHEDULE_DECLARE)
#undef SCHEDULE_DECLARE

/* All rules, ended by NULL. */
extern const schedule_rule *const schedule_rules[];

/* What does not depend on the rule. */
typedef struct schedule_run {
    int groups;              /* 1 to SCHEDULE_MAX_GROUPS */
    int64_t epochs;          /* of the whole run */
    int64_t steps_per_epoch; /* updates of the weights */
} schedule_run;

typedef struct schedule {
    const schedule_rule *rule;
    schedule_run run;
    bool by_step;        /* each=step: a new rate for every step, at fractions of an epoch; each=epoch */
    double warmup;       /* epochs from start_factor times the rate to the rate, in a line */
    double start_factor; /* 0.1 */
    double values[SCHEDULE_MAX_GROUPS][SCHEDULE_MAX_PARAMETERS];
} schedule;

/* Reads the text form; BRAID_ERROR_ARGUMENT names the field that is wrong. */
braid_status schedule_parse(const char *text, const schedule_run *run, schedule *out);

/* Which metrics are better: larger or smaller ones. For rules that watch one; nothing for all others. */
void schedule_follow(schedule *s, bool larger_is_better);

/* The text form with every field. Returns memory for memory_free. */
braid_status schedule_print(const schedule *s, char **text);

/* The rate of a group whose own is `rate` for the update `step`, which counts from 0. Steps behind the end are fine. */
double schedule_rate(const schedule *s, const schedule_state *state, int64_t step, int group, double rate);

/* Takes in the metric of an epoch that has ended. Epochs of the warm-up do not count. */
void schedule_observe(const schedule *s, schedule_state *state, int64_t epoch, double metric);

/* The state for a checkpoint and back. schedule_state_save returns a new reference, NULL without memory. */
json_t *schedule_state_save(const schedule_state *state);
braid_status schedule_state_load(const json_t *saved, schedule_state *state);

/* Half a cosine from `from` (share 0) to `to` (share 1). */
double schedule_half_cosine(double from, double to, double share);

#endif
