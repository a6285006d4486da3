/*
 * Primitives, their arguments and their memory, for every kernel that calls oneDNN. All of them are
 * made at creation with the number of threads of the moment, which the primitive remembers; a launch
 * only binds pointers and executes. The workspace of a stream holds its packed weights and the
 * primitives' scratchpads; streams run one after the other and share it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/vendor/onednn_layer.h"

#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/isa/cost.h"

#define MAX_FILTER 1024 /* oneDNN plans a larger one for minutes */

static int dense(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        if (p->in_pitch[i] != p->in_channels[i]) return 0;
        if (p->out_channels[i] && p->out_pitch[i] != p->out_channels[i]) return 0;
    }
    return 1;
}

/* True where a stream has nothing to compute. */
static int empty(const braid_problem *p) {
    const int has_out = p->op == BRAID_OP_CONV2D || p->op == BRAID_OP_LINEAR;
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] == 0 || (has_out && p->out_channels[i] == 0)) return 1;
    }
    return p->batch == 0;
}

/* oneDNN imitates bf16 without its instructions, slowly, and with AMX it dies: one set of instructions is left. */
static int multiplies_bf16(const device *d) {
    return (d->features & FEATURE_AVX512_BF16) && strcmp(onednn_library()->isa, "avx512_core_bf16") == 0;
}

const char *onednn_supports(const braid_problem *p, const device *d) {
    const vendor_library *library = onednn_library();
    if (library->reason) return library->reason;
    if (p->dtype == BRAID_DTYPE_BF16 && !multiplies_bf16(d))
        return "oneDNN is used in bf16 only where it runs with avx512_core_bf16";
    if (conv2d_refuses_add(p)) return conv2d_refuses_add(p);
    if (p->mask) return "oneDNN has no masks";
    if (p->padding_mode != BRAID_PADDING_ZEROS) return "oneDNN pads with zeros only";
    if (p->filter[0] > MAX_FILTER || p->filter[1] > MAX_FILTER) return "oneDNN is not asked for filters above 1024";
    if (empty(p)) return "oneDNN is not called for a batch or a stream without elements";
    if (!dense(p)) return "oneDNN is used on dense pixels only: the pitch must equal the channels";
    return NULL;
}

double onednn_cost(const braid_problem *p, const machine *on) {
    return cost_seconds(p, on, COST_VENDOR_FLOPS, p->streams, COST_VENDOR_CALL);
}

double onednn_packed_cost(const braid_problem *p, const machine *on) {
    const double taps = p->op == BRAID_OP_CONV2D ? (double)(p->filter[0] * p->filter[1]) / (double)p->groups : 1;
    double weights = 0;
    for (int i = 0; i < p->streams; i++) weights += (double)p->in_channels[i] * (double)p->out_channels[i] * taps;
    return onednn_cost(p, on) + cost_copy_seconds(2 * weights * (double)dtype_bytes(p->dtype));
}

#if BRAID_HAVE_DNNL_H

/* An argument with its memory: `plain` as the operand lies, `packed` as the primitive wants it (NULL: the same). */
typedef struct bound_argument {
    onednn_argument what;
    dnnl_memory_t plain, packed;
    dnnl_primitive_t reorder;
    dnnl_memory_t reorder_scratchpad;
    size_t packed_offset, reorder_scratchpad_offset; /* in the workspace */
} bound_argument;

/* The primitive of all streams of one shape. */
typedef struct unit {
    dnnl_primitive_t primitive;
    dnnl_memory_t scratchpad;
    size_t scratchpad_offset;
    int count;
    bound_argument argument[ONEDNN_MAX_ARGUMENTS];
    size_t workspace_bytes;
    void *workspace; /* where the memory in it is bound */
} unit;

typedef struct onednn_layer {
    int threads;
    dnnl_stream_t stream;
    dnnl_primitive_attr_t attributes;
    int unit_of[BRAID_MAX_PLANES];
    int units;
    unit unit[BRAID_MAX_PLANES];
} onednn_layer;

/* Leaves the enclosing function when a call of oneDNN fails. */
#define ONEDNN_TRY(call)                                           \
    do {                                                           \
        dnnl_status_t onednn_status_ = (call);                     \
        if (onednn_status_ != dnnl_success) return onednn_status_; \
    } while (0)

