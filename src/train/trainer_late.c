/*
 * What the device tells of the batches that were given to it. Every batch asks for a copy of the model's metrics, which
 * is looked at some batches later, so that the device never waits for the host; on the CPU at once. Whether an update
 * is made is decided on the device: here a run that has gone to infinity is only noticed, and since then nothing has
 * changed its parameters (ops/scaling.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "train/trainer.h"

#define SAMPLES_BYTES 256
#define WAY_OUT_BYTES 384

static device *device_of(const braid_trainer *t) { return t->model->context->device; }

/* ---- Scaling ------------------------------------------------------------------------------ */

braid_status trainer_start_scaling(braid_trainer *t) {
    const scaler *s = &t->at.scaler;
    const int64_t table[SCALING_COUNT] = {[SCALING_MODE] =
                                              t->model->dtype == BRAID_DTYPE_F16 ? SCALING_DYNAMIC : SCALING_HALTS,
                                          [SCALING_BATCHES] = 1,
                                          [SCALING_GOOD] = s->good,
                                          [SCALING_BAD] = s->skipped,
                                          [SCALING_SKIPPED] = s->all_skipped};
    if (t->is_scaling) return BRAID_OK;
    TRY(model_scaling_write(t->model, s->scale, table));
    t->is_scaling = true;
    return BRAID_OK;
}

static void end_scaling(braid_trainer *t) {
    const int64_t table[SCALING_COUNT] = {[SCALING_MODE] = SCALING_FIXED, [SCALING_BATCHES] = 1};
    if (t->is_scaling) (void)!model_scaling_write(t->model, 1, table);
    t->is_scaling = false;
}

/* ---- Life --------------------------------------------------------------------------------- */

braid_status trainer_late_open(braid_trainer *t) {
    device *d = device_of(t);
    t->late_count = d->backend->runs_ahead + 1;
    TRY(memory_calloc((size_t)t->late_count, sizeof *t->late, "metrics", (void **)&t->late));
    for (int j = 0; j < t->late_count; j++) TRY(d->backend->reading_create(d, METRIC_BYTES, &t->late[j].reading));
    return BRAID_OK;
}

void trainer_late_close(braid_trainer *t) {
    device *d = device_of(t);
    end_scaling(t);
    for (int j = 0; t->late && j < t->late_count; j++) d->backend->reading_destroy(d, t->late[j].reading);
    memory_free(t->late);
    t->late = NULL;
}

/* ---- Looking ------------------------------------------------------------------------------ */

static void print_samples(const late_batch *b, char text[SAMPLES_BYTES]) {
    int used = snprintf(text, SAMPLES_BYTES, "in a batch of samples ");
    for (int64_t j = 0; j < b->samples && j < TRAINER_NAMED; j++)
        used += snprintf(text + used, SAMPLES_BYTES - (size_t)used, "%s%lld", j ? ", " : "", (long long)b->ids[j]);
    if (b->samples > TRAINER_NAMED) snprintf(text + used, SAMPLES_BYTES - (size_t)used, ", ...");
}

/* From where, and how, a run that has gone to infinity can go on. */
static void print_way_out(const braid_trainer *t, char text[WAY_OUT_BYTES]) {
    const char *path = t->last.known_good ? t->last.newest : t->options.resume ? t->last.previous : NULL;
    bool has_older = path == t->last.newest && access(t->last.previous, F_OK) == 0;
    if (path)
        snprintf(text, WAY_OUT_BYTES,
                 "the last good checkpoint is %.200s: go on from it with --resume and a lower learning rate (--rate)%s",
                 path,
                 has_older ? "; if it is too late there, put last.previous.safetensors in its place and try again"
                           : "");
    else
        snprintf(text, WAY_OUT_BYTES,
                 "there is no checkpoint yet: begin again with a lower learning rate (--rate) or a warm-up "
                 "(--schedule cosine:warmup=2)");
}

/* `where` says where it was found. */
static braid_status diverged_at(braid_trainer *t, int64_t step, const char *what, double value, const char *where) {
    char way_out[WAY_OUT_BYTES], epoch[48] = "";
    t->diverged = true;
    if (t->validating) snprintf(epoch, sizeof epoch, "epoch %lld, ", (long long)t->at.epoch + 1);
    print_way_out(t, way_out);
    return fail(BRAID_ERROR_DIVERGED, "%sstep %lld: expected a finite %s%s, got %g, %s; nothing of it is saved; %s",
                epoch, (long long)step, what, t->validating ? " of validation" : "", isnan(value) ? NAN : value, where,
                way_out);
}

static braid_status diverged(braid_trainer *t, const late_batch *b, const char *what, double value) {
    char samples[SAMPLES_BYTES];
    print_samples(b, samples);
    return diverged_at(t, b->step, what, value, samples);
}

