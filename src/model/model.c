/*
 * Models: where parameters and states lie, and how they come and go.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/model.h"

#include <string.h>

#include <jansson.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"

#define PARAMETER_ALIGNMENT 64 /* elements: 256 bytes of f32, 128 of a half */

/* ---- The arena ----------------------------------------------------------------------------- */

/* A problem of the node that its op's shape rule can take: of any size, since only the dtype matters. */
static braid_problem any_problem(const graph_node *n) {
    braid_problem p = n->problem;
    p.dtype = BRAID_DTYPE_BF16;
    p.batch = 1;
    if (p.groups < 1) p.groups = 1;
    for (int axis = 0; axis < 2; axis++) {
        p.size[axis] = 1;
        if (p.stride[axis] < 1) p.stride[axis] = 1;
        if (p.dilation[axis] < 1) p.dilation[axis] = 1;
    }
    return p;
}

/* 1 where the op that reads a parameter reads it in the dtype of statistics. */
static int is_statistic(const graph *g, int plane) {
    for (int j = 0; j < g->node_count; j++) {
        const graph_node *n = &g->nodes[j];
        const op_info *o = op_find(n->problem.op);
        braid_problem p = any_problem(n);
        for (int slot = 0; slot < op_operand_count(o) && !n->is_view; slot++) {
            for (int i = 0; i < BRAID_MAX_PLANES; i++) {
                plane_shape shape;
                if (n->plane[slot][i] != plane) continue;
                o->shape(&p, slot, i, &shape);
                return shape.dtype == BRAID_DTYPE_F32;
            }
        }
    }
    return 0;
}

static braid_status lay_parameters(braid_model *model, int statistics) {
    const graph *g = model->graph;
    for (int j = 0; j < g->plane_count; j++) {
        const graph_plane *plane = &g->planes[j];
        int64_t elements;
        size_t end;
        if (plane->kind != PLANE_PARAMETER || is_statistic(g, j) != statistics) continue;
        TRY(size_elements(plane->dims, plane->rank, plane->name, &elements));
        model->offset[j] = model->elements;
        if (!size_add((size_t)model->elements, (size_t)elements, &end) || !size_align(end, PARAMETER_ALIGNMENT, &end) ||
            end > INT64_MAX / 16)
            return fail(BRAID_ERROR_MEMORY, "model: expected parameters that fit in 64 bits, got more");
        model->elements = (int64_t)end;
    }
    return BRAID_OK;
}

static size_t state_element_bytes(const braid_model *model, const graph_plane *plane) {
    return plane->is_counter ? sizeof(int64_t) : dtype_bytes(model->master);
}

static braid_status lay_states(braid_model *model) {
    for (int j = 0; j < model->graph->plane_count; j++) {
        const graph_plane *plane = &model->graph->planes[j];
        size_t bytes;
        if (plane->kind != PLANE_STATE) continue;
        TRY(size_array((size_t)plane_elements(plane), state_element_bytes(model, plane), plane->name, &bytes));
        model->offset[j] = (int64_t)model->state_bytes;
        if (!size_add(model->state_bytes, bytes, &bytes) ||
            !size_align(bytes, MEMORY_DEVICE_ALIGNMENT, &model->state_bytes))
            return fail(BRAID_ERROR_MEMORY, "model: expected states that fit in 64 bits, got more");
    }
    return BRAID_OK;
}

static int is_half(const braid_model *model) { return model->dtype != model->master; }

static size_t arena_bytes(const braid_model *model) { return (size_t)model->elements * dtype_bytes(model->master); }

static size_t half_bytes(const braid_model *model) {
    return is_half(model) ? (size_t)model->elements * dtype_bytes(model->dtype) : 0;
}

size_t model_bytes(const braid_model *model) { return arena_bytes(model) + half_bytes(model) + model->state_bytes; }

size_t model_training_bytes(const braid_model *model) {
    size_t twins = (size_t)((model->gradients != NULL) + (model->m != NULL) + (model->v != NULL));
    return twins * arena_bytes(model) + (model->half_gradients ? half_bytes(model) : 0);
}

/* Memory of the device, zeroed. */
static braid_status make_zeros(braid_model *model, size_t bytes, void **out) {
    device *d = model->context->device;
    TRY(d->backend->alloc(d, bytes, out));
    return d->backend->zero(d, *out, bytes);
}

