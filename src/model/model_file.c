/*
 * Models as safetensors files: the network's tensors under the names of the system it comes from, and its
 * description in the metadata ("braid.net"). A file is compared with the network as a whole before a number is loaded.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "model/model.h"

#define LISTED 5 /* names of one kind in a message */

/* ---- Comparing ----------------------------------------------------------------------------- */

/* What is wrong with a file, by kind: how many, and the first names. */
typedef struct complaint {
    int count;
    char names[400];
} complaint;

static void complain(complaint *c, const char *name, const char *more) {
    size_t used = strlen(c->names);
    if (c->count++ < LISTED)
        snprintf(c->names + used, sizeof c->names - used, "%s%.80s%s", c->count > 1 ? ", " : "", name, more);
}

/* Tensors that may be missing: counters begin at 0. And those that may be too many: heads that only training used. */
static int may_miss(const graph_plane *plane) { return plane->is_counter; }
static int may_exceed(const char *name) {
    return strncmp(name, "fc_streams.", 11) == 0 || strncmp(name, "braid.", 6) == 0;
}

/* The shape as files have it. */
static int file_shape(const graph_plane *plane, int64_t *dims) {
    int64_t inner = 1;
    if (!plane->flat) {
        memcpy(dims, plane->dims, sizeof plane->dims);
        return plane->rank;
    }
    for (int axis = 1; axis < plane->rank; axis++) inner *= plane->dims[axis];
    dims[0] = plane->dims[0];
    dims[1] = inner;
    return 2;
}

static int same_shape(const graph_plane *plane, const safetensors_entry *entry) {
    int64_t dims[4];
    int rank = file_shape(plane, dims);
    if (rank != entry->rank || plane->is_counter != (entry->dtype == BRAID_DTYPE_I64)) return 0;
    return plane->is_counter || (dtype_is_compute(entry->dtype) && memcmp(dims, entry->dims, (size_t)rank * 8) == 0);
}

static void describe_shape(const safetensors_entry *entry, char *text, size_t size) {
    int used = snprintf(text, size, " %s", safetensors_dtype_name(entry->dtype));
    for (int axis = 0; axis < entry->rank && used > 0 && (size_t)used < size; axis++)
        used += snprintf(text + used, size - (size_t)used, "%s%lld", axis ? "x" : " ", (long long)entry->dims[axis]);
}

/* True for planes that files have. */
static int is_stored(const braid_model *model, int j) {
    return model->offset[j] >= 0 && strncmp(model->graph->planes[j].name, "braid.", 6) != 0;
}

/* Adds "; extra 2 (fc.weight, fc.bias)" to a text where there is something to tell. */
static void add_complaint(const complaint *c, const char *what, char *text, size_t size) {
    size_t used = strlen(text);
    if (c->count) snprintf(text + used, size - used, "; %s %d (%s)", what, c->count, c->names);
}

static braid_status compare(const braid_model *model, const safetensors *file, const char *path) {
    complaint missing = {0}, extra = {0}, other = {0};
    const fail_kept kept = fail_keep();
    for (int j = 0; j < model->graph->plane_count; j++) {
        const graph_plane *plane = &model->graph->planes[j];
        char shape[100];
        if (!is_stored(model, j)) continue;
        const safetensors_entry *entry = safetensors_find(file, plane->name);
        if (!entry && !may_miss(plane)) complain(&missing, plane->name, "");
        if (!entry || same_shape(plane, entry)) continue;
        describe_shape(entry, shape, sizeof shape);
        complain(&other, plane->name, shape);
    }
    for (size_t j = 0; j < safetensors_count(file); j++) {
        const char *name = safetensors_at(file, j)->name;
        int plane = model_find(model, name);
        if (plane < 0 && !may_exceed(name)) complain(&extra, name, "");
    }
    fail_put_back(&kept); /* a tensor more that may be there is no failure */
    if (!missing.count && !extra.count && !other.count) return BRAID_OK;
    char found[3 * sizeof missing.names] = "";
    add_complaint(&missing, "missing", found, sizeof found);
    add_complaint(&extra, "extra", found, sizeof found);
    add_complaint(&other, "of another shape", found, sizeof found);
    return fail(BRAID_ERROR_MODEL, "%.200s: expected the tensors of this network%s; nothing was loaded", path, found);
}

