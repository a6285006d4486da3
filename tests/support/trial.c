/*
 * Networks on trial.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "tests/support/trial.h"

#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "tests/support/given_net.h"

trial trial_open(const trial_setup *setup) {
    const braid_context_options options = {.device = setup->device ? setup->device : "cpu",
                                           .threads = setup->threads ? setup->threads : 1,
                                           .repro = setup->repro,
                                           .cache_dir = "",
                                           .disable = setup->disable ? setup->disable : ""};
    trial t = {.net = setup->kind ? given_net(setup->kind, &setup->net) : setup->built};
    OK(braid_context_create(&options, &t.context));
    const braid_model_options model = {.dtype = setup->dtype, .tf32 = setup->tf32, .seed = setup->seed};
    OK(braid_model_create(t.context, t.net, &model, &t.model));
    t.plan = trial_plan(&t, &setup->request);
    return t;
}

void trial_close(trial *t) {
    braid_plan_destroy(t->plan);
    braid_model_destroy(t->model);
    braid_context_destroy(t->context);
    braid_net_destroy(t->net);
    *t = (trial){0};
}

braid_plan *trial_plan(const trial *t, const braid_plan_request *request) {
    braid_plan_request r = *request;
    braid_plan *plan = NULL;
    r.choice.effort = BRAID_EFFORT_ESTIMATE;
    OK(braid_plan_create(t->model, &r, &plan));
    return plan;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static void *take(size_t count, size_t bytes) {
    void *memory = NULL;
    OK(memory_calloc(count + 1, bytes, "numbers", &memory));
    return memory;
}

static const graph_plane *plane_of(const trial *t, const char *name) {
    int plane = model_find(t->model, name);
    if (plane < 0) fail_msg("%s", braid_message());
    return &t->model->graph->planes[plane];
}

static braid_dtype dtype_of(const trial *t, const graph_plane *plane) {
    return plane->is_counter ? BRAID_DTYPE_I64 : t->model->master;
}

static double *read_doubles(const trial *t, const char *name, int is_gradient, int64_t *count) {
    const graph_plane *plane = plane_of(t, name);
    braid_dtype dtype = dtype_of(t, plane);
    *count = plane_elements(plane);
    size_t bytes = (size_t)*count * dtype_bytes(dtype);
    void *raw = take((size_t)*count, dtype_bytes(dtype));
    double *values = take((size_t)*count, sizeof *values);
    if (is_gradient)
        OK(braid_plan_gradient(t->plan, name, raw, bytes));
    else
        OK(braid_model_read(t->model, name, raw, bytes));
    for (int64_t j = 0; j < *count; j++) values[j] = dtype_load(raw, dtype, j);
    memory_free(raw);
    return values;
}

double *trial_read(const trial *t, const char *name, int64_t *count) { return read_doubles(t, name, 0, count); }

double trial_read_one(const trial *t, const char *name) {
    int64_t count;
    double *values = trial_read(t, name, &count), first = values[0];
    memory_free(values);
    return first;
}

double *trial_gradient(const trial *t, const char *name, int64_t *count) { return read_doubles(t, name, 1, count); }

void trial_write(const trial *t, const char *name, const double *values, int64_t count) {
    const graph_plane *plane = plane_of(t, name);
    braid_dtype dtype = dtype_of(t, plane);
    void *raw = take((size_t)count, dtype_bytes(dtype));
    assert_int_equal(count, plane_elements(plane));
    for (int64_t j = 0; j < count; j++) dtype_store(raw, dtype, j, values[j]);
    OK(braid_model_write(t->model, name, raw, (size_t)count * dtype_bytes(dtype)));
    memory_free(raw);
}

static double rms_of(const double *values, int64_t count) {
    double sum = 0;
    for (int64_t j = 0; j < count; j++) sum += values[j] * values[j];
    return count ? sqrt(sum / (double)count) : 0;
}

void trial_shake(trial *t, uint64_t seed, int states) {
    const graph *g = t->model->graph;
    for (int plane = 0; plane < g->plane_count; plane++) {
        const graph_plane *what = &g->planes[plane];
        int64_t count;
        if (what->kind != PLANE_PARAMETER && !(states && what->kind == PLANE_STATE && !what->is_counter)) continue;
        rng r = {.seed = seed, .stream = (uint64_t)plane};
        double *values = trial_read(t, what->name, &count), size = rms_of(values, count);
        for (int64_t j = 0; j < count; j++) {
            if (what->kind == PLANE_STATE)
                values[j] += 0.5 * rng_uniform(&r); /* a variance stays positive */
            else
                values[j] += 0.3 * (size > 0 ? size : 1) * rng_normal(&r);
        }
        trial_write(t, what->name, values, count);
        memory_free(values);
    }
}

