/*
 * Graphs, their engines, and launches of cuDNN.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/vendor/cudnn_layer.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/memory.h"
#include "core/reals.h"
#include "kernels/cuda/vendor/vendor.h"

#define MAX_LISTED 16                           /* engine configurations asked for in one mode */
#define MAX_WORKSPACE_BYTES ((size_t)512 << 20) /* an engine that wants more is left out */
#define MAX_READY_SECONDS 2.0                   /* in all for one problem: behind it no further engine is readied */
#define TENSOR_ALIGNMENT 16                     /* bytes; planes and weights start on multiples of it */

/* The plan of all streams of one shape. */
typedef struct unit {
    cudnn_call call;
    cudnn_descriptor graph, plan;
    size_t workspace_bytes;
} unit;

/* The pointers of one stream's last launch and the descriptor that holds them. */
typedef struct pack {
    cudnn_descriptor descriptor;
    void *pointer[VENDOR_MAX_OPERANDS];
    void *workspace;
} pack;

typedef struct cudnn_layer {
    int units;
    int unit_of[BRAID_MAX_PLANES];
    unit unit[BRAID_MAX_PLANES];
    pack pack[BRAID_MAX_PLANES];
} cudnn_layer;

/* ---- Describing --------------------------------------------------------------------------------- */

int cudnn_dtype(braid_dtype dtype) {
    if (dtype == BRAID_DTYPE_F16) return CUDNN_HALF;
    return dtype == BRAID_DTYPE_BF16 ? CUDNN_BFLOAT16 : CUDNN_FLOAT;
}

cudnn_descriptor cudnn_make(cudnn_call *call, int kind) {
    cudnn_descriptor made = NULL;
    if (call->status == CUDNN_SUCCESS && call->descriptors == CUDNN_MAX_DESCRIPTORS) call->status = CUDNN_BAD_PARAM;
    if (call->status != CUDNN_SUCCESS) return NULL;
    call->status = cudnn()->make(kind, &made);
    if (call->status == CUDNN_SUCCESS) call->descriptor[call->descriptors++] = made;
    return made;
}

void cudnn_set(cudnn_call *call, cudnn_descriptor d, int name, int type, int64_t count, const void *values) {
    if (call->status == CUDNN_SUCCESS) call->status = cudnn()->set(d, name, type, count, values);
}

void cudnn_finish(cudnn_call *call, cudnn_descriptor d) {
    if (call->status == CUDNN_SUCCESS) call->status = cudnn()->finish(d);
}