/* ---- Loading ------------------------------------------------------------------------------- */

static braid_status load_plane(braid_model *model, const safetensors *file, int j) {
    const graph_plane *plane = &model->graph->planes[j];
    const safetensors_entry *entry = safetensors_find(file, plane->name);
    size_t elements = (size_t)plane_elements(plane);
    braid_dtype kept = plane->is_counter ? BRAID_DTYPE_I64 : model->master;
    const int64_t zeros[2] = {0};
    void *raw = NULL, *values = NULL;
    size_t bytes;
    TRY(size_array(elements, dtype_bytes(kept), "tensor", &bytes));
    if (!entry) return braid_model_write(model, plane->name, zeros, bytes);
    braid_status status = memory_alloc(1, entry->end - entry->begin + 1, "tensor", &raw);
    if (!status) status = memory_alloc(elements + 1, sizeof(double), "tensor", &values);
    if (!status) status = safetensors_read(file, entry, raw);
    for (size_t at = 0; at < elements && !status && !plane->is_counter; at++)
        dtype_store(values, kept, (int64_t)at, dtype_load(raw, entry->dtype, (int64_t)at));
    if (!status) status = braid_model_write(model, plane->name, plane->is_counter ? raw : values, bytes);
    memory_free(raw);
    memory_free(values);
    return status;
}

/* Reads every tensor once, so that a damaged file is found before anything is changed. */
static braid_status verify(const braid_model *model, const safetensors *file) {
    for (int j = 0; j < model->graph->plane_count; j++) {
        const safetensors_entry *entry =
            is_stored(model, j) ? safetensors_find(file, model->graph->planes[j].name) : NULL;
        void *raw = NULL;
        if (!entry) continue;
        TRY(memory_alloc(1, entry->end - entry->begin + 1, "tensor", &raw));
        braid_status status = safetensors_read(file, entry, raw);
        memory_free(raw);
        TRY(status);
    }
    return BRAID_OK;
}

/* ---- Training ------------------------------------------------------------------------------ */

#define MOMENTS 2
#define MOMENT_NAME (GRAPH_NAME + 16)

/* What only checkpoints have: keys of dropout, and the optimiser's moments of every parameter. */
static int is_key(const braid_model *model, int j) { return model->offset[j] >= 0 && !is_stored(model, j); }
static int is_parameter(const braid_model *model, int j) {
    return model->graph->planes[j].kind == PLANE_PARAMETER && model->offset[j] >= 0;
}

static void moment_name(const braid_model *model, int moment, int j, char name[MOMENT_NAME]) {
    snprintf(name, MOMENT_NAME, "braid.%s.%s", moment ? "v" : "m", model->graph->planes[j].name);
}

static const safetensors_entry *find_moment(const braid_model *model, const safetensors *file, int moment, int j) {
    char name[MOMENT_NAME];
    moment_name(model, moment, j, name);
    return is_parameter(model, j) ? safetensors_find(file, name) : NULL;
}

/* 1: the file has this moment of some parameter. */
static int has_moment(const braid_model *model, const safetensors *file, int moment) {
    for (int j = 0; j < model->graph->plane_count; j++) {
        if (find_moment(model, file, moment, j)) return 1;
    }
    return 0;
}

/* Refuses a file that lacks a tensor of training, has it in another shape, or has it damaged. */
static braid_status check_training(const braid_model *model, const safetensors *file, const char *path) {
    for (int moment = 0; moment < MOMENTS; moment++) {
        int has = has_moment(model, file, moment);
        for (int j = 0; j < model->graph->plane_count && has; j++) {
            const safetensors_entry *entry = find_moment(model, file, moment, j);
            if (!is_parameter(model, j)) continue;
            if (!entry || entry->dtype != model->master || !same_shape(&model->graph->planes[j], entry))
                return fail(BRAID_ERROR_MODEL, "%.200s: expected the optimiser's state of %s in %s, got %s", path,
                            model->graph->planes[j].name, braid_dtype_name(model->master),
                            entry ? "another shape or dtype" : "none");
            TRY(safetensors_verify(file, entry));
        }
    }
    for (int j = 0; j < model->graph->plane_count; j++) {
        const char *name = model->graph->planes[j].name;
        if (!is_key(model, j)) continue;
        const safetensors_entry *entry = safetensors_find(file, name);
        if (!entry || !same_shape(&model->graph->planes[j], entry) ||
            (entry->end - entry->begin) / sizeof(int64_t) != (size_t)plane_elements(&model->graph->planes[j]))
            return fail(BRAID_ERROR_MODEL, "%.200s: expected the counter %s, got %s", path, name,
                        entry ? "another shape or dtype" : "none");
        TRY(safetensors_verify(file, entry));
    }
    return BRAID_OK;
}