braid_status trainer_refuse_save(braid_trainer *t) {
    char why[SAMPLES_BYTES], samples[SAMPLES_BYTES] = "", way_out[WAY_OUT_BYTES];
    t->diverged = true;
    snprintf(why, sizeof why, "%s", fail_message());
    if (t->learned.samples) print_samples(&t->learned, samples);
    print_way_out(t, way_out);
    return fail(BRAID_ERROR_DIVERGED, "step %lld: %s%s%s; %s", (long long)t->at.step, why,
                samples[0] ? "; the last update was learned " : "", samples, way_out);
}

/* The running statistic that is no number; NULL: there is none. `states` is the host's copy of the model's. */
static const char *spoiled_statistic(const braid_model *m, const char *states, double *value) {
    for (int j = 0; j < m->graph->plane_count; j++) {
        const graph_plane *plane = &m->graph->planes[j];
        if (plane->kind != PLANE_STATE || plane->is_counter) continue;
        for (int64_t at = 0; at < plane_elements(plane); at++) {
            *value = dtype_load(states + m->offset[j], m->master, at);
            if (!isfinite(*value)) return plane->name;
        }
    }
    return NULL;
}

/* A running statistic that is no number stays so, and no loss of training shows it: they are looked at behind every
 * batch where they lie in the host's memory, elsewhere behind every epoch and when they are saved. */
static braid_status check_statistics(braid_trainer *t, const late_batch *b) {
    double value;
    const braid_model *m = t->model;
    const char *name = device_of(t)->backend->has_own_memory ? NULL : spoiled_statistic(m, m->states, &value);
    return name ? diverged(t, b, name, value) : BRAID_OK;
}

braid_status trainer_check_epoch(braid_trainer *t) {
    const braid_model *m = t->model;
    device *d = device_of(t);
    char *states = NULL, where[SAMPLES_BYTES];
    double value;
    if (!d->backend->has_own_memory || m->state_bytes == 0) return BRAID_OK;
    TRY(memory_alloc(m->state_bytes, 1, "running statistics", (void **)&states));
    braid_status status = d->backend->synchronize(d);
    if (!status) status = d->backend->download(d, states, m->states, m->state_bytes);
    const char *name = status ? NULL : spoiled_statistic(m, states, &value);
    memory_free(states);
    snprintf(where, sizeof where, "in one of the batches of epoch %lld, after which a GPU's statistics are checked",
             (long long)t->at.epoch + 1);
    return name ? diverged_at(t, t->at.step, name, value, where) : status;
}

static double real_at(const braid_trainer *t, const int64_t *cells, int metric) {
    return dtype_load(&cells[metric], t->model->master, 0);
}

static braid_status add_to_tally(braid_trainer *t, const late_batch *b, const int64_t *cells) {
    tally sum = *b->sum;
    sum.loss += real_at(t, cells, METRIC_LOSS);
    if (t->has_labels) sum.correct += cells[METRIC_CORRECT];
    sum.samples += b->samples;
    sum.batches++;
    if ((b->is_learned || t->validating) && !isfinite(sum.loss)) return diverged(t, b, "loss", sum.loss);
    *b->sum = sum;
    return BRAID_OK;
}

static braid_status follow_update(braid_trainer *t, const late_batch *b, const int64_t *cells) {
    const int64_t *table = cells + METRIC_SCALING;
    t->norm = real_at(t, cells, METRIC_NORM);
    t->at.scaler = (scaler){.scale = real_at(t, cells, METRIC_LOSS_SCALE),
                            .good = table[SCALING_GOOD],
                            .skipped = table[SCALING_BAD],
                            .all_skipped = table[SCALING_SKIPPED]};
    return isnan(t->at.scaler.scale) ? diverged(t, b, "gradient", t->norm) : BRAID_OK;
}

/* Looks at the oldest batch that nobody has looked at. */
static braid_status take(braid_trainer *t) {
    device *d = device_of(t);
    late_batch *b = &t->late[t->taken++ % t->late_count];
    const void *cells;
    TRY(d->backend->reading_get(d, b->reading, &cells));
    if (b->sum) TRY(add_to_tally(t, b, cells));
    return b->is_updated ? follow_update(t, b, cells) : BRAID_OK;
}

braid_status trainer_expect(braid_trainer *t, const pass *p, tally *sum, late_kind kind) {
    device *d = device_of(t);
    late_batch *b = &t->late[t->asked % t->late_count];
    b->sum = sum;
    b->is_learned = kind != LATE_LOOKED_AT;
    b->is_updated = kind == LATE_UPDATED;
    b->samples = p->batch;
    b->step = t->at.step + b->is_learned;
    for (int64_t j = 0; j < p->batch && j < TRAINER_NAMED; j++) b->ids[j] = p->feed.ids[j];
    if (b->is_learned) t->learned = *b;
    TRY(d->backend->reading_ask(d, b->reading, t->model->metrics));
    t->asked++;
    while (t->asked - t->taken > d->backend->runs_ahead) TRY(take(t));
    return b->is_learned ? check_statistics(t, b) : BRAID_OK;
}

braid_status trainer_catch_up(braid_trainer *t) {
    while (t->taken < t->asked) TRY(take(t));
    return BRAID_OK;
}

void trainer_look_away(braid_trainer *t) { t->taken = t->asked; }
