/*
 * Batches into plans.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/feed.h"

#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "ops/augment.h"
#include "plan/pins.h"
#include "train/feed_images.h"

/* ---- Making ------------------------------------------------------------------------------- */

/* Memory of the device, for one plane of an operand, filled where `from` is given. */
static braid_status add_memory(feed *f, size_t bytes, const void *from, void **out) {
    braid_context *context = f->model->context;
    TRY(braid_memory_create(context, bytes, out));
    f->memory[f->memory_count++] = *out;
    return from ? braid_upload(context, *out, from, bytes) : BRAID_OK;
}

/* The tables that are the same for all batches: mean, std, settings. */
static braid_status fill_table(const feed *f, const braid_operand_info *info, int i, void *table) {
    double settings[AUGMENT_SETTINGS];
    int64_t channels = braid_op_problem(f->op)->in_channels[i];
    if (strcmp(info->name, "settings") == 0) {
        augment_usual(settings, channels == 3, i);
        dtype_from_f64(table, f->model->master, settings, AUGMENT_SETTINGS);
        return BRAID_OK;
    }
    if (channels > BRAID_STATISTICS)
        return fail(BRAID_ERROR_ARGUMENT, "trainer: expected at most %d channels of bytes in stream %d, got %lld",
                    BRAID_STATISTICS, i, (long long)channels);
    for (int64_t c = 0; c < channels; c++) {
        double std = f->options->std[i][c] > 0 ? f->options->std[i][c] : 1;
        dtype_store(table, f->model->master, c, strcmp(info->name, "std") == 0 ? std : f->options->mean[i][c]);
    }
    return BRAID_OK;
}

/* One operand of the op: the plan's own planes for y, memory for the rest. */
static braid_status bind_operand(feed *f, int index) {
    braid_operand_info info;
    braid_operand *o = &f->operands[f->operand_count++];
    TRY(braid_op_operand(f->op, index, &info));
    o->name = info.name;
    int is_output = strcmp(info.name, "y") == 0, is_table = strchr("ms", info.name[0]) != NULL;
    for (int i = 0; i < info.planes; i++) {
        braid_operand_info plane;
        double table[AUGMENT_SETTINGS];
        if (is_output) {
            TRY(braid_plan_tensor(f->plan, braid_net_stream(f->model->net, i, NULL), &plane, &o->plane[i]));
            continue;
        }
        if (is_table) TRY(fill_table(f, &info, i, table));
        TRY(add_memory(f, info.bytes[i], is_table ? table : NULL, &o->plane[i]));
    }
    return BRAID_OK;
}

/* By the cost model: it is a small part of a step. */
static braid_status plan_op(feed *f) {
    braid_plan_options o = {.effort = BRAID_EFFORT_ESTIMATE, .kernel = model_choice(f->model, braid_op_problem(f->op))};
    if (!o.kernel) return braid_op_plan(f->op, &o);
    braid_status status = braid_op_plan(f->op, &o);
    o.kernel = NULL;
    return status == BRAID_ERROR_ARGUMENT ? braid_op_plan(f->op, &o) : status;
}

/* A stream of the plan as images. */
typedef struct image_view {
    int64_t size[2], channels, pitch;
} image_view;

/* A stream of rows takes an image as a row: pixel by pixel, as many channels as fit. */
static braid_status view_images(const feed *f, int i, image_view *v) {
    braid_operand_info info;
    void *memory;
    const char *name = braid_net_stream(f->model->net, i, NULL);
    const int64_t *size = f->options->step.size;
    int64_t pixels = 0;
    TRY(braid_plan_tensor(f->plan, name, &info, &memory));
    if (info.rank == 4) {
        *v = (image_view){{info.dims[0][1], info.dims[0][2]}, info.dims[0][3], info.pitch[0]};
        return BRAID_OK;
    }
    int64_t row = info.dims[0][info.rank - 1];
    if (size[0] > 0 && size[1] > 0) TRY(size_elements(size, 2, "an image", &pixels));
    if (pixels == 0 || row % pixels != 0 || row / pixels > BRAID_STATISTICS)
        return fail(BRAID_ERROR_ARGUMENT,
                    "trainer: expected rows of %lld numbers in stream %s, got images of %lldx%lld", (long long)row,
                    name, (long long)size[0], (long long)size[1]);
    *v = (image_view){{size[0], size[1]}, row / pixels, row / pixels};
    return BRAID_OK;
}