braid_status model_need_training(braid_model *model, int has_m, int has_v) {
    if (!model->gradients) TRY(make_zeros(model, arena_bytes(model), &model->gradients));
    if (!model->half_gradients && is_half(model)) TRY(make_zeros(model, half_bytes(model), &model->half_gradients));
    if (!model->m && has_m) TRY(make_zeros(model, arena_bytes(model), &model->m));
    if (!model->v && has_v) TRY(make_zeros(model, arena_bytes(model), &model->v));
    return model->step ? BRAID_OK : make_zeros(model, sizeof(int64_t), &model->step);
}

void *model_address(const braid_model *model, int plane, braid_dtype dtype) {
    const graph_plane *what = &model->graph->planes[plane];
    if (what->kind == PLANE_STATE) return (char *)model->states + model->offset[plane];
    char *base = dtype == model->master ? model->weights : model->half;
    return base + (size_t)model->offset[plane] * dtype_bytes(dtype);
}

void *model_metric(const braid_model *model, int metric) { return (int64_t *)model->metrics + metric; }

void *model_gradient_address(const braid_model *model, int plane, braid_dtype dtype) {
    char *base = dtype == model->master ? model->gradients : model->half_gradients;
    return base + (size_t)model->offset[plane] * dtype_bytes(dtype);
}

int model_find(const braid_model *model, const char *name) {
    for (int j = 0; name && j < model->graph->plane_count; j++) {
        const graph_plane *plane = &model->graph->planes[j];
        if (model->offset[j] >= 0 && strcmp(plane->name, name) == 0) return j;
    }
    (void)!fail(BRAID_ERROR_ARGUMENT, "model: expected a tensor of the network, got \"%.96s\"", name ? name : "NULL");
    return -1;
}

/* ---- Layouts ------------------------------------------------------------------------------- */

/* K,C,R,S and K,R,S,C: copies element by element, in the direction asked for. */
static void permute(const graph_plane *plane, const char *file, char *memory, size_t bytes, int to_file) {
    const int64_t *d = plane->dims;
    for (int64_t k = 0; k < d[0]; k++) {
        for (int64_t c = 0; c < d[1]; c++) {
            for (int64_t at = 0; at < d[2] * d[3]; at++) {
                size_t in_file = (size_t)((k * d[1] + c) * d[2] * d[3] + at) * bytes;
                size_t in_memory = (size_t)((k * d[2] * d[3] + at) * d[1] + c) * bytes;
                if (to_file)
                    memcpy((char *)file + in_file, memory + in_memory, bytes);
                else
                    memcpy(memory + in_memory, file + in_file, bytes);
            }
        }
    }
}

void plane_from_file(const graph_plane *plane, const void *file, void *memory, size_t bytes) {
    if (plane->rank == 4)
        permute(plane, file, memory, bytes, 0);
    else
        memcpy(memory, file, (size_t)plane_elements(plane) * bytes);
}

void plane_to_file(const graph_plane *plane, const void *memory, void *file, size_t bytes) {
    if (plane->rank == 4)
        permute(plane, file, (char *)memory, bytes, 1);
    else
        memcpy(file, memory, (size_t)plane_elements(plane) * bytes);
}

/* Bytes of one element in files, and how many there are. */
static size_t file_element_bytes(const braid_model *model, const graph_plane *plane) {
    return plane->kind == PLANE_STATE ? state_element_bytes(model, plane) : dtype_bytes(model->master);
}

/* Memory of one plane on the host; the arguments of a read or write checked. */
static braid_status start_transfer(const braid_model *model, const char *name, size_t bytes, int *plane, void **host) {
    *plane = model_find(model, name);
    if (*plane < 0) return BRAID_ERROR_ARGUMENT;
    const graph_plane *what = &model->graph->planes[*plane];
    size_t expected = (size_t)plane_elements(what) * file_element_bytes(model, what);
    if (bytes != expected) {
        return fail(BRAID_ERROR_ARGUMENT, "model: expected %zu bytes for %s, got %zu", expected, name, bytes);
    }
    return memory_alloc(1, bytes ? bytes : 1, "tensor", host);
}

