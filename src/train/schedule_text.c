/*
 * Schedules as text: `cosine:t_max=95:eta_min=3e-7,5e-7,9e-8:warmup=5:start_factor=0.1:each=epoch`. Reading fills in
 * what is left out; writing gives every field, so that a checkpoint says what was meant even when a default changes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "train/schedule.h"

#define MOST_TEXT 4096

/* Fields that every schedule has. */
static const schedule_parameter warmup_field = {.name = "warmup", .low = 0, .high = 1e9};
static const schedule_parameter start_field = {.name = "start_factor", .low = 1e-9, .high = 1, .usual = 0.1};

/* One name=value field of the text. */
typedef struct field {
    const char *name, *value; /* not ended by zero */
    int name_bytes, value_bytes;
} field;

static bool named(const field *f, const char *name) {
    return strlen(name) == (size_t)f->name_bytes && !strncmp(f->name, name, (size_t)f->name_bytes);
}

/* ---- Reading ------------------------------------------------------------------------------ */

static braid_status find_rule(const char *text, size_t bytes, const schedule_rule **out) {
    char names[256] = "";
    for (int i = 0; schedule_rules[i]; i++) {
        size_t used = strlen(names);
        *out = schedule_rules[i];
        if (strlen((*out)->name) == bytes && !strncmp((*out)->name, text, bytes)) return BRAID_OK;
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", (*out)->name);
    }
    return fail(BRAID_ERROR_ARGUMENT, "schedule: expected one of %s, got \"%.*s\"", names, (int)bytes, text);
}

/* Reads `count` numbers, or one that stands for all of them. */
static braid_status read_values(const field *f, const schedule_parameter *p, int count, double *values, size_t stride) {
    const char *at = f->value, *end = f->value + f->value_bytes;
    int read = 0;
    do {
        char *behind;
        double value = real_read(at, &behind);
        if (behind == at || behind > end || (behind < end && *behind != ','))
            return fail(BRAID_ERROR_ARGUMENT, "schedule: expected numbers for %s, got \"%.*s\"", p->name,
                        f->value_bytes, f->value);
        if (!(value >= p->low && value <= p->high) || (p->whole && value != (double)(int64_t)value))
            return fail(BRAID_ERROR_ARGUMENT, "schedule: expected %s to be %s from %g to %g, got %g", p->name,
                        p->whole ? "a whole number" : "a number", p->low, p->high, value);
        if (read < count) values[(size_t)read * stride] = value;
        read++;
        at = behind + 1;
    } while (at <= end);
    if (read != 1 && read != count)
        return fail(BRAID_ERROR_ARGUMENT,
                    "schedule: expected one number for %s or one for each of the %d groups, got %d", p->name, count,
                    read);
    for (int i = read; i < count; i++) values[(size_t)i * stride] = values[0];
    return BRAID_OK;
}

static braid_status read_each(const field *f, schedule *out) {
    bool by_step = f->value_bytes == 4 && !strncmp(f->value, "step", 4);
    if (!by_step && !(f->value_bytes == 5 && !strncmp(f->value, "epoch", 5)))
        return fail(BRAID_ERROR_ARGUMENT, "schedule: expected each=epoch or each=step, got \"%.*s\"", f->value_bytes,
                    f->value);
    if (!by_step && out->rule->always_by_step)
        return fail(BRAID_ERROR_ARGUMENT, "schedule: %s goes by steps: expected each=step, got each=epoch",
                    out->rule->name);
    out->by_step = by_step;
    return BRAID_OK;
}

static braid_status read_field(const field *f, schedule *out) {
    const schedule_parameter *p = out->rule->parameters;
    for (int i = 0; p[i].name; i++)
        if (named(f, p[i].name))
            return read_values(f, &p[i], out->run.groups, &out->values[0][i], SCHEDULE_MAX_PARAMETERS);
    if (named(f, "warmup")) return read_values(f, &warmup_field, 1, &out->warmup, 1);
    if (named(f, "start_factor")) return read_values(f, &start_field, 1, &out->start_factor, 1);
    if (named(f, "each")) return read_each(f, out);
    char names[256] = "";
    for (int i = 0; p[i].name; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s, ", p[i].name);
    }
    return fail(BRAID_ERROR_ARGUMENT, "schedule: expected of %s only %swarmup, start_factor and each, got \"%.*s\"",
                out->rule->name, names, f->name_bytes, f->name);
}