static braid_status onednn_failed(dnnl_status_t status, const char *what) {
    static const char *const names[] = {"success",       "out of memory", "invalid arguments", "unimplemented",
                                        "iterator ends", "runtime error", "not required"};
    const unsigned index = (unsigned)status;
    const char *name = index < sizeof names / sizeof names[0] ? names[index] : "unknown error";
    const braid_status code = status == dnnl_out_of_memory ? BRAID_ERROR_MEMORY : BRAID_ERROR_DEVICE;
    return fail(code, "oneDNN: %s: %s (status %d); BRAID_DISABLE=onednn goes on without it", what, name, (int)status);
}

void onednn_add(onednn_call *call, int id, int slot, const dnnl_memory_desc_t *desc) {
    call->argument[call->count++] = (onednn_argument){.id = id, .slot = slot, .desc = *desc};
}

void onednn_add_fill(onednn_call *call, int id, float value, const dnnl_memory_desc_t *desc) {
    call->argument[call->count++] = (onednn_argument){.id = id, .slot = ONEDNN_FILL, .value = value, .desc = *desc};
}

void onednn_add_output(onednn_call *call, int id, int slot, const dnnl_memory_desc_t *desc) {
    call->argument[call->count++] = (onednn_argument){.id = id, .slot = slot, .output = 1, .desc = *desc};
}

dnnl_data_type_t onednn_dtype(const braid_problem *p) { return p->dtype == BRAID_DTYPE_BF16 ? dnnl_bf16 : dnnl_f32; }

dnnl_status_t onednn_pixels(dnnl_memory_desc_t *out, const braid_problem *p, const int64_t hw[2], int64_t channels) {
    const dnnl_dims_t dims = {p->batch, channels, hw[0], hw[1]};
    return onednn()->memory_desc_init_by_tag(out, 4, dims, onednn_dtype(p), dnnl_nhwc);
}

dnnl_status_t onednn_vector(dnnl_memory_desc_t *out, const braid_problem *p, int64_t count) {
    const dnnl_dims_t dims = {count};
    return onednn()->memory_desc_init_by_tag(out, 1, dims, onednn_dtype(p), dnnl_a);
}

dnnl_status_t onednn_matrix(dnnl_memory_desc_t *out, const braid_problem *p, int64_t rows, int64_t columns) {
    const dnnl_dims_t dims = {rows, columns};
    return onednn()->memory_desc_init_by_tag(out, 2, dims, onednn_dtype(p), dnnl_ab);
}

dnnl_status_t onednn_any(dnnl_memory_desc_t *out, const dnnl_memory_desc_t *from) {
    return onednn()->memory_desc_init_by_tag(out, from->ndims, from->dims, from->data_type, dnnl_format_tag_any);
}

/* Cuts `desc` out of the workspace of a unit. */
static dnnl_status_t place(unit *u, const dnnl_memory_desc_t *desc, size_t *offset) {
    size_t end;
    *offset = u->workspace_bytes;
    if (!size_add(u->workspace_bytes, onednn()->memory_desc_get_size(desc), &end)) return dnnl_out_of_memory;
    return size_align(end, MEMORY_DEVICE_ALIGNMENT, &u->workspace_bytes) ? dnnl_success : dnnl_out_of_memory;
}

static dnnl_status_t unbound_memory(const dnnl_memory_desc_t *desc, dnnl_memory_t *out) {
    return onednn()->memory_create(out, desc, onednn_engine(), DNNL_MEMORY_NONE);
}

/* The primitive and the scratchpad of a primitive descriptor. */
static dnnl_status_t make_primitive(unit *u, const_dnnl_primitive_desc_t desc, dnnl_primitive_t *primitive,
                                    dnnl_memory_t *scratchpad, size_t *offset) {
    const dnnl_memory_desc_t *scratch = onednn()->primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
    ONEDNN_TRY(onednn()->primitive_create(primitive, desc));
    ONEDNN_TRY(place(u, scratch, offset));
    return unbound_memory(scratch, scratchpad);
}

static dnnl_status_t make_reorder(onednn_layer *layer, unit *u, bound_argument *a, const dnnl_memory_desc_t *wanted) {
    const dnnl_memory_desc_t *from = a->what.output ? wanted : &a->what.desc;
    const dnnl_memory_desc_t *to = a->what.output ? &a->what.desc : wanted;
    dnnl_primitive_desc_t desc = NULL;
    ONEDNN_TRY(
        onednn()->reorder_primitive_desc_create(&desc, from, onednn_engine(), to, onednn_engine(), layer->attributes));
    dnnl_status_t status = make_primitive(u, desc, &a->reorder, &a->reorder_scratchpad, &a->reorder_scratchpad_offset);
    onednn()->primitive_desc_destroy(desc);
    return status;
}

