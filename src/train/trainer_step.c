/*
 * One batch of training. The loss is looked at before anything is updated, so that a run that has gone to infinity
 * ends with the parameters of its last good step.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "train/trainer.h"

#define ROW 64  /* elements: parameters are aligned to it */
#define NAMED 5 /* samples in a message */

/* Of f16, as usual. */
#define SCALE_GROWS_AFTER 2000
#define MOST_SKIPPED 20
#define LEAST_SCALE (1.0 / 1024)
#define MOST_SCALE (65536.0 * 65536.0)

int trainer_accumulates(const braid_trainer *t) { return t->options.accumulate > 1; }

/* ---- Divergence --------------------------------------------------------------------------- */

static braid_status diverged(const braid_trainer *t, const pass *p, const char *what, double value) {
    char names[NAMED * 24] = "";
    int used = 0;
    for (int64_t b = 0; b < p->batch && b < NAMED; b++)
        used += snprintf(names + used, sizeof names - (size_t)used, "%s%lld", b ? ", " : "", (long long)p->feed.ids[b]);
    return fail(
        BRAID_ERROR_DIVERGED,
        "step %lld: expected a finite %s, got %g, in a batch of samples %s%s; the last checkpoint is as it was; "
        "try a smaller learning rate or a warm-up",
        (long long)t->at.step + 1, what, value, names, p->batch > NAMED ? ", ..." : "");
}

/* ---- Modality dropout --------------------------------------------------------------------- */

static braid_status set_masks(braid_trainer *t, const pass *p, double share) {
    uint32_t *masks[BRAID_MAX_STREAMS];
    int64_t blanked[BRAID_MAX_STREAMS];
    const modality_batch of = {.seed = t->options.seed,
                               .step = t->at.step,
                               .first = t->gathered_samples,
                               .batch = p->batch,
                               .streams = t->streams};
    if (!p->mask) return BRAID_OK;
    for (int i = 0; i < t->streams; i++) masks[i] = t->masks + (size_t)i * (size_t)((p->batch + 31) / 32);
    modality_draw(&of, share, masks, blanked);
    for (int i = 0; i < t->streams; i++) {
        for (int64_t b = 0; b < p->batch; b++) t->blanked[b] = masks[i][b >> 5] >> (b & 31) & 1;
        TRY(braid_plan_set_mask(p->plan, i, t->blanked));
    }
    return BRAID_OK;
}

/* ---- Accumulation ------------------------------------------------------------------------- */

static braid_status make_sums(braid_trainer *t) {
    const braid_model *m = t->model;
    const braid_problem p = {.op = BRAID_OP_ADD,
                             .dtype = m->master,
                             .streams = 1,
                             .batch = m->elements / ROW,
                             .size = {1, 1},
                             .in_channels = {ROW}};
    const braid_plan_options at_once = {.effort = BRAID_EFFORT_ESTIMATE};
    size_t bytes = (size_t)m->elements * dtype_bytes(m->master);
    if (t->add) return BRAID_OK;
    if (!t->sum) TRY(braid_memory_create(m->context, bytes, &t->sum));
    if (!t->spare) TRY(braid_memory_create(m->context, bytes, &t->spare));
    TRY(braid_op_create(m->context, &p, &t->add));
    return braid_op_plan(t->add, &at_once);
}

/* Adds the gradients of a batch to the sum; behind the last one, the sum takes their place. */
static braid_status gather(braid_trainer *t) {
    const braid_model *m = t->model;
    device *d = m->context->device;
    size_t bytes = (size_t)m->elements * dtype_bytes(m->master);
    if (!trainer_accumulates(t)) return BRAID_OK;
    TRY(make_sums(t));
    if (t->gathered == 0) return d->backend->copy(d, t->sum, m->gradients, bytes);
    const braid_operand operands[] = {{"x", {t->sum}}, {"z", {m->gradients}}, {"y", {t->spare}}};
    TRY(braid_op_run(t->add, operands, 3));
    void *made = t->spare;
    t->spare = t->sum;
    t->sum = made;
    return BRAID_OK;
}

/* ---- A batch ------------------------------------------------------------------------------ */