static braid_status make_op(feed *f) {
    image_view first = {0};
    TRY(view_images(f, 0, &first));
    const int64_t *from = f->options->data_size[0] ? f->options->data_size : first.size;
    int changes = f->options->augment && f->phase == BRAID_PHASE_TRAIN;
    int augments = changes || from[0] != first.size[0] || from[1] != first.size[1];
    braid_problem p = {.op = augments ? BRAID_OP_AUGMENT : BRAID_OP_NORMALIZE,
                       .dtype = f->model->dtype,
                       .streams = braid_net_stream_count(f->model->net),
                       .batch = f->batch,
                       .size = {from[0], from[1]}};
    if (augments) {
        p.phase = changes ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL;
        p.out_size[0] = first.size[0];
        p.out_size[1] = first.size[1];
    }
    for (int i = 0; i < p.streams; i++) {
        image_view v = {0};
        TRY(view_images(f, i, &v));
        p.in_channels[i] = v.channels;
        p.in_pitch[i] = v.pitch;
        const int64_t dims[3] = {from[0], from[1], v.channels};
        TRY(size_elements(dims, 3, "a sample", &f->elements[i]));
    }
    TRY(braid_op_create(f->model->context, &p, &f->op));
    TRY(plan_op(f));
    for (int j = 0; j < braid_op_operand_count(f->op); j++) TRY(bind_operand(f, j));
    return BRAID_OK;
}

/* Rows of numbers have no op. */
static braid_status check_rows(feed *f, const braid_operand_info *first) {
    if (f->options->input != BRAID_DTYPE_F32 || f->model->master != BRAID_DTYPE_F32 || first->rank != 2)
        return fail(BRAID_ERROR_ARGUMENT,
                    "trainer: expected images of u8, or rows of f32 for a model with parameters in f32, got %s for "
                    "inputs of rank %d",
                    braid_dtype_name(f->options->input), first->rank);
    for (int i = 0; i < braid_net_stream_count(f->model->net); i++) {
        if (!braid_net_stream(f->model->net, i, &f->elements[i])) return BRAID_ERROR_ARGUMENT;
    }
    return BRAID_OK;
}

/* Bytes of a whole batch. */
static braid_status count_bytes(feed *f) {
    size_t each = dtype_bytes(f->options->input);
    TRY(size_array((size_t)f->batch, sizeof(int32_t), "labels", &f->label_bytes));
    TRY(size_array((size_t)f->batch, sizeof(int64_t), "samples", &f->id_bytes));
    for (int i = 0; i < braid_net_stream_count(f->model->net); i++) {
        const int64_t dims[2] = {f->batch, f->elements[i]};
        int64_t elements;
        TRY(size_elements(dims, 2, "a batch", &elements));
        TRY(size_array((size_t)elements, each, "a batch", &f->stream_bytes[i]));
    }
    return BRAID_OK;
}

/* Memory for what the loss mse compares with, as it lies in the plan. */
static braid_status make_target(feed *f) {
    braid_operand_info info;
    void *memory;
    if (f->options->step.loss != BRAID_LOSS_MSE || f->model->graph->target_is_input) return BRAID_OK;
    TRY(braid_plan_tensor(f->plan, "target", &info, &memory));
    f->target_dtype = info.dtype;
    f->target_bytes = info.bytes[0];
    f->target_pitch = (int64_t)(info.bytes[0] / dtype_bytes(info.dtype)) / f->batch;
    return memory_calloc(1, info.bytes[0], "targets", &f->target);
}

braid_status feed_create(feed *f, braid_model *model, braid_plan *plan, const braid_train_options *options,
                         braid_phase phase, int64_t batch) {
    braid_operand_info info;
    void *memory;
    *f = (feed){.model = model, .plan = plan, .options = options, .phase = phase, .batch = batch, .classes = 1};
    TRY(braid_plan_tensor(plan, "output", &info, &memory));
    for (int axis = 1; axis < info.rank; axis++) f->classes *= info.dims[0][axis];
    TRY(memory_alloc((size_t)batch, sizeof *f->ids, "samples", (void **)&f->ids));
    TRY(braid_plan_tensor(plan, braid_net_stream(model->net, 0, NULL), &info, &memory));
    if (options->input == BRAID_DTYPE_U8)
        TRY(make_op(f));
    else
        TRY(info.rank == 4 ? feed_images_create(f) : check_rows(f, &info));
    TRY(make_target(f));
    return count_bytes(f);
}