static dnnl_status_t bind_argument(onednn_layer *layer, unit *u, const_dnnl_primitive_desc_t desc, bound_argument *a) {
    const dnnl_memory_desc_t *wanted = onednn()->primitive_desc_query_md(desc, dnnl_query_exec_arg_md, a->what.id);
    ONEDNN_TRY(unbound_memory(&a->what.desc, &a->plain));
    if (a->what.slot == ONEDNN_FILL) return place(u, &a->what.desc, &a->packed_offset);
    if (onednn()->memory_desc_equal(wanted, &a->what.desc)) return dnnl_success;
    ONEDNN_TRY(place(u, wanted, &a->packed_offset));
    ONEDNN_TRY(unbound_memory(wanted, &a->packed));
    return make_reorder(layer, u, a, wanted);
}

static dnnl_status_t make_descriptor(const onednn_layer *layer, const onednn_call *call, dnnl_primitive_desc_t *out) {
    const dnnl_primitive_attr_t attributes = layer->attributes;
    if (!call->is_backward)
        return onednn()->primitive_desc_create(out, &call->forward, attributes, onednn_engine(), NULL);
    dnnl_primitive_desc_t hint = NULL;
    ONEDNN_TRY(onednn()->primitive_desc_create(&hint, &call->forward, attributes, onednn_engine(), NULL));
    dnnl_status_t status = onednn()->primitive_desc_create(out, &call->backward, attributes, onednn_engine(), hint);
    onednn()->primitive_desc_destroy(hint);
    return status;
}

static dnnl_status_t make_unit(onednn_layer *layer, unit *u, const onednn_call *call) {
    dnnl_primitive_desc_t desc = NULL;
    ONEDNN_TRY(make_descriptor(layer, call, &desc));
    dnnl_status_t status = make_primitive(u, desc, &u->primitive, &u->scratchpad, &u->scratchpad_offset);
    u->count = call->count;
    for (int i = 0; i < call->count && status == dnnl_success; i++) {
        u->argument[i].what = call->argument[i];
        status = bind_argument(layer, u, desc, &u->argument[i]);
    }
    onednn()->primitive_desc_destroy(desc);
    return status;
}

/* The first stream with the shape of stream i. */
static int same_shape(const braid_problem *p, int i) {
    int j = 0;
    while (p->in_channels[j] != p->in_channels[i] || p->out_channels[j] != p->out_channels[i]) j++;
    return j;
}

static dnnl_status_t make_layer(const braid_problem *p, onednn_describe describe, onednn_weights weights,
                                onednn_layer *layer, size_t *workspace_bytes) {
    ONEDNN_TRY(onednn()->stream_create(&layer->stream, onednn_engine(), dnnl_stream_default_flags));
    ONEDNN_TRY(onednn()->primitive_attr_create(&layer->attributes));
    ONEDNN_TRY(onednn()->primitive_attr_set_scratchpad_mode(layer->attributes, dnnl_scratchpad_mode_user));
    for (int i = 0; i < p->streams; i++) {
        const int first = same_shape(p, i);
        layer->unit_of[i] = first < i ? layer->unit_of[first] : layer->units++;
        if (first < i) continue;
        unit *u = &layer->unit[layer->unit_of[i]];
        onednn_call call = {.weights = weights};
        ONEDNN_TRY(describe(p, i, &call));
        ONEDNN_TRY(make_unit(layer, u, &call));
        if (u->workspace_bytes > *workspace_bytes) *workspace_bytes = u->workspace_bytes;
    }
    return dnnl_success;
}

braid_status onednn_layer_create(const braid_problem *p, onednn_describe describe, onednn_weights weights, void **state,
                                 size_t *workspace_bytes) {
    *state = NULL;
    *workspace_bytes = 0;
    void *memory = NULL;
    TRY(memory_calloc(1, sizeof(onednn_layer), "a oneDNN layer", &memory));
    onednn_layer *layer = memory;
    layer->threads = threads_get();
    const int before = threads_apply(layer->threads);
    dnnl_status_t status = make_layer(p, describe, weights, layer, workspace_bytes);
    threads_restore(before);
    if (status != dnnl_success) {
        onednn_destroy(NULL, layer);
        return onednn_failed(status, "the primitive could not be made");
    }
    *state = layer;
    return BRAID_OK;
}

