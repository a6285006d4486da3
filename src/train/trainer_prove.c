/*
 * Whether the parameters of a run may be saved. Numbers that are finite can be so large that the next loss is none, and
 * the run that goes on from them ends at once. So before a save the last batch, which still lies in the inputs of its
 * plan, goes forward once more; what that changes (running statistics, keys of dropout, metrics) is put back. Behind
 * an epoch that was validated there is nothing to do.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "train/trainer.h"

static braid_status keep(const braid_model *m, char *kept) {
    device *d = m->context->device;
    TRY(d->backend->synchronize(d));
    TRY(d->backend->download(d, kept, m->metrics, METRIC_BYTES));
    return m->state_bytes ? d->backend->download(d, kept + METRIC_BYTES, m->states, m->state_bytes) : BRAID_OK;
}

static braid_status put_back(braid_model *m, const char *kept) {
    device *d = m->context->device;
    m->keys_known = 0; /* keys of dropout are among the states */
    TRY(d->backend->upload(d, m->metrics, kept, METRIC_BYTES));
    return m->state_bytes ? d->backend->upload(d, m->states, kept + METRIC_BYTES, m->state_bytes) : BRAID_OK;
}

static braid_status read_loss(const braid_model *m, double *loss) {
    device *d = m->context->device;
    double raw = 0;
    TRY(d->backend->synchronize(d));
    TRY(d->backend->download(d, &raw, model_metric(m, METRIC_LOSS), sizeof raw));
    *loss = dtype_load(&raw, m->master, 0);
    return BRAID_OK;
}

braid_status trainer_prove(braid_trainer *t) {
    braid_model *m = t->model;
    void *kept;
    double loss = NAN;
    if (!t->trained || t->proven == t->at.step) return BRAID_OK;
    TRY(memory_alloc(METRIC_BYTES + m->state_bytes, 1, "the state of a run before a save", &kept));
    braid_status status = keep(m, kept);
    if (!status) status = braid_plan_run(t->trained->plan, BRAID_SEGMENT_FORWARD);
    if (!status) status = read_loss(m, &loss);
    if (!status) status = put_back(m, kept);
    memory_free(kept);
    TRY(status);
    if (!isfinite(loss))
        return fail(BRAID_ERROR_DIVERGED,
                    "checkpoint: expected a finite loss of the parameters after this step, got %g; nothing was saved",
                    isnan(loss) ? NAN : loss);
    t->proven = t->at.step;
    return BRAID_OK;
}