void feed_destroy(feed *f) {
    braid_op_destroy(f->op);
    feed_images_destroy(f);
    for (int j = 0; j < f->memory_count; j++) braid_memory_destroy(f->model->context, f->memory[j]);
    memory_free(f->ids);
    memory_free(f->target);
    *f = (feed){0};
}

/* ---- Filling ------------------------------------------------------------------------------ */

static braid_status check_rows_finite(const feed *f, const braid_train_batch *batch, int i) {
    const float *x = batch->streams[i];
    for (int64_t at = 0; at < f->batch * f->elements[i]; at++) {
        if (isfinite(x[at])) continue;
        return fail(BRAID_ERROR_DIVERGED, "sample %lld: expected finite numbers in stream %s, got %g",
                    (long long)f->ids[at / f->elements[i]], braid_net_stream(f->model->net, i, NULL), (double)x[at]);
    }
    return BRAID_OK;
}

static braid_status check_labels(const feed *f, const braid_train_batch *batch) {
    if (!batch->labels) return fail(BRAID_ERROR_ARGUMENT, "trainer: expected labels from the source, got NULL");
    for (int64_t b = 0; b < f->batch; b++) {
        if (batch->labels[b] >= 0 && batch->labels[b] < f->classes) continue;
        return fail(BRAID_ERROR_DATA, "sample %lld: expected a label from 0 to %lld, got %d", (long long)f->ids[b],
                    (long long)f->classes - 1, (int)batch->labels[b]);
    }
    return BRAID_OK;
}

static braid_status write_labels(feed *f, const braid_train_batch *batch) {
    TRY(check_labels(f, batch));
    return braid_plan_write(f->plan, "labels", batch->labels, f->label_bytes);
}

static braid_status write_target(feed *f, const braid_train_batch *batch) {
    if (!batch->targets) TRY(check_labels(f, batch));
    for (int64_t at = 0; at < f->batch * f->classes; at++) {
        int64_t b = at / f->classes, c = at % f->classes;
        double value = batch->targets ? (double)batch->targets[at] : batch->labels[b] == c;
        if (!isfinite(value))
            return fail(BRAID_ERROR_DIVERGED, "sample %lld: expected finite numbers as targets, got %g",
                        (long long)f->ids[b], value);
        dtype_store(f->target, f->target_dtype, b * f->target_pitch + c, value);
    }
    return braid_plan_write(f->plan, "target", f->target, f->target_bytes);
}

static braid_status upload(feed *f, const char *name, int i, const void *data, size_t bytes) {
    for (int j = 0; j < f->operand_count; j++) {
        if (strcmp(f->operands[j].name, name) == 0)
            return braid_upload(f->model->context, f->operands[j].plane[i], data, bytes);
    }
    return BRAID_OK;
}

braid_status feed_batch(feed *f, const braid_train_batch *batch, int64_t first, int64_t update) {
    const int64_t key[2] = {(int64_t)f->options->seed, update};
    for (int64_t b = 0; b < f->batch; b++) f->ids[b] = batch->ids ? batch->ids[b] : first + b;
    for (int i = 0; i < braid_net_stream_count(f->model->net); i++) {
        if (!batch->streams[i])
            return fail(BRAID_ERROR_ARGUMENT, "trainer: expected data of stream %d from the source, got NULL", i);
        if (f->op) {
            TRY(upload(f, "x", i, batch->streams[i], f->stream_bytes[i]));
            continue;
        }
        if (f->images[i].host) continue;
        TRY(check_rows_finite(f, batch, i));
        TRY(braid_plan_set_input(f->plan, braid_net_stream(f->model->net, i, NULL), batch->streams[i],
                                 f->stream_bytes[i]));
    }
    if (f->images[0].host) TRY(feed_images_write(f, batch));
    if (f->op) {
        TRY(upload(f, "key", 0, key, sizeof key));
        TRY(upload(f, "ids", 0, f->ids, f->id_bytes));
        TRY(braid_op_run(f->op, f->operands, f->operand_count));
    }
    if (f->model->graph->target_is_input) return BRAID_OK;
    return f->target ? write_target(f, batch) : write_labels(f, batch);
}
