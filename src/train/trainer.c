/*
 * Trainers: options with their defaults, and life.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/trainer.h"

#include <math.h>
#include <stdio.h>

#include "core/memory.h"

#define FIRST_PAUSE_MS 200
#define USUAL_STREAM_SAMPLES 500
#define USUAL_SECONDS 5.0 /* for the choice of kernels */
#define USUAL_RATE 1e-3
#define USUAL_SGD_RATE 1e-2

static braid_status check(const braid_train_options *o) {
    if (!o->source.start || !o->source.next)
        return fail(BRAID_ERROR_ARGUMENT, "trainer: expected a source with start and next, got NULL");
    if ((unsigned)o->step.optimiser >= BRAID_OPTIMISER_COUNT || (unsigned)o->step.loss >= BRAID_LOSS_COUNT)
        return fail(BRAID_ERROR_ARGUMENT,
                    "trainer: expected an optimiser and a loss of the lists, got numbers %d and %d",
                    (int)o->step.optimiser, (int)o->step.loss);
    if (o->step.batch < 0 || o->epochs < 0 || o->steps_per_epoch < 0 || o->steps < 0 || o->accumulate < 0 ||
        o->patience < 0 || o->save_steps < 0 || o->stream_epochs < 0 || o->stream_samples < 0 || o->verify_every < 0)
        return fail(BRAID_ERROR_ARGUMENT, "trainer: expected counts of 0 or more, got a negative one");
    if (!(o->learning_rate >= 0) || !(o->weight_decay >= 0) || !isfinite(o->learning_rate + o->weight_decay))
        return fail(BRAID_ERROR_ARGUMENT,
                    "trainer: expected a learning rate and a weight decay of 0 or more, got %g, %g", o->learning_rate,
                    o->weight_decay);
    for (int i = 0; i < BRAID_MAX_STREAMS * BRAID_STATISTICS; i++) {
        double mean = o->mean[i / BRAID_STATISTICS][i % BRAID_STATISTICS];
        double std = o->std[i / BRAID_STATISTICS][i % BRAID_STATISTICS];
        if (!isfinite(mean) || !isfinite(std) || std < 0)
            return fail(BRAID_ERROR_ARGUMENT, "trainer: expected a finite mean and deviation in stream %d, got %g, %g",
                        i / BRAID_STATISTICS, mean, std);
    }
    if (!(o->min_delta >= 0) || isinf(o->min_delta))
        return fail(BRAID_ERROR_ARGUMENT, "trainer: expected a min_delta of 0 or more, got %g", o->min_delta);
    if (o->step.optimiser != BRAID_OPTIMISER_NONE && o->steps_per_epoch == 0)
        return fail(BRAID_ERROR_ARGUMENT,
                    "trainer: expected steps_per_epoch of 1 or more with an optimiser, got 0; give the updates of an "
                    "epoch");
    if (o->resume && !o->folder)
        return fail(BRAID_ERROR_ARGUMENT, "trainer: expected a folder to resume from, got NULL");
    if (o->restore_best && !o->folder)
        return fail(BRAID_ERROR_ARGUMENT, "trainer: expected a folder to restore the best epoch from, got NULL");
    if (o->stream_epochs && o->no_validation)
        return fail(BRAID_ERROR_ARGUMENT, "trainer: expected validation samples to look at streams with, got none");
    return BRAID_OK;
}

/* With them, and with the loss that takes them; plans refuse another. */
static braid_status check_class_weights(const braid_trainer *t) {
    const double *weights = t->options.class_weights;
    const graph *g = t->model->graph;
    bool used = t->options.step.class_weights && t->has_labels && t->options.step.loss != BRAID_LOSS_FOCAL;
    if (used && !weights)
        return fail(BRAID_ERROR_ARGUMENT, "class weights: expected class_weights beside step.class_weights, got NULL");
    for (int64_t c = 0; used && c < graph_channels(g, g->output, 0); c++)
        if (!(weights[c] >= 0) || isinf(weights[c]))
            return fail(BRAID_ERROR_ARGUMENT, "class weights: expected numbers of 0 or more, got %g for class %lld",
                        weights[c], (long long)c);
    return BRAID_OK;
}

