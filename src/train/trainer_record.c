/*
 * What is written of an epoch: a row of metrics.jsonl, and scalars of TensorBoard. Names of fields are those of the
 * first LINet, docs/train.md tells what they mean.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>

#include "train/trainer.h"

#define NAME_BYTES 160
#define STREAM_VALUES 5
#define STREAM_SCALARS 2
#define MOST_VALUES (9 + (STREAM_VALUES + 1) * BRAID_MAX_STREAMS)
#define MOST_SCALARS (6 + STREAM_SCALARS * BRAID_MAX_STREAMS)

/* The fields of an epoch, with room for the names that are made. */
typedef struct record {
    history_value values[MOST_VALUES];
    events_scalar scalars[MOST_SCALARS];
    char names[STREAM_VALUES + STREAM_SCALARS][BRAID_MAX_STREAMS][NAME_BYTES];
    char rate_names[BRAID_MAX_STREAMS][NAME_BYTES];
    double rates[BRAID_MAX_GROUPS];
    int value_count, scalar_count;
} record;

static void add_value(record *r, const char *name, double value) {
    r->values[r->value_count++] = (history_value){.name = name, .value = value};
}

static void add_scalar(record *r, const char *name, double value) {
    r->scalars[r->scalar_count++] = (events_scalar){name, value};
}

/* The groups of streams come first. */
static void add_stream_rate(record *r, int i) {
    snprintf(r->rate_names[i], NAME_BYTES, "stream_%d_lr", i);
    add_value(r, r->rate_names[i], r->rates[i]);
}

static void add_stream(const braid_trainer *t, record *r, int i) {
    static const char *const keys[STREAM_VALUES] = {"train_acc", "val_acc", "blanked_acc", "blanked_loss",
                                                    "contribution"};
    const braid_train_metrics *without = &t->without[i];
    int named =
        t->streams == 2 ? 1 - i : i; /* of two streams, *_acc is that of a stream alone; of more, of the others */
    double values[STREAM_VALUES] = {t->train_without[named], t->without[named].accuracy, without->accuracy,
                                    without->loss, t->validated.accuracy - without->accuracy};
    for (int k = 0; k < STREAM_VALUES; k++) {
        char *name = r->names[k][i];
        snprintf(name, NAME_BYTES, "stream_%d_%s", i, keys[k]);
        add_value(r, name, t->looked_without ? values[k] : NAN);
    }
    if (!t->looked_without) return;
    const char *stream = braid_net_stream(t->model->net, i, NULL);
    char *accuracy = r->names[STREAM_VALUES][i], *contribution = r->names[STREAM_VALUES + 1][i];
    snprintf(accuracy, NAME_BYTES, "accuracy_without/%s", stream);
    snprintf(contribution, NAME_BYTES, "contribution/%s", stream);
    add_scalar(r, accuracy, without->accuracy);
    add_scalar(r, contribution, values[STREAM_VALUES - 1]);
}

/* Of f16. */
static void add_scaling(const braid_trainer *t, record *r) {
    add_value(r, "loss_scale", t->at.scaler.scale);
    add_value(r, "skipped_steps", (double)t->at.scaler.all_skipped);
    add_scalar(r, "loss_scale", t->at.scaler.scale);
}

static void fill(const braid_trainer *t, const braid_train_metrics *train, record *r) {
    const braid_train_metrics *validate = &t->validated;
    int64_t last_step = t->at.step > 0 ? t->at.step - 1 : 0;
    for (int group = 0; group < t->groups; group++)
        r->rates[group] = schedule_rate(&t->schedule, &t->at.schedule, last_step, group, t->rates[group].learning_rate);
    add_value(r, "train_loss", train->loss);
    add_value(r, "train_accuracy", train->accuracy);
    add_value(r, "val_loss", validate->loss);
    add_value(r, "val_accuracy", validate->accuracy);
    r->values[r->value_count++] = (history_value){.name = "learning_rates", .list = r->rates, .count = t->groups};
    add_value(r, "modality_dropout_prob",
              t->options.modality_dropout > 0 ? modality_share(&t->modality, t->at.epoch - 1) : 0);
    add_value(r, "gradient_norms", t->norm);
    if (t->model->dtype == BRAID_DTYPE_F16) add_scaling(t, r);
    add_scalar(r, "loss/train", train->loss);
    add_scalar(r, "loss/validate", validate->loss);
    add_scalar(r, "accuracy/train", train->accuracy);
    add_scalar(r, "accuracy/validate", validate->accuracy);
    add_scalar(r, "learning_rate", r->rates[t->groups - 1]);
    for (int i = 0; i < t->streams && t->streams > 1; i++) add_stream_rate(r, i);
    for (int i = 0; i < t->streams && t->options.stream_epochs > 0; i++) add_stream(t, r, i);
}

braid_status trainer_record(braid_trainer *t, const braid_train_metrics *train) {
    record r = {0};
    if (!t->options.folder) return BRAID_OK;
    TRY(trainer_check_folder(t));
    fill(t, train, &r);
    const history_row row = {HISTORY_EPOCH, t->at.epoch, t->at.step, r.values, r.value_count};
    braid_status status = history_add(&t->history, &row);
    if (status && status != BRAID_ERROR_DISK) return status;
    status = events_add(&t->events, t->at.step, events_now(), r.scalars, r.scalar_count);
    return status == BRAID_ERROR_DISK ? BRAID_OK : status;
}

braid_status trainer_record_end(braid_trainer *t) {
    if (!t->options.folder) return BRAID_OK;
    TRY(trainer_check_folder(t));
    json_t *stopping = stopping_save(&t->stopping, &t->at.stopping);
    if (!stopping) return fail(BRAID_ERROR_MEMORY, "trainer: no memory for the summary of the run");
    const history_value values[] = {{.name = "best_train_loss", .value = t->at.best_train_loss},
                                    {.name = "early_stopping", .json = stopping}};
    const history_row row = {HISTORY_SUMMARY, t->at.epoch, t->at.step, values, 2};
    braid_status status = history_add(&t->history, &row);
    json_decref(stopping);
    if (!status) status = history_sync(&t->history);
    return status;
}
