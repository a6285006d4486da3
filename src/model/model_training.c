/*
 * The optimiser's state of a model, as checkpoints have it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "model/model.h"

static char *moment_of(const braid_model *model, int moment) { return moment ? model->v : model->m; }

int model_has_moment(const braid_model *model, int moment) { return moment_of(model, moment) != NULL; }

/* Where the moment of a parameter lies, and memory for it as it lies there. */
static braid_status start(const braid_model *model, int moment, int plane, void **device_memory, void **host) {
    size_t each = dtype_bytes(model->master), elements = (size_t)plane_elements(&model->graph->planes[plane]);
    *device_memory = moment_of(model, moment) + (size_t)model->offset[plane] * each;
    return memory_alloc(elements + 1, each, "moments", host);
}

braid_status model_moment_read(const braid_model *model, int moment, int plane, void *data) {
    device *d = model->context->device;
    const graph_plane *what = &model->graph->planes[plane];
    size_t each = dtype_bytes(model->master), bytes = (size_t)plane_elements(what) * each;
    void *at, *host;
    if (!bytes) return BRAID_OK;
    TRY(start(model, moment, plane, &at, &host));
    braid_status status = d->backend->synchronize(d);
    if (!status) status = d->backend->download(d, host, at, bytes);
    if (!status) plane_to_file(what, host, data, each);
    memory_free(host);
    return status;
}

braid_status model_moment_write(braid_model *model, int moment, int plane, const void *data) {
    device *d = model->context->device;
    const graph_plane *what = &model->graph->planes[plane];
    size_t each = dtype_bytes(model->master), bytes = (size_t)plane_elements(what) * each;
    void *at, *host;
    if (!bytes) return BRAID_OK;
    TRY(start(model, moment, plane, &at, &host));
    plane_from_file(what, data, host, each);
    braid_status status = d->backend->upload(d, at, host, bytes);
    memory_free(host);
    return status;
}

braid_status model_scaling_write(braid_model *model, double loss_scale, const int64_t scaling[SCALING_COUNT]) {
    device *d = model->context->device;
    double raw = 0;
    dtype_store(&raw, model->master, 0, loss_scale);
    TRY(d->backend->upload(d, model_metric(model, METRIC_LOSS_SCALE), &raw, sizeof raw));
    return d->backend->upload(d, model_metric(model, METRIC_SCALING), scaling, SCALING_COUNT * sizeof *scaling);
}

braid_status braid_model_scale_loss(braid_model *model, double loss_scale, int follow) {
    const int64_t table[SCALING_COUNT] = {
        [SCALING_MODE] = follow ? SCALING_DYNAMIC : SCALING_FIXED, [SCALING_BATCHES] = 1};
    if (!model || !(loss_scale > 0) || !isfinite(loss_scale))
        return fail(BRAID_ERROR_ARGUMENT, "braid_model_scale_loss: expected a model and a factor above 0, got %g",
                    loss_scale);
    TRY(context_enter(model->context, "braid_model_scale_loss"));
    return model_scaling_write(model, loss_scale, table);
}

braid_status model_step_read(const braid_model *model, int64_t *step) {
    device *d = model->context->device;
    *step = 0;
    if (!model->step) return BRAID_OK;
    TRY(d->backend->synchronize(d));
    return d->backend->download(d, step, model->step, sizeof *step);
}

braid_status model_step_write(braid_model *model, int64_t step) {
    device *d = model->context->device;
    TRY(model_need_training(model, 0, 0));
    return d->backend->upload(d, model->step, &step, sizeof step);
}