braid_status braid_model_read(braid_model *model, const char *name, void *data, size_t bytes) {
    int plane;
    void *host = NULL;
    if (!model || (!data && bytes))
        return fail(BRAID_ERROR_ARGUMENT, "braid_model_read: expected a model and a place for the numbers, got NULL");
    TRY(context_enter(model->context, "braid_model_read"));
    TRY(start_transfer(model, name, bytes, &plane, &host));
    device *d = model->context->device;
    const graph_plane *what = &model->graph->planes[plane];
    braid_status status = bytes ? d->backend->download(d, host, model_address(model, plane, model->master), bytes) : 0;
    if (!status && bytes) plane_to_file(what, host, data, file_element_bytes(model, what));
    memory_free(host);
    return status;
}

/* The twin in half precision follows the parameter. */
static braid_status write_half(braid_model *model, int plane, const void *host, int64_t elements) {
    device *d = model->context->device;
    uint16_t *half = NULL;
    size_t bytes;
    if (!is_half(model) || model->graph->planes[plane].kind != PLANE_PARAMETER || !elements) return BRAID_OK;
    TRY(size_array((size_t)elements, sizeof *half, "tensor", &bytes));
    TRY(memory_alloc((size_t)elements, sizeof *half, "tensor", (void **)&half));
    dtype_from_f32(half, model->dtype, host, elements);
    braid_status status = d->backend->upload(d, model_address(model, plane, model->dtype), half, bytes);
    memory_free(half);
    return status;
}

braid_status braid_model_write(braid_model *model, const char *name, const void *data, size_t bytes) {
    int plane;
    void *host = NULL;
    if (!model || (!data && bytes))
        return fail(BRAID_ERROR_ARGUMENT, "braid_model_write: expected a model and its numbers, got NULL");
    TRY(context_enter(model->context, "braid_model_write"));
    TRY(start_transfer(model, name, bytes, &plane, &host));
    device *d = model->context->device;
    const graph_plane *what = &model->graph->planes[plane];
    if (bytes) plane_from_file(what, data, host, file_element_bytes(model, what));
    braid_status status = bytes ? d->backend->upload(d, model_address(model, plane, model->master), host, bytes) : 0;
    if (!status) status = write_half(model, plane, host, plane_elements(what));
    if (what->is_counter) model->keys_known = 0;
    model->changes++;
    memory_free(host);
    return status;
}

/* ---- Life ---------------------------------------------------------------------------------- */

/* The initial values as the model keeps them. */
static void store_initial(const braid_model *model, const graph_plane *what, const double *values, void *stored) {
    int64_t elements = plane_elements(what);
    if (!what->is_counter) dtype_from_f64(stored, model->master, values, elements);
    for (int64_t j = 0; j < elements && what->is_counter; j++) ((int64_t *)stored)[j] = (int64_t)values[j];
}

#define DRAWN_PLANES 64
#define DRAWN_AT_ONCE ((size_t)8 << 20) /* values, so that they need little memory */

/* Planes whose values are drawn side by side. */
typedef struct drawing {
    const braid_model *model;
    int plane[DRAWN_PLANES], count;
    int64_t part[DRAWN_PLANES + 1];       /* the first part of a plane; the last is the number of all */
    size_t first[DRAWN_PLANES], elements; /* the first value of a plane; the number of all */
    double *values, *scratch;
} drawing;

static void draw_part(void *context, int64_t part) {
    const drawing *d = context;
    int i = 0;
    while (part >= d->part[i + 1]) i++;
    plane_initial(&d->model->graph->planes[d->plane[i]], d->plane[i], part - d->part[i], d->model->seed,
                  d->values + d->first[i], d->scratch + d->first[i]);
}

static braid_status write_drawn(braid_model *model, const drawing *d, int i) {
    const graph_plane *what = &model->graph->planes[d->plane[i]];
    size_t elements = (size_t)plane_elements(what), bytes = file_element_bytes(model, what);
    void *stored = d->scratch + d->first[i]; /* no value is wider */
    store_initial(model, what, d->values + d->first[i], stored);
    return braid_model_write(model, what->name, stored, elements * bytes);
}

static braid_status draw(braid_model *model, drawing *d) {
    braid_status status = memory_calloc(d->elements, sizeof *d->values, "initial values", (void **)&d->values);
    if (!status) status = memory_alloc(d->elements, sizeof *d->scratch, "initial values", (void **)&d->scratch);
    if (!status) threads_for(d->part[d->count], draw_part, d);
    for (int i = 0; i < d->count && !status; i++) status = write_drawn(model, d, i);
    memory_free(d->values);
    memory_free(d->scratch);
    *d = (drawing){.model = model};
    return status;
}

