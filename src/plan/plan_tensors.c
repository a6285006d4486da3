/*
 * What goes into a plan and what comes out of it, by name: inputs, labels and masks; outputs, losses and gradients.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "plan/plan.h"

/* The input plane of a name; -1: there is none. */
static int find_input(const braid_plan *plan, const char *name) {
    const graph *g = plan->model->graph;
    for (int j = 0; j < g->plane_count; j++) {
        if (g->planes[j].kind == PLANE_INPUT && strcmp(g->planes[j].name, name) == 0) return j;
    }
    return -1;
}

/* The tensor of a name; -1, with a message, where the plan has none. */
static int find_tensor(const braid_plan *plan, const char *name) {
    const program *p = &plan->program;
    const struct {
        const char *name;
        int tensor;
    } known[] = {{"output", p->output},
                 {"labels", p->options.loss == BRAID_LOSS_MSE ? -1 : p->labels},
                 {"target", p->options.loss == BRAID_LOSS_MSE ? p->labels : -1},
                 {"loss", p->loss},
                 {"correct", p->correct},
                 {"loss_scale", p->loss_scale},
                 {"class_weights", p->weights}};
    int input = find_input(plan, name);
    for (size_t j = 0; j < sizeof known / sizeof known[0]; j++) {
        if (strcmp(name, known[j].name) == 0 && known[j].tensor >= 0) return known[j].tensor;
    }
    if (input < 0)
        (void)!fail(
            BRAID_ERROR_ARGUMENT,
            "plan: expected an input stream, output, labels, target, loss, correct, loss_scale or class_weights, "
            "as far as the plan has them, got \"%.64s\"",
            name);
    return input;
}

static braid_status enter(const braid_plan *plan, const void *name, const char *caller) {
    if (!plan || !name) return fail(BRAID_ERROR_ARGUMENT, "%s: expected a plan and a name, got NULL", caller);
    return context_enter(plan->model->context, caller);
}

braid_status braid_plan_tensor(braid_plan *plan, const char *name, braid_operand_info *info, void **memory) {
    TRY(enter(plan, name, "braid_plan_tensor"));
    if (!info || !memory)
        return fail(BRAID_ERROR_ARGUMENT, "braid_plan_tensor: expected places for the answer, got NULL");
    if (plan->hyper && strcmp(name, "norm") == 0) {
        *info = (braid_operand_info){.name = "norm", .role = BRAID_ROLE_OUT, .dtype = plan->model->master, .planes = 1};
        info->rank = 1;
        info->dims[0][0] = info->pitch[0] = 1;
        info->bytes[0] = dtype_bytes(plan->model->master);
        *memory = model_metric(plan->model, METRIC_NORM);
        return BRAID_OK;
    }
    int index = find_tensor(plan, name);
    if (index < 0) return BRAID_ERROR_ARGUMENT;
    const tensor *t = &plan->program.tensors[index];
    *info = (braid_operand_info){.name = name, .dtype = t->shape.dtype, .planes = 1, .rank = t->shape.rank};
    info->role = index == plan->program.labels || find_input(plan, name) >= 0 ? BRAID_ROLE_IN : BRAID_ROLE_OUT;
    memcpy(info->dims[0], t->shape.dims, sizeof t->shape.dims);
    info->pitch[0] = t->shape.pitch;
    info->bytes[0] = t->bytes;
    *memory = plan_address(plan, index);
    return BRAID_OK;
}

/* The memory of a tensor, of which the caller means all bytes. */
static braid_status find_whole(braid_plan *plan, const char *name, const void *data, size_t bytes, void **memory) {
    braid_operand_info info;
    TRY(braid_plan_tensor(plan, name, &info, memory));
    if (!data || bytes != info.bytes[0])
        return fail(BRAID_ERROR_ARGUMENT, "plan: expected %zu bytes for %s, got %zu", info.bytes[0], name,
                    data ? bytes : 0);
    return BRAID_OK;
}

braid_status braid_plan_write(braid_plan *plan, const char *name, const void *data, size_t bytes) {
    void *memory;
    TRY(find_whole(plan, name, data, bytes, &memory));
    device *d = plan->model->context->device;
    return d->backend->upload(d, memory, data, bytes);
}

braid_status braid_plan_read(braid_plan *plan, const char *name, void *data, size_t bytes) {
    void *memory;
    TRY(find_whole(plan, name, data, bytes, &memory));
    device *d = plan->model->context->device;
    TRY(d->backend->synchronize(d));
    return d->backend->download(d, data, memory, bytes);
}

/* ---- Channels before pixels, as data comes --------------------------------------------------- */

/* [B][C][H][W] in `from` to [B][H][W][C] in the dtype of the shape. */
static void store_images(const plane_shape *shape, const void *data, braid_dtype from, void *out) {
    const int64_t *d = shape->dims;
    int64_t pixels = d[1] * d[2], channels = d[3];
    for (int64_t b = 0; b < d[0]; b++) {
        for (int64_t at = 0; at < pixels; at++) {
            for (int64_t c = 0; c < channels; c++)
                dtype_store(out, shape->dtype, (b * pixels + at) * channels + c,
                            dtype_load(data, from, (b * channels + c) * pixels + at));
        }
    }
}

