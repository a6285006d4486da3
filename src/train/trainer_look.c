/*
 * Looking at samples without learning: metrics of a part, with streams blanked or not, and what the network answers
 * to each sample. Nothing that a run goes on from is changed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "train/trainer.h"

/* ---- Samples ------------------------------------------------------------------------------ */

/* The probability of the first class with the largest output, which becomes *answer. */
static double classify(const double *row, int64_t classes, int32_t *answer) {
    double sum = 0;
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++) {
        if (row[c] > row[best]) best = c;
    }
    for (int64_t c = 0; c < classes; c++) sum += exp(row[c] - row[best]);
    *answer = (int32_t)best;
    return 1 / sum;
}

static double squared_error(const double *row, const float *input, int64_t count) {
    double sum = 0;
    for (int64_t j = 0; j < count; j++) sum += (row[j] - (double)input[j]) * (row[j] - (double)input[j]);
    return sum / (double)count;
}

/* `row` is what the network gave for sample b of the batch. */
static braid_status tell_sample(const pass *p, const braid_train_batch *batch, int64_t b, const double *row,
                                const braid_evaluate_options *options) {
    int64_t outputs = p->feed.classes;
    int gives_back = p->feed.model->graph->target_is_input;
    braid_train_sample sample = {.id = p->feed.ids[b],
                                 .file = batch->files ? batch->files[b] : p->feed.ids[b],
                                 .label = batch->labels ? batch->labels[b] : -1,
                                 .answer = -1,
                                 .classes = gives_back ? 0 : (int32_t)outputs,
                                 .outputs = row,
                                 .output_count = outputs};
    for (int64_t j = 0; j < outputs; j++) {
        if (!isfinite(row[j]))
            return fail(BRAID_ERROR_DIVERGED, "sample %lld: expected finite outputs, got %g", (long long)sample.id,
                        isnan(row[j]) ? NAN : row[j]);
    }
    if (gives_back)
        sample.score = squared_error(row, (const float *)batch->streams[0] + b * outputs, outputs);
    else
        sample.score = classify(row, outputs, &sample.answer);
    options->sample(options->user, &sample);
    return BRAID_OK;
}

/* The outputs of a batch in host memory, twice the same: as they come, then as doubles. */
static braid_status tell_samples(const braid_trainer *t, const pass *p, const braid_train_batch *batch,
                                 const braid_evaluate_options *options) {
    const int64_t dims[2] = {p->batch, p->feed.classes};
    int64_t elements;
    void *raw = NULL, *rows = NULL;
    TRY(size_elements(dims, 2, "outputs", &elements));
    braid_status status = memory_alloc((size_t)elements, sizeof(double), "outputs", &raw);
    if (!status) status = memory_alloc((size_t)elements, sizeof(double), "outputs", &rows);
    if (!status) status = braid_plan_get_output(p->plan, raw, (size_t)elements * dtype_bytes(t->model->master));
    for (int64_t j = 0; j < elements && !status; j++) ((double *)rows)[j] = dtype_load(raw, t->model->master, j);
    for (int64_t b = 0; b < p->batch && !status; b++)
        status = tell_sample(p, batch, b, (const double *)rows + b * p->feed.classes, options);
    memory_free(raw);
    memory_free(rows);
    return status;
}

/* ---- Batches ------------------------------------------------------------------------------ */

static braid_status blank(braid_trainer *t, const pass *p, uint32_t blanked) {
    for (int i = 0; i < t->streams && p->mask; i++) {
        memset(t->blanked, (int)(blanked >> i & 1), (size_t)p->batch);
        TRY(braid_plan_set_mask(p->plan, i, t->blanked));
    }
    return BRAID_OK;
}

/* `first` is the place of its first sample. */
static braid_status look_at_batch(braid_trainer *t, const braid_train_batch *batch, int64_t first,
                                  const braid_evaluate_options *options, tally *sum) {
    pass *p;
    TRY(trainer_pass(t, BRAID_PHASE_EVAL, batch->count, options->blanked != 0, &p));
    TRY(feed_batch(&p->feed, batch, first, 0));
    TRY(blank(t, p, options->blanked));
    TRY(braid_plan_run(p->plan, BRAID_SEGMENT_FORWARD));
    TRY(trainer_expect(t, p, sum, LATE_LOOKED_AT));
    return options->sample ? tell_samples(t, p, batch, options) : BRAID_OK;
}