/* ---- Running -------------------------------------------------------------------------------- */

/* The numbers of one input, [B][C][H][W], each sample from a stream of its own. */
static void feed_input(const trial *t, braid_plan *plan, int stream, uint64_t seed, int64_t first) {
    const char *name = braid_net_stream(t->net, stream, NULL);
    braid_operand_info info;
    void *memory;
    OK(braid_plan_tensor(plan, name, &info, &memory));
    braid_dtype master = t->model->master;
    int64_t each = 1, batch = info.dims[0][0];
    for (int axis = 1; axis < info.rank; axis++) each *= info.dims[0][axis];
    void *data = take((size_t)(batch * each), dtype_bytes(master));
    for (int64_t b = 0; b < batch; b++) {
        rng r = {.seed = seed, .stream = (uint64_t)(stream + 1) * 4096 + (uint64_t)(first + b)};
        for (int64_t j = 0; j < each; j++) dtype_store(data, master, b * each + j, rng_normal(&r));
    }
    OK(braid_plan_set_input(plan, name, data, (size_t)(batch * each) * dtype_bytes(master)));
    memory_free(data);
}

static void feed_target(const trial *t, braid_plan *plan, const char *name, uint64_t seed, int64_t first) {
    braid_operand_info info;
    void *memory;
    OK(braid_plan_tensor(plan, name, &info, &memory));
    int64_t batch = info.dims[0][0], each = info.rank == 1 ? 1 : info.dims[0][info.rank - 1];
    int64_t classes = graph_channels(t->model->graph, t->model->graph->output, 0);
    void *data = take((size_t)(batch * each), dtype_bytes(info.dtype));
    for (int64_t b = 0; b < batch; b++) {
        rng r = {.seed = seed, .stream = (uint64_t)(first + b)};
        for (int64_t j = 0; j < each; j++)
            dtype_store(data, info.dtype, b * each + j,
                        info.dtype == BRAID_DTYPE_I32 ? (double)(rng_u32(&r) % (uint32_t)classes) : rng_normal(&r));
    }
    OK(braid_plan_write(plan, name, data, info.bytes[0]));
    memory_free(data);
}

void trial_feed(const trial *t, braid_plan *plan, uint64_t seed, int64_t first) {
    int is_mse = plan->program.options.loss == BRAID_LOSS_MSE;
    for (int i = 0; i < braid_net_stream_count(t->net); i++) feed_input(t, plan, i, seed, first);
    if (plan->program.labels >= 0) feed_target(t, plan, is_mse ? "target" : "labels", seed, first);
}

void trial_run(braid_plan *plan, unsigned segments) { OK(braid_plan_run(plan, segments)); }

void trial_set_rates(braid_plan *plan, double learning_rate, double weight_decay) {
    const braid_rates rates = {learning_rate, weight_decay, 1};
    for (int group = 0; group < braid_plan_group_count(plan); group++) OK(braid_plan_set_rates(plan, group, &rates));
}

double trial_loss(braid_plan *plan) {
    double raw[1];
    braid_dtype dtype = plan->program.tensors[plan->program.loss].shape.dtype;
    OK(braid_plan_read(plan, "loss", raw, dtype_bytes(dtype)));
    return dtype_load(raw, dtype, 0);
}