braid_status braid_plan_set_input(braid_plan *plan, const char *stream, const void *data, size_t bytes) {
    TRY(enter(plan, stream, "braid_plan_set_input"));
    int index = find_input(plan, stream);
    if (index < 0)
        return fail(BRAID_ERROR_ARGUMENT, "braid_plan_set_input: expected a stream of the network, got \"%.64s\"",
                    stream);
    const tensor *t = &plan->program.tensors[index];
    braid_dtype master = plan->model->master;
    int64_t elements = (int64_t)(t->bytes / dtype_bytes(t->shape.dtype));
    size_t expected = (size_t)elements * dtype_bytes(master);
    if (!data || bytes != expected)
        return fail(BRAID_ERROR_ARGUMENT, "braid_plan_set_input: expected %zu bytes of %s for %s, got %zu", expected,
                    braid_dtype_name(master), stream, data ? bytes : 0);
    if (t->shape.rank == 4)
        store_images(&t->shape, data, master, plan->staging);
    else
        for (int64_t j = 0; j < elements; j++)
            dtype_store(plan->staging, t->shape.dtype, j, dtype_load(data, master, j));
    device *d = plan->model->context->device;
    return d->backend->upload(d, plan_address(plan, index), plan->staging, t->bytes);
}

braid_status braid_plan_get_output(braid_plan *plan, void *data, size_t bytes) {
    TRY(enter(plan, "output", "braid_plan_get_output"));
    const tensor *t = &plan->program.tensors[plan->program.output];
    braid_dtype master = plan->model->master;
    int64_t elements = (int64_t)(t->bytes / dtype_bytes(t->shape.dtype));
    size_t expected = (size_t)elements * dtype_bytes(master);
    if (!data || bytes != expected)
        return fail(BRAID_ERROR_ARGUMENT, "braid_plan_get_output: expected room for %zu bytes, got %zu", expected,
                    data ? bytes : 0);
    TRY(braid_plan_read(plan, "output", plan->staging, t->bytes));
    for (int64_t j = 0; j < elements; j++) dtype_store(data, master, j, dtype_load(plan->staging, t->shape.dtype, j));
    return BRAID_OK;
}

/* ---- Masks --------------------------------------------------------------------------------- */

/* Refuses a mask that an op of the plan cannot take. */
static braid_status check_mask(const braid_plan *plan, int mask, int64_t active) {
    for (int j = 0; j < plan->program.call_count; j++) {
        const call *c = &plan->program.calls[j];
        const op_info *o = op_of(&c->problem);
        int slot = op_slot(o, "mask");
        if (slot < 0 || !o->check_active || op_role(&c->problem, slot) == ROLE_NONE) continue;
        for (int i = 0; i < o->planes(&c->problem, slot); i++) {
            if (c->tensor[slot][i] == mask) TRY(o->check_active(&c->problem, i, active));
        }
    }
    return BRAID_OK;
}

braid_status braid_plan_set_mask(braid_plan *plan, int stream, const unsigned char *blanked) {
    TRY(enter(plan, "", "braid_plan_set_mask"));
    const graph *g = plan->model->graph;
    if (!plan->program.options.mask || stream < 0 || stream >= g->streams)
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_plan_set_mask: expected a plan with mask and a stream from 0 to %d, got stream %d%s",
                    g->streams - 1, stream, plan->program.options.mask ? "" : " of a plan without mask");
    int64_t batch = plan->program.options.batch, active = 0;
    const tensor *t = &plan->program.tensors[g->mask[stream]];
    uint32_t *words = plan->staging;
    if (!t->bytes) return BRAID_OK; /* no op of the plan reads it */
    memset(words, 0, t->bytes);
    for (int64_t b = 0; b < batch; b++) {
        int blank = blanked && blanked[b];
        if (blank) words[b >> 5] |= UINT32_C(1) << (b & 31);
        active += !blank;
    }
    TRY(check_mask(plan, g->mask[stream], active));
    device *d = plan->model->context->device;
    return d->backend->upload(d, plan_address(plan, g->mask[stream]), words, t->bytes);
}

/* ---- Gradients ----------------------------------------------------------------------------- */

braid_status braid_plan_gradient(braid_plan *plan, const char *parameter, void *data, size_t bytes) {
    void *host = NULL;
    TRY(enter(plan, parameter, "braid_plan_gradient"));
    int plane = model_find(plan->model, parameter);
    if (plane < 0) return BRAID_ERROR_ARGUMENT;
    const graph_plane *what = &plan->model->graph->planes[plane];
    size_t each = dtype_bytes(plan->model->master), expected = (size_t)plane_elements(what) * each;
    if (!plan->model->gradients || what->kind != PLANE_PARAMETER || bytes != expected || (!data && bytes))
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_plan_gradient: expected a parameter of a training plan and %zu bytes, got %s and %zu",
                    expected, parameter, bytes);
    device *d = plan->model->context->device;
    TRY(memory_alloc(1, bytes ? bytes : 1, "gradient", &host));
    braid_status status = d->backend->synchronize(d);
    const void *from = model_gradient_address(plan->model, plane, plan->model->master);
    if (!status && bytes) status = d->backend->download(d, host, from, bytes);
    if (!status && bytes) plane_to_file(what, host, data, each);
    memory_free(host);
    return status;
}