static void tell_batch(braid_trainer *t, const braid_evaluate_options *options, int64_t samples, const tally *sum) {
    braid_train_event event;
    braid_trainer_place(t, &event);
    event.kind = BRAID_TRAIN_EVENT_VALIDATE;
    event.validate = tally_metrics(sum, t->has_labels);
    event.batch = sum->batches;
    event.samples = samples;
    event.blanked = options->blanked;
    event.part = options->part;
    trainer_tell(t, &event);
}

/* Of an epoch that the source is asked for, at most so many samples. */
typedef struct look_range {
    int64_t epoch, most;
} look_range;

static braid_status look_at_all(braid_trainer *t, const braid_evaluate_options *options, look_range range, tally *sum) {
    const braid_train_source *source = &t->options.source;
    int64_t first = 0;
    TRY(source->start(source->user, options->part, range.epoch, 0));
    while (!t->stop && first < range.most) {
        braid_train_batch batch = {0};
        TRY(source->next(source->user, options->part, &batch));
        t->stop |= batch.stop != 0;
        if (batch.count == 0 || batch.stop) break;
        if (batch.count > range.most - first) batch.count = range.most - first;
        TRY(look_at_batch(t, &batch, first, options, sum));
        first += batch.count;
        tell_batch(t, options, batch.count, sum);
    }
    return trainer_catch_up(t);
}

static braid_status look_at(braid_trainer *t, const braid_evaluate_options *options, look_range range, tally *sum) {
    *sum = (tally){0};
    braid_status status = look_at_all(t, options, range, sum);
    if (status) trainer_look_away(t); /* `sum` may be gone soon */
    return status;
}

braid_status trainer_look(braid_trainer *t, const braid_evaluate_options *options, tally *sum) {
    return look_at(t, options, (look_range){t->at.epoch, INT64_MAX}, sum);
}

/* The order of an epoch follows from its number: so these are the same samples every time, and in a run that goes on.
 * It is no validation, and nothing is judged by them. */
static braid_status look_at_training(braid_trainer *t, int i) {
    const braid_evaluate_options o = {.part = BRAID_PART_TRAIN, .blanked = UINT32_C(1) << i};
    tally sum;
    bool validating = t->validating;
    t->validating = false;
    braid_status status = look_at(t, &o, (look_range){.most = t->options.stream_samples}, &sum);
    t->validating = validating;
    t->train_without[i] = tally_metrics(&sum, t->has_labels).accuracy;
    return status;
}

braid_status trainer_look_without(braid_trainer *t) {
    for (int i = 0; i < t->streams && !t->stop; i++) {
        const braid_evaluate_options o = {.part = BRAID_PART_VALIDATE, .blanked = UINT32_C(1) << i};
        tally sum;
        TRY(trainer_look(t, &o, &sum));
        t->without[i] = tally_metrics(&sum, t->has_labels);
    }
    for (int i = 0; i < t->streams && !t->stop; i++) TRY(look_at_training(t, i));
    return BRAID_OK;
}

braid_status braid_trainer_evaluate(braid_trainer *t, const braid_evaluate_options *options,
                                    braid_train_metrics *metrics) {
    tally sum;
    if (!t || !options || !metrics)
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_trainer_evaluate: expected a trainer, options and a place for metrics, got NULL");
    if ((unsigned)options->part >= BRAID_PART_COUNT || options->blanked >> t->streams)
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_trainer_evaluate: expected a part, and streams from 0 to %d as bits, got %d and 0x%x",
                    t->streams - 1, (int)options->part, (unsigned)options->blanked);
    TRY(trainer_look(t, options, &sum));
    *metrics = tally_metrics(&sum, t->has_labels);
    return BRAID_OK;
}