static braid_status load_moment(braid_model *model, const safetensors *file, int moment, int j) {
    const safetensors_entry *entry = find_moment(model, file, moment, j);
    void *values = NULL;
    if (!entry) return BRAID_OK;
    TRY(memory_alloc(1, entry->end - entry->begin + 1, "moments", &values));
    braid_status status = safetensors_read(file, entry, values);
    if (!status) status = model_moment_write(model, moment, j, values);
    memory_free(values);
    return status;
}

static braid_status load_training(braid_model *model, const safetensors *file) {
    TRY(model_need_training(model, has_moment(model, file, 0), has_moment(model, file, 1)));
    for (int j = 0; j < model->graph->plane_count; j++) {
        if (is_key(model, j)) TRY(load_plane(model, file, j));
        for (int moment = 0; moment < MOMENTS; moment++) TRY(load_moment(model, file, moment, j));
    }
    return BRAID_OK;
}

static braid_status load(braid_model *model, const char *path, int training) {
    safetensors *file = NULL;
    files_forget_fault();
    TRY(files_blame_system(safetensors_open(path, &file)));
    braid_status status = compare(model, file, path);
    if (!status) status = verify(model, file);
    if (!status && training) status = check_training(model, file, path);
    for (int j = 0; j < model->graph->plane_count && !status; j++) {
        if (is_stored(model, j)) status = load_plane(model, file, j);
    }
    if (!status && training) status = load_training(model, file);
    if (!status) status = model_load_texts(model, file);
    safetensors_close(file);
    return files_blame_system(status);
}

braid_status braid_model_load(braid_model *model, const char *path) {
    if (!model || !path) return fail(BRAID_ERROR_ARGUMENT, "braid_model_load: expected a model and a path, got NULL");
    TRY(context_enter(model->context, "braid_model_load"));
    return load(model, path, 0);
}

braid_status model_load_training(braid_model *model, const char *path) { return load(model, path, 1); }

/* ---- Saving -------------------------------------------------------------------------------- */

/* Gives one tensor, read from the device when its turn comes. */
typedef struct source {
    braid_model *model;
    int plane, moment; /* moment -1: the value itself */
    int must_be_finite;
    char *data; /* whole tensor, from the first piece to the last */
} source;

static braid_status check_finite(const source *s, int64_t elements) {
    const graph_plane *plane = &s->model->graph->planes[s->plane];
    for (int64_t at = 0; at < elements && !plane->is_counter; at++) {
        if (!isfinite(dtype_load(s->data, s->model->master, at)))
            return fail(BRAID_ERROR_DIVERGED,
                        "checkpoint: expected finite numbers in %s, got another; nothing was saved", plane->name);
    }
    return BRAID_OK;
}

static braid_status give(void *user, size_t offset, void *to, size_t bytes) {
    source *s = user;
    const graph_plane *plane = &s->model->graph->planes[s->plane];
    size_t each = plane->is_counter ? sizeof(int64_t) : dtype_bytes(s->model->master);
    size_t all = (size_t)plane_elements(plane) * each;
    if (!s->data) {
        TRY(memory_alloc(1, all + 1, "tensor", (void **)&s->data));
        TRY(s->moment < 0 ? braid_model_read(s->model, plane->name, s->data, all)
                          : model_moment_read(s->model, s->moment, s->plane, s->data));
        if (s->must_be_finite) TRY(check_finite(s, plane_elements(plane)));
    }
    memcpy(to, s->data + offset, bytes);
    if (offset + bytes < all) return BRAID_OK;
    memory_free(s->data);
    s->data = NULL;
    return BRAID_OK;
}

static braid_status add_source(safetensors_writer *writer, source *s, const char *name) {
    const graph_plane *plane = &s->model->graph->planes[s->plane];
    safetensors_tensor t = {
        .name = name, .dtype = plane->is_counter ? BRAID_DTYPE_I64 : s->model->master, .source = give, .user = s};
    t.rank = file_shape(plane, t.dims);
    return safetensors_writer_add(writer, &t);
}