/* Calls read_field for every field behind the rule. With `warmup_only`, for the warm-up alone: defaults hang on it. */
static braid_status read_fields(const char *text, bool warmup_only, schedule *out) {
    for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ':')) {
        size_t bytes = strcspn(at + 1, ":"), name_bytes = strcspn(at + 1, ":=");
        if (name_bytes == bytes)
            return fail(BRAID_ERROR_ARGUMENT, "schedule: expected name=value, got \"%.*s\"", (int)bytes, at + 1);
        field f = {.name = at + 1, .name_bytes = (int)name_bytes};
        f.value = f.name + name_bytes + 1;
        f.value_bytes = (int)(bytes - name_bytes) - 1;
        if (!warmup_only || named(&f, "warmup")) TRY(read_field(&f, out));
    }
    return BRAID_OK;
}

static void fill_usual(schedule *out) {
    double epochs = (double)out->run.epochs - out->warmup;
    const schedule_parameter *p = out->rule->parameters;
    for (int i = 0; p[i].name; i++)
        for (int g = 0; g < out->run.groups; g++)
            out->values[g][i] = p[i].usual_for ? p[i].usual_for(epochs) : p[i].usual;
}

static braid_status check_run(const schedule_run *run) {
    if (run->groups < 1 || run->groups > SCHEDULE_MAX_GROUPS)
        return fail(BRAID_ERROR_ARGUMENT, "schedule: expected 1 to %d groups, got %d", SCHEDULE_MAX_GROUPS,
                    run->groups);
    if (run->epochs < 1 || run->steps_per_epoch < 1 || run->epochs > INT64_MAX / run->steps_per_epoch)
        return fail(BRAID_ERROR_ARGUMENT, "schedule: expected epochs and steps of at least 1, got %lld epochs of %lld",
                    (long long)run->epochs, (long long)run->steps_per_epoch);
    return BRAID_OK;
}

braid_status schedule_parse(const char *text, const schedule_run *run, schedule *out) {
    schedule read = {.run = *run, .start_factor = start_field.usual};
    if (!text || strlen(text) > MOST_TEXT)
        return fail(BRAID_ERROR_ARGUMENT, "schedule: expected a text of at most %d characters, got %s", MOST_TEXT,
                    text ? "a longer one" : "none");
    TRY(check_run(run));
    TRY(find_rule(text, strcspn(text, ":"), &read.rule));
    read.by_step = read.rule->always_by_step;
    TRY(read_fields(text, true, &read));
    fill_usual(&read);
    TRY(read_fields(text, false, &read));
    *out = read;
    return BRAID_OK;
}

/* ---- Writing ------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void put(char *text, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    real_format_list(text + used, MOST_TEXT - used, format, arguments);
    va_end(arguments);
}

static void put_real(char *text, const char *before, double value) {
    char real[REAL_TEXT_BYTES];
    real_print(real, sizeof real, value);
    put(text, "%s%s", before, real);
}

/* One value where all groups have the same. */
static void put_parameter(const schedule *s, int index, char *text) {
    bool same = true;
    for (int g = 1; g < s->run.groups; g++) same = same && s->values[g][index] == s->values[0][index];
    put(text, ":%s", s->rule->parameters[index].name);
    for (int g = 0; g < (same ? 1 : s->run.groups); g++) put_real(text, g ? "," : "=", s->values[g][index]);
}

braid_status schedule_print(const schedule *s, char **text) {
    void *memory;
    *text = NULL;
    TRY(memory_calloc(MOST_TEXT, 1, "the text of a schedule", &memory));
    *text = memory;
    put(*text, "%s", s->rule->name);
    for (int i = 0; s->rule->parameters[i].name; i++) put_parameter(s, i, *text);
    put_real(*text, ":warmup=", s->warmup);
    put_real(*text, ":start_factor=", s->start_factor);
    put(*text, ":each=%s", s->by_step ? "step" : "epoch");
    return BRAID_OK;
}