static braid_status set_scale(const braid_trainer *t, const pass *p, double scale) {
    double raw = 0;
    size_t bytes = dtype_bytes(t->model->master);
    dtype_store(&raw, t->model->master, 0, scale);
    return braid_plan_write(p->plan, "loss_scale", &raw, bytes);
}

/* At the start, the plan of validation too: so that every kernel that was measured is in the first checkpoint. */
static braid_status plan_ahead(braid_trainer *t, int64_t batch, int mask) {
    pass *p;
    if (t->trained || t->options.no_validation) return BRAID_OK;
    TRY(trainer_pass(t, BRAID_PHASE_TRAIN, batch, mask, &p));
    return trainer_pass(t, BRAID_PHASE_EVAL, batch, 0, &p);
}

braid_status trainer_learn(braid_trainer *t, const braid_train_batch *batch) {
    double share = t->options.modality_dropout > 0 ? modality_share(&t->modality, t->at.epoch) : 0;
    tally sum = t->at.train;
    pass *p;
    int mask = t->options.modality_dropout > 0 && t->streams > 1;
    TRY(plan_ahead(t, batch->count, mask));
    TRY(trainer_pass(t, BRAID_PHASE_TRAIN, batch->count, mask, &p));
    TRY(feed_batch(&p->feed, batch, t->at.step));
    TRY(set_masks(t, p, share));
    TRY(set_scale(t, p, t->at.scaler.scale));
    TRY(braid_plan_run(p->plan, BRAID_SEGMENT_FORWARD | BRAID_SEGMENT_BACKWARD));
    TRY(trainer_read_tally(t, p, &sum));
    if (!isfinite(sum.loss)) return diverged(t, p, "loss", sum.loss);
    TRY(gather(t));
    t->trained = p;
    t->at.train = sum;
    t->at.batch++;
    t->gathered++;
    t->gathered_samples += batch->count;
    return t->gathered >= t->options.accumulate ? trainer_update(t) : BRAID_OK;
}

/* ---- The update --------------------------------------------------------------------------- */

/* Follows the norm of the gradients: f16 may overflow now and then. */
static braid_status follow_norm(braid_trainer *t, const pass *p) {
    scaler *s = &t->at.scaler;
    if (t->model->dtype != BRAID_DTYPE_F16) return isfinite(t->norm) ? BRAID_OK : diverged(t, p, "gradient", t->norm);
    if (!isfinite(t->norm)) {
        s->scale /= 2;
        s->good = 0;
        return ++s->skipped > MOST_SKIPPED || s->scale < LEAST_SCALE ? diverged(t, p, "gradient", t->norm) : BRAID_OK;
    }
    s->skipped = 0;
    if (++s->good < SCALE_GROWS_AFTER) return BRAID_OK;
    s->good = 0;
    if (s->scale < MOST_SCALE) s->scale *= 2;
    return BRAID_OK;
}

static braid_status set_rates(braid_trainer *t, const pass *p) {
    for (int group = 0; group < t->groups; group++) {
        braid_rates rates = t->rates[group];
        rates.learning_rate = schedule_rate(&t->schedule, &t->at.schedule, t->at.step, group, rates.learning_rate);
        t->rate = rates.learning_rate;
        TRY(braid_plan_set_rates(p->plan, group, &rates));
    }
    return BRAID_OK;
}

braid_status trainer_update(braid_trainer *t) {
    const braid_model *m = t->model;
    device *d = m->context->device;
    if (t->gathered == 0) return BRAID_OK;
    pass *p = t->trained;
    if (trainer_accumulates(t)) {
        TRY(d->backend->copy(d, m->gradients, t->sum, (size_t)m->elements * dtype_bytes(m->master)));
        TRY(set_scale(t, p, t->at.scaler.scale * (double)t->gathered)); /* the mean of the batches */
    }
    TRY(set_rates(t, p));
    TRY(braid_plan_run(p->plan, BRAID_SEGMENT_UPDATE));
    TRY(trainer_read_real(t, p->plan, "norm", &t->norm));
    TRY(follow_norm(t, p));
    t->at.step++;
    t->gathered = t->gathered_samples = 0;
    return BRAID_OK;
}
