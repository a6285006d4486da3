/*
 * The state of a run as JSON in the metadata of its checkpoints, and the way back from it: what a run goes on with, and
 * what must be as it was. Files and folders are those of trainer_save.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "core/memory.h"
#include "core/reals.h"
#include "plan/pins.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

#define RECIPE_BYTES 768
#define NOTE_BYTES 1024
#define STATISTICS_BYTES 128

static braid_status no_memory(void) { return fail(BRAID_ERROR_MEMORY, "trainer: no memory for the state of the run"); }

/* ---- To JSON ------------------------------------------------------------------------------ */

/* Every option that the bits of a run and its best epoch depend on, but for rates and their schedule. */
static void print_recipe(const braid_trainer *t, char text[RECIPE_BYTES]) {
    const braid_train_options *o = &t->options;
    const braid_plan_request *s = &o->step;
    real_format(text, RECIPE_BYTES,
                "batch=%lld size=%lldx%lld dtype=%s seed=%llu accumulate=%d loss=%s smoothing=%.17g alpha=%.17g "
                "gamma=%.17g class_weights=%d optimiser=%s momentum=%.17g nesterov=%d clip_norm=%.17g "
                "modality_dropout=%.17g,%lld,%lld,%d augment=%d monitor=%s samples=%lld stratified=%d",
                (long long)s->batch, (long long)s->size[0], (long long)s->size[1],
                t->model->tf32 ? "tf32" : braid_dtype_name(t->model->dtype), (unsigned long long)o->seed, o->accumulate,
                trainer_loss_name(t), s->smoothing, s->alpha, s->gamma, s->class_weights, trainer_optimiser_name(t),
                s->momentum, s->nesterov, s->clip_norm, o->modality_dropout, (long long)o->modality_start,
                (long long)o->modality_epochs, o->modality_down, o->augment, stopping_monitor_name(t->stopping.monitor),
                (long long)o->samples, o->stratified);
}

/* Rows are taken as they are, without mean and deviation. */
static bool has_statistics(const braid_trainer *t) {
    return t->options.input == BRAID_DTYPE_U8 || t->options.std[0][0] > 0;
}