static dnnl_status_t point(dnnl_memory_t memory, void *base, size_t offset) {
    return memory ? onednn()->memory_set_data_handle(memory, (unsigned char *)base + offset) : dnnl_success;
}

/* Binds what lies in the workspace. oneDNN clears the padding of a blocked layout here, so it is done once. */
static dnnl_status_t bind_workspace(unit *u, void *workspace) {
    if (u->workspace == workspace) return dnnl_success;
    ONEDNN_TRY(point(u->scratchpad, workspace, u->scratchpad_offset));
    for (int i = 0; i < u->count; i++) {
        bound_argument *a = &u->argument[i];
        if (a->what.slot == ONEDNN_FILL) ONEDNN_TRY(point(a->plain, workspace, a->packed_offset));
        ONEDNN_TRY(point(a->packed, workspace, a->packed_offset));
        ONEDNN_TRY(point(a->reorder_scratchpad, workspace, a->reorder_scratchpad_offset));
    }
    u->workspace = workspace;
    return dnnl_success;
}

static dnnl_status_t execute_reorder(const onednn_layer *layer, const bound_argument *a) {
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, a->what.output ? a->packed : a->plain},
                                         {DNNL_ARG_TO, a->what.output ? a->plain : a->packed},
                                         {DNNL_ARG_SCRATCHPAD, a->reorder_scratchpad}};
    return onednn()->primitive_execute(a->reorder, layer->stream, 3, arguments);
}

static void fill(const bound_argument *a, void *workspace) {
    float *values = (float *)(void *)((unsigned char *)workspace + a->packed_offset);
    for (int64_t i = 0; i < a->what.desc.dims[0]; i++) values[i] = a->what.value;
}

static dnnl_status_t run_stream(const onednn_layer *layer, unit *u, const buffers *b, int i) {
    dnnl_exec_arg_t arguments[ONEDNN_MAX_ARGUMENTS + 1];
    ONEDNN_TRY(bind_workspace(u, b->workspace));
    for (int j = 0; j < u->count; j++) {
        bound_argument *a = &u->argument[j];
        arguments[j] = (dnnl_exec_arg_t){a->what.id, a->packed ? a->packed : a->plain};
        if (a->what.slot == ONEDNN_FILL)
            fill(a, b->workspace);
        else
            ONEDNN_TRY(point(a->plain, b->plane[a->what.slot][i], 0));
        if (a->reorder && !a->what.output) ONEDNN_TRY(execute_reorder(layer, a));
    }
    arguments[u->count] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, u->scratchpad};
    ONEDNN_TRY(onednn()->primitive_execute(u->primitive, layer->stream, u->count + 1, arguments));
    for (int j = 0; j < u->count; j++) {
        const bound_argument *a = &u->argument[j];
        if (a->reorder && a->what.output) ONEDNN_TRY(execute_reorder(layer, a));
    }
    return onednn()->stream_wait(layer->stream);
}

braid_status onednn_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d;
    onednn_layer *layer = state;
    const int before = threads_apply(layer->threads);
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i < p->streams && status == dnnl_success; i++) {
        status = run_stream(layer, &layer->unit[layer->unit_of[i]], b, i);
    }
    threads_restore(before);
    return status == dnnl_success ? BRAID_OK : onednn_failed(status, "a call failed");
}

static void destroy_memory(dnnl_memory_t memory) {
    if (memory) onednn()->memory_destroy(memory);
}

static void destroy_primitive(dnnl_primitive_t primitive) {
    if (primitive) onednn()->primitive_destroy(primitive);
}

void onednn_destroy(device *d, void *state) {
    (void)d;
    onednn_layer *layer = state;
    if (!layer) return;
    for (int i = 0; i < layer->units; i++) {
        unit *u = &layer->unit[i];
        for (int j = 0; j < u->count; j++) {
            destroy_primitive(u->argument[j].reorder);
            destroy_memory(u->argument[j].reorder_scratchpad);
            destroy_memory(u->argument[j].packed);
            destroy_memory(u->argument[j].plain);
        }
        destroy_memory(u->scratchpad);
        destroy_primitive(u->primitive);
    }
    if (layer->attributes) onednn()->primitive_attr_destroy(layer->attributes);
    if (layer->stream) onednn()->stream_destroy(layer->stream);
    memory_free(layer);
}

#else

braid_status onednn_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)p, (void)d, (void)state, (void)b;
    return fail(BRAID_ERROR_DEVICE, "oneDNN: %s", onednn_library()->reason);
}

void onednn_destroy(device *d, void *state) { (void)d, (void)state; }

#endif