static braid_status read_rates(braid_trainer *t) {
    double rates[BRAID_MAX_GROUPS], decays[BRAID_MAX_GROUPS];
    for (int group = 0; group < t->groups; group++) {
        rates[group] = t->rates[group].learning_rate;
        decays[group] = t->rates[group].weight_decay;
    }
    if (t->options.rates) TRY(rates_read(t->options.rates, "rate", &t->group_names, rates));
    if (t->options.decays) TRY(rates_read(t->options.decays, "weight decay", &t->group_names, decays));
    for (int group = 0; group < t->groups; group++) {
        t->rates[group].learning_rate = rates[group];
        t->rates[group].weight_decay = decays[group];
    }
    return BRAID_OK;
}

braid_status trainer_set_rates(braid_trainer *t, const braid_rates *saved) {
    const braid_train_options *o = &t->options;
    const braid_rates usual = {o->step.optimiser == BRAID_OPTIMISER_SGD ? USUAL_SGD_RATE : USUAL_RATE, 0, 1};
    if (o->groups && o->group_count != t->groups)
        return fail(BRAID_ERROR_ARGUMENT,
                    "trainer: expected rates for %d groups (each stream, the learned mix, all others), got %d",
                    t->groups, o->group_count);
    for (int group = 0; group < t->groups; group++) {
        braid_rates *r = &t->rates[group];
        *r = saved ? saved[group] : usual;
        if (o->learning_rate > 0) r->learning_rate = o->learning_rate;
        if (o->weight_decay > 0) r->weight_decay = o->weight_decay;
        if (o->groups) *r = o->groups[group];
    }
    return o->groups ? BRAID_OK : read_rates(t);
}

static braid_status set_defaults(braid_trainer *t) {
    braid_train_options *o = &t->options;
    if (!o->step.batch) o->step.batch = 1;
    if (!o->epochs && !o->resume) o->epochs = 1;
    if (!o->steps_per_epoch) o->steps_per_epoch = 1;
    if (!o->accumulate) o->accumulate = 1;
    if (!o->stream_samples) o->stream_samples = USUAL_STREAM_SAMPLES;
    t->seconds_left = o->step.choice.seconds > 0 ? o->step.choice.seconds : USUAL_SECONDS;
    if (!o->monitor) o->monitor = t->has_labels ? "val_accuracy" : "val_loss";
    t->modality = (modality_options){.ramp = o->modality_down ? MODALITY_RAMP_DOWN : MODALITY_RAMP_UP,
                                     .start = o->modality_start,
                                     .epochs = o->modality_epochs,
                                     .rate = o->modality_dropout};
    TRY(modality_check(&t->modality));
    if (o->modality_dropout > 0 && t->streams < 2)
        return fail(BRAID_ERROR_ARGUMENT, "modality dropout: expected a network with several streams, got one of %d",
                    t->streams);
    if (o->augment && o->input != BRAID_DTYPE_U8)
        return fail(BRAID_ERROR_ARGUMENT, "augment: expected samples that are images of bytes, got %s",
                    braid_dtype_name(o->input));
    TRY(stopping_monitor_read(o->monitor, &t->stopping.monitor));
    if (!t->has_labels && t->stopping.monitor == STOPPING_VAL_ACCURACY)
        return fail(BRAID_ERROR_ARGUMENT, "monitor: expected val_loss for a network without labels, got val_accuracy");
    t->stopping.patience = o->patience;
    t->stopping.min_delta = o->min_delta;
    t->best = (stopping_options){.monitor = t->stopping.monitor};
    t->at.scaler.scale = t->model->dtype == BRAID_DTYPE_F16 ? SCALING_FIRST : 1;
    t->norm = t->rate = t->validated.loss = t->validated.accuracy = t->at.best_train_loss = NAN;
    return trainer_set_rates(t, NULL);
}