/* Orthogonal planes, which one thread draws each, or all others. */
static braid_status write_initial(braid_model *model, int orthogonal) {
    drawing d = {.model = model};
    for (int j = 0; j < model->graph->plane_count; j++) {
        if (model->offset[j] < 0 || (model->graph->planes[j].init.kind == INIT_ORTHOGONAL) != orthogonal) continue;
        d.plane[d.count] = j;
        d.first[d.count] = d.elements;
        d.part[d.count + 1] = d.part[d.count] + plane_initial_parts(&model->graph->planes[j]);
        d.count++;
        d.elements += (size_t)plane_elements(&model->graph->planes[j]);
        if (d.count == DRAWN_PLANES || d.elements >= DRAWN_AT_ONCE) TRY(draw(model, &d));
    }
    return d.count ? draw(model, &d) : BRAID_OK;
}

static braid_status fill(braid_model *model) {
    device *d = model->context->device;
    TRY(memory_calloc((size_t)model->graph->plane_count, sizeof *model->offset, "model", (void **)&model->offset));
    TRY(memory_calloc((size_t)model->graph->plane_count, sizeof *model->keys, "model", (void **)&model->keys));
    for (int j = 0; j < model->graph->plane_count; j++) model->offset[j] = -1;
    TRY(lay_parameters(model, 1));
    model->split = model->elements;
    TRY(lay_parameters(model, 0));
    TRY(lay_states(model));
    TRY(make_zeros(model, arena_bytes(model), &model->weights));
    if (is_half(model)) TRY(make_zeros(model, half_bytes(model), &model->half));
    TRY(make_zeros(model, model->state_bytes, &model->states));
    TRY(make_zeros(model, METRIC_BYTES, &model->metrics));
    TRY(model_scaling_write(model, 1, (const int64_t[SCALING_COUNT]){[SCALING_BATCHES] = 1}));
    TRY(write_initial(model, 1));
    TRY(write_initial(model, 0));
    return d->backend->synchronize(d);
}

braid_status braid_model_create(braid_context *context, const braid_net *net, const braid_model_options *options,
                                braid_model **model) {
    const braid_model_options defaults = {0}, *o = options ? options : &defaults;
    braid_model *made = NULL;
    if (!model) return fail(BRAID_ERROR_ARGUMENT, "braid_model_create: expected a place for the model, got NULL");
    *model = NULL;
    TRY(context_enter(context, "braid_model_create"));
    TRY(braid_net_check(net));
    if (!dtype_is_compute(o->dtype))
        return fail(BRAID_ERROR_ARGUMENT, "braid_model_create: expected f32, bf16, f16 or f64, got dtype %d",
                    (int)o->dtype);
    if (o->tf32 && o->dtype != BRAID_DTYPE_F32)
        return fail(BRAID_ERROR_ARGUMENT, "braid_model_create: expected tf32 with dtype f32, got %s",
                    braid_dtype_name(o->dtype));
    TRY(memory_calloc(1, sizeof *made, "model", (void **)&made));
    *made = (braid_model){.context = context,
                          .net = net,
                          .graph = graph_of_net(net),
                          .dtype = o->dtype,
                          .tf32 = o->tf32 != 0,
                          .master = dtype_statistics(o->dtype),
                          .seed = o->seed};
    braid_status status = fill(made);
    if (status)
        braid_model_destroy(made);
    else
        *model = made;
    return status;
}

void model_forget_choices(braid_model *model) {
    json_decref(model->choices);
    model->choices = NULL;
}

void braid_model_destroy(braid_model *model) {
    if (!model) return;
    device *d = model->context->device;
    void *all[] = {model->weights,        model->half, model->states, model->metrics, model->gradients,
                   model->half_gradients, model->m,    model->v,      model->step};
    for (size_t j = 0; j < sizeof all / sizeof all[0]; j++) {
        if (all[j] && context_enter(model->context, "braid_model_destroy") == BRAID_OK) d->backend->free(d, all[j]);
    }
    model_forget_choices(model);
    model_forget_texts(model);
    memory_free(model->offset);
    memory_free(model->keys);
    memory_free(model);
}