/* Three sources for every plane: its value and its moments. */
static braid_status add_planes(braid_model *model, safetensors_writer *writer, source *sources, int training) {
    for (int j = 0; j < model->graph->plane_count; j++) {
        source *s = sources + (size_t)j * (MOMENTS + 1);
        for (int k = 0; k <= MOMENTS; k++)
            s[k] = (source){.model = model, .plane = j, .moment = k - 1, .must_be_finite = training};
        if (is_stored(model, j) || (training && is_key(model, j)))
            TRY(add_source(writer, &s[0], model->graph->planes[j].name));
        for (int moment = 0; moment < MOMENTS && training; moment++) {
            char name[MOMENT_NAME];
            if (!is_parameter(model, j) || !model_has_moment(model, moment)) continue;
            moment_name(model, moment, j, name);
            TRY(add_source(writer, &s[moment + 1], name));
        }
    }
    return BRAID_OK;
}

static braid_status add_texts(const braid_model *model, safetensors_writer *writer, const char *training) {
    const char *description = braid_net_describe(model->net);
    if (description) TRY(safetensors_writer_metadata(writer, SAFETENSORS_NET, description));
    TRY(model_save_texts(model, writer));
    return training ? safetensors_writer_metadata(writer, MODEL_TRAINING_KEY, training) : BRAID_OK;
}

static braid_status save(braid_model *model, const char *path, const char *training) {
    safetensors_writer *writer = NULL;
    source *sources = NULL;
    size_t count = (size_t)model->graph->plane_count * (MOMENTS + 1);
    TRY(memory_calloc(count, sizeof *sources, "model file", (void **)&sources));
    braid_status status = safetensors_writer_create(&writer);
    if (!status) status = add_planes(model, writer, sources, training != NULL);
    if (!status) status = add_texts(model, writer, training);
    if (!status) status = safetensors_writer_write(writer, path);
    for (size_t j = 0; j < count; j++) memory_free(sources[j].data);
    safetensors_writer_destroy(writer);
    memory_free(sources);
    return status;
}

braid_status braid_model_save(braid_model *model, const char *path) {
    if (!model || !path) return fail(BRAID_ERROR_ARGUMENT, "braid_model_save: expected a model and a path, got NULL");
    TRY(context_enter(model->context, "braid_model_save"));
    return save(model, path, NULL);
}

braid_status model_save_training(braid_model *model, const char *path, const char *training) {
    return save(model, path, training);
}

/* Whoever describes a network has its parameters, too, of two bytes at least: a few words that ask for the memory of
 * billions of them are refused before any is taken. */
static braid_status check_fits(const safetensors *file, const char *path, const braid_net *net) {
    size_t count = safetensors_count(file), bytes = count ? safetensors_at(file, count - 1)->end : 0;
    int64_t parameters = braid_net_parameter_count(net);
    if (parameters >= 0 && (size_t)parameters <= bytes / 2) return BRAID_OK;
    return fail(BRAID_ERROR_MODEL,
                "%.200s: expected the tensors of the network that it describes, with %lld parameters, got %zu bytes of "
                "tensors",
                path, (long long)parameters, bytes);
}

braid_status braid_net_from_file(const char *path, braid_net **net) {
    safetensors *file = NULL;
    if (!net) return fail(BRAID_ERROR_ARGUMENT, "braid_net_from_file: expected a place for the network, got NULL");
    *net = NULL;
    if (!path) return fail(BRAID_ERROR_ARGUMENT, "braid_net_from_file: expected a path, got NULL");
    files_forget_fault();
    TRY(files_blame_system(safetensors_open(path, &file)));
    const char *description = safetensors_metadata(file, SAFETENSORS_NET);
    braid_status status =
        description ? braid_net_from_description(description, strlen(description), net)
                    : fail(BRAID_ERROR_MODEL,
                           "%.200s: expected the description of a network (%s in the metadata), got none; name the "
                           "network on the command line (--net NET), or build it and load the file into its model",
                           path, SAFETENSORS_NET);
    if (!status) status = check_fits(file, path, *net);
    safetensors_close(file);
    if (!status) return BRAID_OK;
    braid_net_destroy(*net);
    *net = NULL;
    return status;
}