double *trial_output(braid_plan *plan, int64_t *count) {
    const tensor *output = &plan->program.tensors[plan->program.output];
    braid_dtype master = plan->model->master;
    *count = (int64_t)(output->bytes / dtype_bytes(output->shape.dtype));
    void *raw = take((size_t)*count, dtype_bytes(master));
    double *values = take((size_t)*count, sizeof *values);
    OK(braid_plan_get_output(plan, raw, (size_t)*count * dtype_bytes(master)));
    for (int64_t j = 0; j < *count; j++) values[j] = dtype_load(raw, master, j);
    memory_free(raw);
    return values;
}

/* ---- Seeing --------------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *at = data;
    for (size_t j = 0; j < bytes; j++) hash = (hash ^ at[j]) * UINT64_C(0x100000001B3);
    return hash;
}

uint64_t trial_hash(const trial *t) {
    const braid_model *m = t->model;
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (int plane = 0; plane < m->graph->plane_count; plane++) {
        const graph_plane *what = &m->graph->planes[plane];
        if (m->offset[plane] < 0) continue;
        braid_dtype dtype = dtype_of(t, what);
        size_t elements = (size_t)plane_elements(what);
        hash = hash_bytes(hash, model_address(m, plane, dtype), elements * dtype_bytes(dtype));
        if (m->half && what->kind == PLANE_PARAMETER)
            hash = hash_bytes(hash, model_address(m, plane, m->dtype), elements * dtype_bytes(m->dtype));
    }
    return hash;
}

double *trial_tensor(const braid_plan *plan, int index, int64_t *count) {
    const tensor *t = &plan->program.tensors[index];
    const void *memory = plan_address(plan, index);
    int64_t rows = 1, columns = t->shape.dims[t->shape.rank - 1];
    for (int axis = 0; axis < t->shape.rank - 1; axis++) rows *= t->shape.dims[axis];
    *count = rows * columns;
    double *values = take((size_t)*count, sizeof *values);
    for (int64_t j = 0; j < *count; j++)
        values[j] = dtype_load(memory, t->shape.dtype, j / columns * t->shape.pitch + j % columns);
    return values;
}

static void record_outputs(const braid_plan *plan, const call *c, trial_record *r) {
    const op_info *o = op_of(&c->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (!op_is_output(op_role(&c->problem, slot))) continue;
        for (int i = 0; i < o->planes(&c->problem, slot); i++) {
            int index = c->tensor[slot][i];
            if (index >= r->planes || plan->program.tensors[index].home != HOME_PLACED) continue;
            assert_null(r->values[index]); /* every value is made once */
            r->values[index] = trial_tensor(plan, index, &r->counts[index]);
        }
    }
}

trial_record trial_record_forward(braid_plan *plan) {
    trial_record r = {.planes = plan->model->graph->plane_count};
    r.values = take((size_t)r.planes, sizeof *r.values);
    r.counts = take((size_t)r.planes, sizeof *r.counts);
    OK(context_enter(plan->model->context, "trial_record_forward"));
    for (int j = 0, index = 0; index < plan->program.call_count; j++) {
        const step *s = &plan->steps[j];
        int is_pack = s->part == STEP_PACK, is_forward = s->segment == FORWARD;
        if (is_forward) OK(plan_run_step(plan, s));
        if (is_forward && !is_pack) record_outputs(plan, &plan->program.calls[index], &r);
        index += !is_pack;
    }
    return r;
}

void trial_record_free(trial_record *r) {
    for (int j = 0; j < r->planes; j++) memory_free(r->values[j]);
    memory_free((void *)r->values);
    memory_free(r->counts);
    *r = (trial_record){0};
}

double trial_difference(const double *got, const double *expected, int64_t count) {
    double difference = 0, largest = 0;
    for (int64_t j = 0; j < count; j++) {
        if (!isfinite(got[j])) return INFINITY;
        difference = fmax(difference, fabs(got[j] - expected[j]));
        largest = fmax(largest, fabs(expected[j]));
    }
    return difference > 0 ? difference / fmax(largest, 1e-300) : 0;
}