static braid_status fill(braid_trainer *t) {
    TRY(check(&t->options));
    TRY(check_class_weights(t));
    TRY(set_defaults(t));
    size_t batch = (size_t)t->options.step.batch;
    TRY(memory_alloc(batch, 1, "masks", (void **)&t->blanked));
    TRY(memory_alloc((batch + 31) / 32, sizeof *t->masks * BRAID_MAX_STREAMS, "masks", (void **)&t->masks));
    TRY(trainer_late_open(t));
    return trainer_open(t);
}

braid_status braid_trainer_create(braid_model *model, const braid_train_options *options, braid_trainer **trainer) {
    braid_trainer *made = NULL;
    if (!trainer) return fail(BRAID_ERROR_ARGUMENT, "braid_trainer_create: expected a place for the trainer, got NULL");
    *trainer = NULL;
    if (!model || !options)
        return fail(BRAID_ERROR_ARGUMENT, "braid_trainer_create: expected a model and options, got NULL");
    TRY(context_enter(model->context, "braid_trainer_create"));
    TRY(memory_calloc(1, sizeof *made, "trainer", (void **)&made));
    made->model = model;
    made->options = *options;
    made->pause_ms = FIRST_PAUSE_MS;
    made->proven = -1;
    made->streams = braid_net_stream_count(model->net);
    rates_of_net(model->net, &made->group_names);
    made->groups = made->group_names.count;
    made->has_labels = !model->graph->target_is_input && options->step.loss != BRAID_LOSS_MSE;
    braid_status status = fill(made);
    if (status)
        braid_trainer_destroy(made);
    else
        *trainer = made;
    return status;
}

void braid_trainer_destroy(braid_trainer *t) {
    if (!t) return;
    trainer_late_close(t);
    trainer_forget_passes(t);
    braid_op_destroy(t->add);
    braid_memory_destroy(t->model->context, t->sum);
    braid_memory_destroy(t->model->context, t->spare);
    trainer_close(t);
    memory_free(t->kept);
    memory_free(t->blanked);
    memory_free(t->masks);
    memory_free(t);
}

const char *trainer_optimiser_name(const braid_trainer *t) {
    static const char *const names[] = {[BRAID_OPTIMISER_NONE] = "none",
                                        [BRAID_OPTIMISER_SGD] = "sgd",
                                        [BRAID_OPTIMISER_ADAM] = "adam",
                                        [BRAID_OPTIMISER_ADAMW] = "adamw",
                                        [BRAID_OPTIMISER_RMSPROP] = "rmsprop"};
    return names[t->options.step.optimiser];
}

const char *trainer_loss_name(const braid_trainer *t) {
    static const char *const names[] = {[BRAID_LOSS_NONE] = "usual",
                                        [BRAID_LOSS_CROSS_ENTROPY] = "cross_entropy",
                                        [BRAID_LOSS_FOCAL] = "focal",
                                        [BRAID_LOSS_MSE] = "mse"};
    return names[t->options.step.loss];
}

braid_status braid_trainer_describe(const braid_trainer *t, char *text, size_t size) {
    double rates[BRAID_MAX_GROUPS], decays[BRAID_MAX_GROUPS];
    char rate_text[RATES_TEXT_BYTES], decay_text[RATES_TEXT_BYTES], *rule = NULL;
    if (!t || !text)
        return fail(BRAID_ERROR_ARGUMENT, "braid_trainer_describe: expected a trainer and room for text, got NULL");
    for (int group = 0; group < t->groups; group++) {
        rates[group] = t->rates[group].learning_rate;
        decays[group] = t->rates[group].weight_decay;
    }
    rates_print(rates, &t->group_names, rate_text);
    rates_print(decays, &t->group_names, decay_text);
    TRY(schedule_print(&t->schedule, &rule));
    snprintf(text, size, "%s, rate %s, weight decay %s, %s", trainer_optimiser_name(t), rate_text, decay_text, rule);
    memory_free(rule);
    return BRAID_OK;
}