/* Mean and deviation of each stream of images; of rows there are none. */
static json_t *save_statistics(const braid_trainer *t) {
    json_t *list = json_array();
    _Static_assert(BRAID_STATISTICS == 4, "the lists below");
    for (int i = 0; i < t->streams && has_statistics(t); i++) {
        const double *m = t->options.mean[i], *s = t->options.std[i];
        json_t *one =
            json_pack("{s:[f,f,f,f], s:[f,f,f,f]}", "mean", m[0], m[1], m[2], m[3], "std", s[0], s[1], s[2], s[3]);
        if (json_array_append_new(list, one) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *save_tally(const tally *sum) {
    return json_pack("{s:f, s:I, s:I, s:I}", "loss", sum->loss, "correct", (json_int_t)sum->correct, "samples",
                     (json_int_t)sum->samples, "batches", (json_int_t)sum->batches);
}

/* null where there was no epoch yet. */
static json_t *save_metrics(const braid_train_metrics *m) {
    if (m->batches == 0) return json_null();
    json_t *accuracy = isfinite(m->accuracy) ? json_real(m->accuracy) : json_null();
    json_t *loss = isfinite(m->loss) ? json_real(m->loss) : json_null();
    return json_pack("{s:o, s:o, s:I, s:I}", "loss", loss, "accuracy", accuracy, "samples", (json_int_t)m->samples,
                     "batches", (json_int_t)m->batches);
}

static json_t *save_scaler(const scaler *s) {
    return json_pack("{s:f, s:I, s:I, s:I}", "scale", s->scale, "good", (json_int_t)s->good, "skipped",
                     (json_int_t)s->skipped, "all_skipped", (json_int_t)s->all_skipped);
}

/* What the plans took, and what the checkpoint before had taken. */
static braid_status save_choices(const braid_trainer *t, json_t *choices) {
    if (t->model->choices && json_object_update(choices, t->model->choices) != 0) return no_memory();
    for (int j = 0; j < t->pass_count; j++) {
        TRY(plan_choices(t->passes[j].plan, choices));
        if (t->passes[j].feed.op) TRY(op_choices(t->passes[j].feed.op, choices));
    }
    return BRAID_OK;
}

braid_status trainer_make_state(const braid_trainer *t, json_t **state) {
    const position *at = &t->at;
    char recipe[RECIPE_BYTES];
    char *schedule_text = NULL;
    json_t *choices = json_object();
    *state = NULL;
    if (!choices) return no_memory();
    print_recipe(t, recipe);
    braid_status status = save_choices(t, choices);
    if (!status) status = schedule_print(&t->schedule, &schedule_text);
    if (status) {
        json_decref(choices);
        return status;
    }
    json_t *norm = isfinite(t->norm) ? json_real(t->norm) : json_null();
    json_t *best_train = isfinite(at->best_train_loss) ? json_real(at->best_train_loss) : json_null();
    *state = json_pack(
        "{s:b, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i}",
        "validates", !t->options.no_validation, "recipe", recipe, "schedule", schedule_text, "schedule_given",
        t->schedule_given, "epochs", (json_int_t)t->options.epochs, "steps", (json_int_t)t->options.steps, "epoch",
        (json_int_t)at->epoch, "batch", (json_int_t)at->batch, "step", (json_int_t)at->step, "train",
        save_tally(&at->train), "scaler", save_scaler(&at->scaler), "schedule_state",
        schedule_state_save(&at->schedule), "stopping", stopping_save(&t->stopping, &at->stopping), "best",
        stopping_save(&t->best, &at->best), "best_metrics", save_metrics(&at->best_metrics), "best_train_loss",
        best_train, "choices", choices, "norm", norm, "rates", rates_save(t->rates, t->groups), "statistics",
        save_statistics(t), "keeps", t->keeps);
    memory_free(schedule_text);
    if (*state && t->best_failed && json_object_set_new(*state, "best_failed", json_true()) != 0) {
        json_decref(*state);
        *state = NULL;
    }
    return *state ? BRAID_OK : no_memory();
}

/* ---- From JSON ---------------------------------------------------------------------------- */

static double number_or_nan(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Told at the end of a run, and needed for nothing else: what is not there is not known. */
static braid_train_metrics load_metrics(const json_t *saved) {
    return (braid_train_metrics){.loss = number_or_nan(saved, "loss"),
                                 .accuracy = number_or_nan(saved, "accuracy"),
                                 .samples = json_integer_value(json_object_get(saved, "samples")),
                                 .batches = json_integer_value(json_object_get(saved, "batches"))};
}

static braid_status load_position(const json_t *state, position *at) {
    const json_t *train = json_object_get(state, "train"), *scale = json_object_get(state, "scaler");
    TRY(json_get_integer(state, "epoch", &at->epoch));
    TRY(json_get_integer(state, "batch", &at->batch));
    TRY(json_get_integer(state, "step", &at->step));
    TRY(json_get_number(train, "loss", &at->train.loss));
    TRY(json_get_integer(train, "correct", &at->train.correct));
    TRY(json_get_integer(train, "samples", &at->train.samples));
    TRY(json_get_integer(train, "batches", &at->train.batches));
    TRY(json_get_number(scale, "scale", &at->scaler.scale));
    TRY(json_get_integer(scale, "good", &at->scaler.good));
    TRY(json_get_integer(scale, "skipped", &at->scaler.skipped));
    if (json_object_get(scale, "all_skipped")) TRY(json_get_integer(scale, "all_skipped", &at->scaler.all_skipped));
    TRY(schedule_state_load(json_object_get(state, "schedule_state"), &at->schedule));
    TRY(stopping_load(json_object_get(state, "stopping"), &at->stopping));
    TRY(stopping_load(json_object_get(state, "best"), &at->best));
    at->best_metrics = load_metrics(json_object_get(state, "best_metrics"));
    at->best_train_loss = number_or_nan(state, "best_train_loss");
    const int64_t counts[] = {at->epoch,         at->batch,          at->step,
                              at->train.correct, at->train.samples,  at->train.batches,
                              at->scaler.good,   at->scaler.skipped, at->scaler.all_skipped};
    for (size_t j = 0; j < sizeof counts / sizeof counts[0]; j++) {
        if (counts[j] < 0 || counts[j] > CHECKPOINT_MOST_COUNT)
            return fail(BRAID_ERROR_MODEL, "checkpoint: expected counts from 0 to 2^53, got %lld",
                        (long long)counts[j]);
    }
    if (at->scaler.scale > 0) return BRAID_OK;
    return fail(BRAID_ERROR_MODEL, "checkpoint: expected a loss scale above 0, got %g", at->scaler.scale);
}

/* What a schedule takes for better is what the monitor does, whatever the text says: that of a checkpoint has every
 * field, and older versions wrote maximize=0 whatever the monitor was. */
static braid_status parse_schedule(braid_trainer *t, const char *text) {
    const schedule_run run = {t->groups, t->options.epochs, t->options.steps_per_epoch};
    TRY(schedule_parse(text, &run, &t->schedule));
    schedule_follow(&t->schedule, t->stopping.monitor == STOPPING_VAL_ACCURACY);
    return BRAID_OK;
}

static braid_status keep_given(braid_trainer *t, const char *text) {
    memory_free(t->schedule_given);
    t->schedule_given = NULL;
    return memory_copy_text(text, &t->schedule_given);
}

/* The fields of two recipes that differ; of recipes with other fields, both. */
static void list_differences(const char *saved, const char *now, char *text, size_t room) {
    const char *a = saved, *b = now;
    text[0] = 0;
    while (*a && *b) {
        size_t used = strlen(text), name = strcspn(a, "="), x = strcspn(a, " "), y = strcspn(b, " ");
        if (name >= x || strncmp(a, b, name + 1) != 0) break;
        if (x != y || strncmp(a, b, x) != 0)
            snprintf(text + used, room - used, "%s%.*s %.*s in place of %.*s", used ? ", " : "", (int)name, a,
                     (int)(y - name) - 1, b + name + 1, (int)(x - name) - 1, a + name + 1);
        a += x + (a[x] == ' ');
        b += y + (b[y] == ' ');
    }
    if (*a || *b || !text[0]) snprintf(text, room, "%s in place of %s", now, saved);
}

static braid_status check_recipe(const braid_trainer *t, const json_t *state, const char *path) {
    const char *saved;
    char recipe[RECIPE_BYTES], differences[2 * RECIPE_BYTES];
    TRY(json_get_text(state, "recipe", &saved));
    print_recipe(t, recipe);
    if (strcmp(saved, recipe) == 0) return BRAID_OK;
    list_differences(saved, recipe, differences, sizeof differences);
    return fail(BRAID_ERROR_ARGUMENT,
                "%.200s: expected the options that the run began with, got %s; give it those, or take another folder",
                path, differences);
}

static void print_numbers(const double *numbers, int64_t count, char text[STATISTICS_BYTES]) {
    int used = 0;
    for (int64_t c = 0; c < count; c++)
        used += real_format(text + used, STATISTICS_BYTES - (size_t)used, "%s%.9g", c ? ", " : "", numbers[c]);
}

static braid_status check_numbers(const braid_trainer *t, const json_t *list, const char *what, int i,
                                  const double *now) {
    double saved[BRAID_STATISTICS];
    char before[STATISTICS_BYTES], after[STATISTICS_BYTES];
    int64_t channels;
    const char *name = braid_net_stream(t->model->net, i, &channels);
    bool same = true;
    for (size_t c = 0; c < BRAID_STATISTICS; c++) {
        const json_t *number = json_array_get(list, c);
        saved[c] = json_number_value(number);
        if (!json_is_number(number))
            return fail(BRAID_ERROR_MODEL, "checkpoint: expected %d numbers as the %s of stream %s", BRAID_STATISTICS,
                        what, name);
        same = same && saved[c] == now[c];
    }
    if (same) return BRAID_OK;
    if (channels > BRAID_STATISTICS) channels = BRAID_STATISTICS;
    print_numbers(saved, channels, before);
    print_numbers(now, channels, after);
    return fail(BRAID_ERROR_ARGUMENT,
                "expected the %s of stream %s that the run began with, %s, got %s; put the statistics of the data "
                "(norm_stats.json) back as they were, or begin a run in another folder",
                what, name, before, after);
}

/* What a network was shown so far is normalised like what it will be shown. Older versions kept no statistics. */
static braid_status check_statistics(const braid_trainer *t, const json_t *state, const char *path) {
    char why[NOTE_BYTES];
    const json_t *list = json_object_get(state, "statistics");
    for (int i = 0; i < t->streams && i < (int)json_array_size(list) && has_statistics(t); i++) {
        const json_t *one = json_array_get(list, (size_t)i);
        braid_status status = check_numbers(t, json_object_get(one, "mean"), "mean", i, t->options.mean[i]);
        if (!status) status = check_numbers(t, json_object_get(one, "std"), "deviation", i, t->options.std[i]);
        if (!status) continue;
        snprintf(why, sizeof why, "%s", fail_message());
        return fail(status, "%.200s: %s", path, why);
    }
    return BRAID_OK;
}

/* The best epoch is that of validation samples, or of training ones where there are none: never first the one and
 * then the other. Older versions kept no word of it. */
static braid_status check_validation(const braid_trainer *t, const json_t *state, const char *path) {
    const json_t *validates = json_object_get(state, "validates");
    bool now = !t->options.no_validation;
    if (!json_is_boolean(validates) || json_is_true(validates) == now) return BRAID_OK;
    return fail(
        BRAID_ERROR_ARGUMENT,
        "%.200s: expected %s validation samples, as the run began, got %s; give it the data that it began with, "
        "or begin a run in another folder",
        path, now ? "no" : "a set with", now ? "some" : "none");
}

static bool is_longer(const braid_trainer *t, const json_t *state) {
    const json_t *epochs = json_object_get(state, "epochs");
    return json_is_integer(epochs) && t->options.epochs > json_integer_value(epochs);
}

/* The schedule of the options, else that of the checkpoint. A run that became longer has the one that it would have had
 * from the start: what was not said, as the length of a cosine, follows from the new number of epochs. */
static braid_status take_schedule(braid_trainer *t, const json_t *state) {
    const char *text, *given = json_string_value(json_object_get(state, "schedule_given"));
    TRY(json_get_text(state, "schedule", &text));
    if (!given) given = text; /* of an older version */
    TRY(keep_given(t, t->options.schedule ? t->options.schedule : given));
    if (t->options.schedule) return parse_schedule(t, t->options.schedule);
    return parse_schedule(t, is_longer(t, state) ? given : text) ? BRAID_ERROR_DATA : BRAID_OK;
}

static braid_status take_rates(braid_trainer *t, const json_t *state) {
    braid_rates saved[BRAID_MAX_GROUPS];
    const json_t *list = json_object_get(state, "rates");
    if (list) TRY(rates_load(list, t->groups, saved));
    return trainer_set_rates(t, list ? saved : NULL);
}

/* What is wrong in a checkpoint is a fault of that file, whoever found it. */
static braid_status blame_file(braid_status status, const char *path) {
    char why[NOTE_BYTES];
    if (status != BRAID_ERROR_DATA && status != BRAID_ERROR_MODEL) return status;
    snprintf(why, sizeof why, "%s", fail_message());
    return strstr(why, path) ? fail(BRAID_ERROR_MODEL, "%s", why) : fail(BRAID_ERROR_MODEL, "%.200s: %s", path, why);
}

/* A run that stopped early goes on with more patience or none, and with more epochs than it had: then it may be
 * impatient again from the start. */
static void reopen(const braid_trainer *t, const json_t *state, stopping_state *stopping) {
    if (!stopping->stopped) return;
    if (is_longer(t, state)) stopping->bad = 0;
    stopping->stopped = t->options.patience > 0 && stopping->bad > t->options.patience;
}

/* Without a number of epochs a run is as long as it began, or as its steps take. Older versions kept no limit of
 * steps. */
static void take_length(braid_trainer *t, const json_t *state) {
    braid_train_options *o = &t->options;
    int64_t saved = json_integer_value(json_object_get(state, "epochs"));
    int64_t limit = json_integer_value(json_object_get(state, "steps"));
    if (o->epochs) return;
    if (!o->steps && limit > 0) o->steps = limit;
    o->epochs = saved > 0 ? saved : 1;
    int64_t needed = o->steps / o->steps_per_epoch + (o->steps % o->steps_per_epoch > 0);
    if (needed > o->epochs) o->epochs = needed;
}

/* The kernels of the run so far. On another machine some may not be there, and with others the bits are others. */
static braid_status pin_choices(braid_trainer *t, const json_t *choices, int *missing) {
    char note[NOTE_BYTES];
    TRY(model_pin_choices(t->model, choices, missing));
    if (*missing == 0) return BRAID_OK;
    snprintf(
        note, sizeof note,
        "%d of the %zu kernels that the run began with cannot be taken here (another processor or device, BRAID_ISA): "
        "others are, and from here on its bits are not those of a run that was never stopped",
        *missing, json_object_size(choices));
    trainer_tell(t, &(braid_train_event){.kind = BRAID_TRAIN_EVENT_NOTE, .text = note});
    return BRAID_OK;
}

/* Whether plans for training keep activations; older versions did not say. */
static braid_status take_keeps(braid_trainer *t, const json_t *state, const char *path) {
    const json_t *keeps = json_object_get(state, "keeps");
    const json_int_t value = json_integer_value(keeps);
    if (keeps && (!json_is_integer(keeps) || value < -1 || value > 1))
        return fail(BRAID_ERROR_MODEL, "%.200s: expected keeps of -1, 0 or 1 in the state of the run", path);
    t->keeps = (int)value;
    return BRAID_OK;
}

static braid_status take_state(braid_trainer *t, const json_t *state, const char *path) {
    position at = {0};
    int missing;
    json_t *choices = json_object_get(state, "choices");
    take_length(t, state);
    TRY(check_recipe(t, state, path));
    TRY(check_statistics(t, state, path));
    TRY(check_validation(t, state, path));
    TRY(load_position(state, &at));
    TRY(take_schedule(t, state));
    if (!json_is_object(choices)) return fail(BRAID_ERROR_MODEL, "%.200s: expected the chosen kernels, got none", path);
    TRY(take_keeps(t, state, path));
    TRY(checkpoint_load(t->model, path, state)); /* another network is told by its tensors, before its groups */
    TRY(take_rates(t, state));
    TRY(pin_choices(t, choices, &missing));
    if (missing) t->keeps = 0; /* with other kernels, on another device perhaps, the first plan is asked again */
    const json_t *norm = json_object_get(state, "norm"); /* of the last update; nothing but the metrics needs it */
    t->norm = json_is_number(norm) ? json_number_value(norm) : NAN;
    t->best_failed = json_is_true(json_object_get(state, "best_failed")); /* until there is a better one */
    t->at = at;
    if (at.step > 0) /* until the next update */
        t->rate = schedule_rate(&t->schedule, &t->at.schedule, at.step - 1, t->groups - 1,
                                t->rates[t->groups - 1].learning_rate);
    reopen(t, state, &t->at.stopping);
    return BRAID_OK;
}

/* The best epoch is that of the older file, as it told of itself. */
static braid_status take_older_best(braid_trainer *t, const char *path) {
    json_t *state = NULL;
    stopping_state best;
    TRY(checkpoint_state(path, &state));
    braid_status status = stopping_load(json_object_get(state, "best"), &best);
    if (!status) {
        t->at.best = best;
        t->at.best_metrics = load_metrics(json_object_get(state, "best_metrics"));
    }
    json_decref(state);
    return status;
}

/* A best epoch whose file is gone or damaged is the best no more: that of the older file is, else the next epoch. One
 * that the disk refused was told before. */
static braid_status find_best(braid_trainer *t) {
    const char *path;
    char why[NOTE_BYTES];
    bool fell_back;
    if (!t->at.best.seen || t->best_failed) return BRAID_OK;
    const fail_kept kept = fail_keep();
    braid_status status = generations_find(&t->best_files, &path, &fell_back);
    if (status == BRAID_OK && path && !fell_back) return BRAID_OK;
    if (status != BRAID_OK && status != BRAID_ERROR_MODEL) return status;
    if (path)
        snprintf(why, sizeof why, "%s", fail_message());
    else
        snprintf(why, sizeof why,
                 "%.200s: expected the best epoch so far, got no whole file; the next epoch is the best",
                 t->best_files.newest);
    status = path ? take_older_best(t, path) : BRAID_OK;
    if (status == BRAID_ERROR_DISK || status == BRAID_ERROR_MEMORY) return status;
    if (status != BRAID_OK) path = NULL;
    if (!path) {
        t->at.best = (stopping_state){0};
        t->at.best_metrics = (braid_train_metrics){0};
    }
    fail_put_back(&kept);
    trainer_tell(t, &(braid_train_event){.kind = BRAID_TRAIN_EVENT_NOTE, .text = why});
    return BRAID_OK;
}

void trainer_tell_and_forget(braid_trainer *t, const fail_kept *kept) {
    const fail_kept why = fail_keep();
    fail_put_back(kept);
    trainer_tell(t, &(braid_train_event){.kind = BRAID_TRAIN_EVENT_NOTE, .text = why.text});
}

/* A run that was killed in its first save can have a best epoch and no last checkpoint yet: that has all it needs. */
static braid_status find_best_alone(braid_trainer *t, const char **path, bool *fell_back) {
    TRY(generations_find(&t->best_files, path, fell_back));
    if (!*path)
        return fail(BRAID_ERROR_MODEL, "%.200s: expected a checkpoint to resume from, got no %s; train without resume",
                    t->options.folder, TRAINER_LAST);
    *fell_back = true;
    return fail(BRAID_OK, "%.200s: there is no " TRAINER_LAST "; went back to %s", t->options.folder, *path);
}

braid_status trainer_resume(braid_trainer *t) {
    const char *path;
    bool fell_back;
    json_t *state = NULL;
    const fail_kept kept = fail_keep();
    TRY(generations_find(&t->last, &path, &fell_back));
    if (!path) TRY(find_best_alone(t, &path, &fell_back));
    if (fell_back) trainer_tell_and_forget(t, &kept);
    TRY(checkpoint_state(path, &state));
    braid_status status = blame_file(take_state(t, state, path), path);
    json_decref(state);
    return status ? status : find_best(t);
}

braid_status trainer_begin(braid_trainer *t) {
    const char *path;
    bool fell_back;
    TRY(keep_given(t, t->options.schedule ? t->options.schedule : "cosine"));
    TRY(parse_schedule(t, t->schedule_given));
    if (!t->options.folder) return BRAID_OK;
    TRY(generations_find(&t->last, &path, &fell_back));
    if (!path) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT,
                "%.200s: expected a folder without a run, got one with %s; resume it, or take another folder",
                t->options.folder, TRAINER_LAST);
}