cudnn_descriptor cudnn_tensor(cudnn_call *call, int slot, int dtype, const int64_t dims[4], const int64_t strides[4]) {
    const int64_t alignment = TENSOR_ALIGNMENT;
    const bool is_virtual = slot == CUDNN_VIRTUAL;
    if (!is_virtual) call->slot[call->operands++] = slot;
    const int64_t id = is_virtual ? 100 + call->virtuals++ : call->operands;
    cudnn_descriptor d = cudnn_make(call, CUDNN_TENSOR);
    cudnn_set(call, d, CUDNN_TENSOR_DTYPE, CUDNN_TYPE_DTYPE, 1, &dtype);
    cudnn_set(call, d, CUDNN_TENSOR_DIMS, CUDNN_TYPE_INT64, 4, dims);
    cudnn_set(call, d, CUDNN_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
    cudnn_set(call, d, CUDNN_TENSOR_ID, CUDNN_TYPE_INT64, 1, &id);
    cudnn_set(call, d, CUDNN_TENSOR_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    if (is_virtual) cudnn_set(call, d, CUDNN_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOL, 1, &is_virtual);
    cudnn_finish(call, d);
    return d;
}

void cudnn_operate(cudnn_call *call, cudnn_descriptor operation) {
    cudnn_finish(call, operation);
    if (call->status == CUDNN_SUCCESS) call->operation[call->operations++] = operation;
}

void cudnn_pointwise(cudnn_call *call, int mode, cudnn_descriptor x, cudnn_descriptor b, cudnn_descriptor y) {
    const int compute = CUDNN_FLOAT;
    cudnn_descriptor function = cudnn_make(call, CUDNN_POINTWISE);
    cudnn_set(call, function, CUDNN_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    cudnn_set(call, function, CUDNN_POINTWISE_COMPUTE, CUDNN_TYPE_DTYPE, 1, &compute);
    cudnn_finish(call, function);
    cudnn_descriptor operation = cudnn_make(call, CUDNN_POINTWISE_OPERATION);
    cudnn_set(call, operation, CUDNN_POINTWISE_DESCRIPTOR, CUDNN_TYPE_DESCRIPTOR, 1, &function);
    cudnn_set(call, operation, CUDNN_POINTWISE_X, CUDNN_TYPE_DESCRIPTOR, 1, &x);
    if (b) cudnn_set(call, operation, CUDNN_POINTWISE_B, CUDNN_TYPE_DESCRIPTOR, 1, &b);
    cudnn_set(call, operation, CUDNN_POINTWISE_Y, CUDNN_TYPE_DESCRIPTOR, 1, &y);
    cudnn_operate(call, operation);
}

static cudnn_descriptor make_graph(cudnn_call *call, cudnn_handle handle) {
    cudnn_descriptor graph = cudnn_make(call, CUDNN_GRAPH);
    cudnn_set(call, graph, CUDNN_GRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    cudnn_set(call, graph, CUDNN_GRAPH_OPERATIONS, CUDNN_TYPE_DESCRIPTOR, call->operations, call->operation);
    cudnn_finish(call, graph);
    return graph;
}

/* ---- Engines ------------------------------------------------------------------------------------ */

static void drop(cudnn_descriptor d) {
    if (d) (void)cudnn()->drop(d);
}

/* CUDNN_NOT_SUPPORTED where a list of notes of an engine holds one of `bits`. */
static cudnn_status check_notes(cudnn_descriptor engine, int name, int type, unsigned bits) {
    int notes[32];
    int64_t count = 0;
    cudnn_status status = cudnn()->get(engine, name, type, 32, &count, notes);
    for (int64_t j = 0; j < count && j < 32 && !status; j++) {
        if (notes[j] >= 0 && notes[j] < 32 && (bits >> notes[j] & 1u)) status = CUDNN_NOT_SUPPORTED;
    }
    return status;
}

/* CUDNN_SUCCESS where an engine may be used: repeatable, sums in f32, products of the dtype itself (or TF32, where the
 * problem allows it); and in a graph of one operation nothing that is compiled when it is made ready. */
static cudnn_status check_engine(cudnn_descriptor config, const braid_problem *p, int operations) {
    unsigned numbers = 1u << CUDNN_NOTE_NONDETERMINISTIC | 1u << CUDNN_NOTE_DOWN_CONVERTS |
                       1u << CUDNN_NOTE_REDUCED_PRECISION | 1u << CUDNN_NOTE_FFT | 1u << CUDNN_NOTE_WINOGRAD |
                       1u << CUDNN_NOTE_WINOGRAD_4 | 1u << CUDNN_NOTE_WINOGRAD_6 | 1u << CUDNN_NOTE_WINOGRAD_13;
    if (p->dtype == BRAID_DTYPE_F32 && !p->tf32) numbers |= 1u << CUDNN_NOTE_TENSOR_CORE; /* they take TF32 */
    const unsigned behaviors = operations == 1 ? 1u << CUDNN_BEHAVIOR_RUNTIME_COMPILATION : 0;
    cudnn_descriptor engine = NULL;
    int64_t count = 0;
    cudnn_status status = cudnn()->make(CUDNN_ENGINE, &engine);
    if (!status) status = cudnn()->get(config, CUDNN_CONFIG_ENGINE, CUDNN_TYPE_DESCRIPTOR, 1, &count, &engine);
    if (!status) status = check_notes(engine, CUDNN_ENGINE_NUMERICAL_NOTES, CUDNN_TYPE_NUMERICAL_NOTE, numbers);
    if (!status) status = check_notes(engine, CUDNN_ENGINE_BEHAVIOR_NOTES, CUDNN_TYPE_BEHAVIOR_NOTE, behaviors);
    drop(engine);
    return status;
}

/* The plan of a configuration, and its workspace. A status where cuDNN cannot make it or it needs too much memory. */
static cudnn_status make_plan(cudnn_handle handle, cudnn_descriptor config, cudnn_descriptor *plan,
                              size_t *workspace_bytes) {
    int64_t bytes = 0, count = 0;
    *plan = NULL;
    cudnn_status status = cudnn()->make(CUDNN_PLAN, plan);
    if (!status) status = cudnn()->set(*plan, CUDNN_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    if (!status) status = cudnn()->set(*plan, CUDNN_PLAN_CONFIG, CUDNN_TYPE_DESCRIPTOR, 1, &config);
    if (!status) status = cudnn()->finish(*plan);
    if (!status) status = cudnn()->get(*plan, CUDNN_PLAN_WORKSPACE_BYTES, CUDNN_TYPE_INT64, 1, &count, &bytes);
    if (!status && (bytes < 0 || (size_t)bytes > MAX_WORKSPACE_BYTES)) status = CUDNN_NOT_SUPPORTED;
    if (!status) {
        *workspace_bytes = (size_t)bytes;
        return CUDNN_SUCCESS;
    }
    drop(*plan);
    *plan = NULL;
    return status;
}

/* The configurations of one mode of the heuristics, best first. All of the array are to be dropped. */
static cudnn_status list_configs(const unit *u, int mode, cudnn_descriptor config[MAX_LISTED], int *count) {
    cudnn_descriptor heuristics = NULL;
    int64_t listed = 0;
    cudnn_status status = cudnn()->make(CUDNN_HEURISTICS, &heuristics);
    if (!status) status = cudnn()->set(heuristics, CUDNN_HEURISTICS_GRAPH, CUDNN_TYPE_DESCRIPTOR, 1, &u->graph);
    if (!status) status = cudnn()->set(heuristics, CUDNN_HEURISTICS_MODE, CUDNN_TYPE_HEURISTICS_MODE, 1, &mode);
    if (!status) status = cudnn()->finish(heuristics);
    for (int j = 0; j < MAX_LISTED && !status; j++) status = cudnn()->make(CUDNN_CONFIG, &config[j]);
    if (!status)
        status = cudnn()->get(heuristics, CUDNN_HEURISTICS_RESULTS, CUDNN_TYPE_DESCRIPTOR, MAX_LISTED, &listed, config);
    drop(heuristics);
    *count = status ? 0 : listed < MAX_LISTED ? (int)listed : MAX_LISTED;
    return status;
}

static int lacks_memory(cudnn_status status) { return cuda_vendor_lacks_memory(CUDA_CUDNN, status); }

/* Which configurations of one shape may be used and can be made ready, as far as a kernel has asked for them: to make
 * one ready may be to compile it. Kept for the next call, since a race asks several times for the same problem. */
typedef struct ranking {
    uint64_t key;   /* of problem, stream and device; 0: empty */
    int mode;       /* of the heuristics */
    int next;       /* in its list: not tried yet */
    int is_whole;   /* 1: all of the list were tried */
    int asked;      /* the most that a kernel has wanted */
    int is_cut;     /* 1: there was no time left for what was wanted last */
    double seconds; /* that it took to make them ready */
    int count;
    int place[VENDOR_RANKS]; /* in its list */
} ranking;

static _Thread_local ranking rankings[256];

static uint64_t ranking_key(const braid_problem *p, const device *d, int i) {
    char text[BRAID_PROBLEM_TEXT];
    const int numbers[] = {i, d->ordinal};
    if (braid_problem_print(p, text, sizeof text) != BRAID_OK) return 0;
    return XXH3_64bits_withSeed(numbers, sizeof numbers, XXH3_64bits(text, strlen(text)));
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Goes on in the list until `wanted` are found or `seconds` have gone by. An engine for which there is no memory is not
 * passed over: the next call tries it again, and a rank is the same engine at any time. */
static cudnn_status rank_mode(const braid_problem *p, cudnn_handle handle, const unit *u, int wanted, double seconds,
                              ranking *r) {
    cudnn_descriptor config[MAX_LISTED] = {NULL}, plan = NULL;
    size_t workspace_bytes = 0;
    int listed = 0;
    if (r->count >= wanted || r->is_whole) return CUDNN_SUCCESS;
    const double start = now_s();
    cudnn_status status = list_configs(u, r->mode, config, &listed);
    while (r->next < listed && r->count < wanted && now_s() - start < seconds) {
        status = check_engine(config[r->next], p, u->call.operations);
        if (!status) status = make_plan(handle, config[r->next], &plan, &workspace_bytes);
        if (lacks_memory(status)) break;
        if (!status) {
            r->place[r->count++] = r->next;
            drop(plan);
        }
        r->next++;
    }
    r->is_whole = r->next >= listed && !lacks_memory(status);
    r->is_cut = !r->is_whole && r->count < wanted;
    r->seconds += now_s() - start;
    for (int j = 0; j < MAX_LISTED; j++) drop(config[j]);
    return lacks_memory(status) ? status : CUDNN_SUCCESS;
}

static ranking *ranking_at(uint64_t key) { return &rankings[key % (sizeof rankings / sizeof rankings[0])]; }

/* Seconds that are left to make engines ready for any stream of a problem. A race asks for one more each time, and is
 * what the limit is for. The first is looked for in any case, and so is one that is asked for without those before it:
 * it was chosen earlier, and what was chosen has to be there again. */
static double seconds_left(const braid_problem *p, const device *d, int wanted, int asked) {
    double left = MAX_READY_SECONDS;
    if (wanted == 1 || wanted > asked + 1) return INFINITY;
    for (int i = 0; i < p->streams; i++) {
        const uint64_t key = ranking_key(p, d, i);
        const ranking *r = ranking_at(key);
        if (r->key == key) left -= r->seconds;
    }
    return left;
}

/* At least up to a rank, where there are as many and time is left. Fails for want of memory alone. */
static cudnn_status find_ranking(const braid_problem *p, const device *d, cudnn_handle handle, const unit *u, int i,
                                 int rank, const ranking **out) {
    const int wanted = rank < VENDOR_RANKS ? rank + 1 : VENDOR_RANKS;
    const uint64_t key = ranking_key(p, d, i);
    ranking *r = ranking_at(key);
    if (!key || r->key != key) *r = (ranking){.key = key, .mode = CUDNN_HEURISTICS_A};
    *out = r;
    const double seconds = seconds_left(p, d, wanted, r->asked);
    cudnn_status status = rank_mode(p, handle, u, wanted, seconds, r);
    if (!status && r->count == 0 && r->mode == CUDNN_HEURISTICS_A) {
        *r = (ranking){.key = key, .mode = CUDNN_HEURISTICS_FALLBACK, .asked = r->asked, .seconds = r->seconds};
        status = rank_mode(p, handle, u, wanted, seconds, r);
    }
    if (!status && wanted > r->asked) r->asked = wanted;
    return status;
}

/* The plan of a rank, where there is one. */
static cudnn_status make_ranked(cudnn_handle handle, const ranking *r, int rank, unit *u) {
    cudnn_descriptor config[MAX_LISTED] = {NULL};
    int listed = 0;
    cudnn_status status = list_configs(u, r->mode, config, &listed);
    if (!status && (rank >= r->count || r->place[rank] >= listed)) status = CUDNN_NOT_SUPPORTED;
    if (!status) status = make_plan(handle, config[r->place[rank]], &u->plan, &u->workspace_bytes);
    for (int j = 0; j < MAX_LISTED; j++) drop(config[j]);
    return status;
}

/* ---- Launching ---------------------------------------------------------------------------------- */

/* Binds the operands of stream i, unless they are still bound. */
static cudnn_status bind(const unit *u, const buffers *b, int i, pack *k) {
    int64_t ids[VENDOR_MAX_OPERANDS];
    void *pointer[VENDOR_MAX_OPERANDS] = {NULL};
    for (int j = 0; j < u->call.operands; j++) {
        ids[j] = j + 1;
        pointer[j] = b->plane[u->call.slot[j]][i];
    }
    if (k->descriptor && memcmp(pointer, k->pointer, sizeof pointer) == 0 && k->workspace == b->workspace)
        return CUDNN_SUCCESS;
    drop(k->descriptor);
    *k = (pack){.workspace = b->workspace};
    memcpy(k->pointer, pointer, sizeof pointer);
    cudnn_status status = cudnn()->make(CUDNN_PACK, &k->descriptor);
    if (!status) status = cudnn()->set(k->descriptor, CUDNN_PACK_IDS, CUDNN_TYPE_INT64, u->call.operands, ids);
    if (!status)
        status = cudnn()->set(k->descriptor, CUDNN_PACK_POINTERS, CUDNN_TYPE_POINTER, u->call.operands, pointer);
    if (!status) status = cudnn()->set(k->descriptor, CUDNN_PACK_WORKSPACE, CUDNN_TYPE_POINTER, 1, &k->workspace);
    if (!status) status = cudnn()->finish(k->descriptor);
    if (status) {
        drop(k->descriptor);
        k->descriptor = NULL;
    }
    return status;
}

static braid_status run_stream(device *d, const unit *u, const buffers *b, int i, pack *k) {
    void *handle = NULL, *queue = NULL;
    TRY(cuda_vendor_enter(d, CUDA_CUDNN, &handle, &queue));
    cudnn_status status = bind(u, b, i, k);
    if (!status) status = cudnn()->execute(handle, u->plan, k->descriptor);
    return cuda_vendor_leave(d, status ? cuda_vendor_failed(d, CUDA_CUDNN, status, "a call") : BRAID_OK);
}

braid_status cudnn_layer_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    cudnn_layer *layer = state;
    if (d->is_loading) return BRAID_OK;
    for (int i = 0; i < p->streams; i++) {
        const unit *u = &layer->unit[layer->unit_of[i]];
        TRY(run_stream(d, u, b, i, &layer->pack[i]));
    }
    return BRAID_OK;
}

/* ---- The layer ---------------------------------------------------------------------------------- */

static void drop_unit(unit *u) {
    drop(u->plan);
    for (int j = u->call.descriptors - 1; j >= 0; j--) drop(u->call.descriptor[j]);
}

/* The graph of stream i, with the context current. It is destroyed by drop_unit also after a failure. */
static cudnn_status describe_unit(const braid_problem *p, cudnn_handle handle, const cudnn_way *way, int i, unit *u) {
    way->describe(p, i, &u->call);
    u->graph = make_graph(&u->call, handle);
    return u->call.status;
}

static const char *no_further(int is_cut) {
    static _Thread_local char reason[96];
    if (!is_cut) return "cuDNN has no further engine with repeatable f32 sums for this problem";
    real_format(reason, sizeof reason,
                "making cuDNN's engines ready for this problem took %g s: no further one was tried", MAX_READY_SECONDS);
    return reason;
}

refusal cudnn_layer_refuses(const braid_problem *p, const device *d, const cudnn_way *way) {
    device *changed = (device *)(uintptr_t)d;
    void *handle = NULL, *queue = NULL;
    cudnn_status status = CUDNN_SUCCESS;
    int has_all = 1, is_cut = 0;
    if (cuda_vendor_enter(changed, CUDA_CUDNN, &handle, &queue) != BRAID_OK) return vendor_device_failed();
    for (int i = 0; i < p->streams && has_all; i++) {
        unit u = {.plan = NULL};
        const ranking *r = NULL;
        if (vendor_same_shape(p, i) < i) continue;
        status = describe_unit(p, handle, way, i, &u);
        if (!status) status = find_ranking(p, d, handle, &u, i, way->rank, &r);
        has_all = !status && r->count > way->rank;
        is_cut = !status && r->is_cut;
        drop_unit(&u);
    }
    if (cuda_vendor_leave(changed, BRAID_OK) != BRAID_OK) return vendor_device_failed();
    if (lacks_memory(status)) return refusal_no_memory();
    return refusal_unable(has_all ? NULL : no_further(is_cut));
}

static cudnn_status make_unit(const braid_problem *p, const device *d, cudnn_handle handle, const cudnn_way *way, int i,
                              unit *u) {
    const ranking *r = NULL;
    cudnn_status status = describe_unit(p, handle, way, i, u);
    if (!status) status = find_ranking(p, d, handle, u, i, way->rank, &r);
    return status ? status : make_ranked(handle, r, way->rank, u);
}

braid_status cudnn_layer_create(const braid_problem *p, device *d, const cudnn_way *way, void **state,
                                size_t *workspace_bytes) {
    void *memory = NULL, *handle = NULL, *queue = NULL;
    cudnn_status status = CUDNN_SUCCESS;
    *state = NULL;
    *workspace_bytes = 0;
    TRY(memory_calloc(1, sizeof(cudnn_layer), "a cuDNN layer", &memory));
    cudnn_layer *layer = memory;
    braid_status entered = cuda_vendor_enter(d, CUDA_CUDNN, &handle, &queue);
    for (int i = 0; i < p->streams && !entered && !status; i++) {
        const int first = vendor_same_shape(p, i);
        layer->unit_of[i] = first < i ? layer->unit_of[first] : layer->units++;
        if (first < i) continue;
        unit *u = &layer->unit[layer->unit_of[i]];
        status = make_unit(p, d, handle, way, i, u);
        if (u->workspace_bytes > *workspace_bytes) *workspace_bytes = u->workspace_bytes;
    }
    braid_status failed = status ? cuda_vendor_failed(d, CUDA_CUDNN, status, "making a plan") : BRAID_OK;
    if (!entered) entered = cuda_vendor_leave(d, failed);
    if (entered)
        cudnn_layer_destroy(d, layer);
    else
        *state = layer;
    return entered;
}

/* Plans hold code in the context. That of a device that has failed is asked for nothing any more. */
void cudnn_layer_destroy(device *d, void *state) {
    cudnn_layer *layer = state;
    void *handle = NULL, *queue = NULL;
    if (!layer) return;
    const fail_kept kept = fail_keep();
    if (layer->units > 0 && cuda_vendor_enter(d, CUDA_CUDNN, &handle, &queue) == BRAID_OK) {
        for (int i = 0; i < BRAID_MAX_PLANES; i++) drop(layer->pack[i].descriptor);
        for (int i = 0; i < layer->units; i++) drop_unit(&layer->unit[i]);
        (void)cuda_vendor_leave(d, BRAID_OK);
    }
    fail_put_back(&kept);
    memory_free(layer);
}
