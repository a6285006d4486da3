/*
 * The plans of a trainer: one for every phase, size of batch and use of masks that comes up.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "core/memory.h"
#include "race/measure.h"
#include "plan/pins.h"
#include "train/trainer.h"

static void forget(pass *p) {
    feed_destroy(&p->feed);
    braid_plan_destroy(p->plan);
    *p = (pass){0};
}

void trainer_forget_passes(braid_trainer *t) {
    for (int j = 0; j < t->pass_count; j++) forget(&t->passes[j]);
    t->pass_count = 0;
    t->trained = NULL;
}

/* Forgets all plans but the one whose gradients wait for their update. */
static void make_room(braid_trainer *t) {
    pass kept = {0};
    int waits = t->gathered > 0 && t->trained;
    if (waits) {
        kept = *t->trained;
        *t->trained = (pass){0};
    }
    trainer_forget_passes(t);
    if (!waits) return;
    t->passes[t->pass_count++] = kept;
    t->trained = &t->passes[0];
}

static braid_status write_class_weights(const braid_trainer *t, braid_plan *plan) {
    braid_operand_info info;
    void *memory, *values;
    if (!t->options.step.class_weights || !t->options.class_weights) return BRAID_OK;
    TRY(braid_plan_tensor(plan, "class_weights", &info, &memory));
    TRY(memory_alloc(1, info.bytes[0], "class weights", &values));
    dtype_from_f64(values, info.dtype, t->options.class_weights, info.dims[0][0]);
    braid_status status = braid_plan_write(plan, "class_weights", values, info.bytes[0]);
    memory_free(values);
    return status;
}

/* Plans share the seconds of the run; with none left, and for other sizes of batch, what is known must do. */
static braid_status make_plan(braid_trainer *t, braid_plan_request *r, braid_plan **plan) {
    double start = measure_now();
    int is_limited = r->choice.effort == BRAID_EFFORT_MEASURE && !r->choice.all;
    if (is_limited && t->seconds_left <= 0) r->choice = (braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE};
    if (is_limited && t->seconds_left > 0) r->choice.seconds = t->seconds_left;
    TRY(braid_plan_create(t->model, r, plan));
    t->seconds_left -= measure_now() - start;
    return model_keep_choices(t->model, *plan);
}

/* Whether activations are kept or made again decides which calls are fused, and so the last bits: all plans for
 * training of a run do as its first one, which may have gone by the memory that was free. Where there is no room for
 * that any more, a run that was not told to keep them goes on without. */
static braid_status make_as_before(braid_trainer *t, braid_plan_request *r, braid_plan **plan) {
    int is_told = r->keep_all != 0;
    const braid_plan_options wanted = r->choice;
    if (r->phase != BRAID_PHASE_TRAIN) return make_plan(t, r, plan);
    if (!is_told) r->keep_all = t->keeps;
    braid_status status = make_plan(t, r, plan);
    if (status == BRAID_ERROR_MEMORY && !is_told && t->keeps > 0) {
        trainer_tell(t,
                     &(braid_train_event){.kind = BRAID_TRAIN_EVENT_NOTE,
                                          .text = "there is not as much free memory as when the run began: activations "
                                                  "are recomputed instead of kept, and from here on its bits may not "
                                                  "be those of a run that was never stopped"});
        r->choice = wanted;
        r->keep_all = -1;
        return make_plan(t, r, plan);
    }
    if (!status) t->keeps = braid_plan_keeps_all(*plan);
    return status;
}

static braid_status make(braid_trainer *t, pass *p) {
    braid_plan_request r = t->options.step;
    r.phase = p->phase;
    r.batch = p->batch;
    r.mask = p->mask;
    if (p->phase == BRAID_PHASE_EVAL) {
        r.optimiser = BRAID_OPTIMISER_NONE;
        if (p->mask) r.choice.effort = BRAID_EFFORT_ESTIMATE; /* runs too seldom to be raced for */
        if (r.loss == BRAID_LOSS_NONE) r.loss = t->has_labels ? BRAID_LOSS_CROSS_ENTROPY : BRAID_LOSS_MSE;
    }
    TRY(make_as_before(t, &r, &p->plan));
    TRY(feed_create(&p->feed, t->model, p->plan, &t->options, p->phase, p->batch));
    return write_class_weights(t, p->plan);
}

braid_status trainer_pass(braid_trainer *t, braid_phase phase, int64_t batch, int mask, pass **out) {
    if (batch < 1 || batch > t->options.step.batch)
        return fail(BRAID_ERROR_ARGUMENT, "trainer: expected 1 to %lld samples from the source, got %lld",
                    (long long)t->options.step.batch, (long long)batch);
    for (int j = 0; j < t->pass_count; j++) {
        *out = &t->passes[j];
        if ((*out)->phase == phase && (*out)->batch == batch && (*out)->mask == mask) return BRAID_OK;
    }
    if (t->pass_count == TRAINER_MOST_PASSES) make_room(t);
    pass made = {.phase = phase, .batch = batch, .mask = mask};
    braid_status status = make(t, &made);
    if (status) {
        forget(&made);
        return status;
    }
    *out = &t->passes[t->pass_count++];
    **out = made;
    return BRAID_OK;
}
