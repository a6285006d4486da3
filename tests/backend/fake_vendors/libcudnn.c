/*
 * The fake cuDNN: see fake_vendors.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cuda/cudnn.h"
#include "tests/backend/fake_vendors/fake_vendors.h"

#define EXPORT __attribute__((visibility("default")))
#define ENGINES 8
#define FALLBACK 5 /* the first engine of the mode for what the others do not find */

/* A descriptor of any kind; `engine` is that of an engine, a configuration or a plan, of heuristics the first. */
typedef struct fake {
    int kind, engine, is_finished;
} fake;

static fake_vendor_counts counts;

EXPORT fake_vendor_counts_function fake_cudnn_counts;
fake_vendor_counts fake_cudnn_counts(void) { return counts; }

static fake_vendor_fault fault;

EXPORT fake_vendor_fail_function fake_cudnn_fail;
void fake_cudnn_fail(const char *symbol, int nth, int status) { fake_vendor_set_fault(&fault, symbol, nth, status); }

#define FAKE_DECLARE(member, symbol, result, parameters) EXPORT result symbol parameters;
CUDNN_FUNCTIONS(FAKE_DECLARE)
#undef FAKE_DECLARE

static int is_mood(const char *mood) {
    const char *text = getenv("FAKE_VENDOR");
    return text && strcmp(text, mood) == 0;
}

size_t cudnnGetVersion(void) { return is_mood("old") ? 81234 : 91234; }

cudnn_status cudnnCreate(cudnn_handle *out) {
    FAKE_ANSWER();
    if (is_mood("broken")) return 1001;
    *out = &counts;
    counts.handles++;
    return CUDNN_SUCCESS;
}

cudnn_status cudnnDestroy(cudnn_handle handle) {
    FAKE_ANSWER();
    counts.handles--;
    return handle == &counts ? CUDNN_SUCCESS : CUDNN_BAD_PARAM;
}

cudnn_status cudnnSetStream(cudnn_handle handle, void *queue) {
    FAKE_ANSWER();
    return handle == &counts && queue ? CUDNN_SUCCESS : CUDNN_BAD_PARAM;
}

const char *cudnnGetErrorString(cudnn_status status) { return status ? "fake error" : "fake success"; }

cudnn_status cudnnBackendCreateDescriptor(int kind, cudnn_descriptor *out) {
    FAKE_ANSWER();
    fake *made = calloc(1, sizeof *made);
    if (!made) return CUDNN_BAD_PARAM;
    made->kind = kind;
    counts.live++;
    *out = made;
    return CUDNN_SUCCESS;
}

cudnn_status cudnnBackendDestroyDescriptor(cudnn_descriptor d) {
    FAKE_ANSWER();
    counts.live--;
    free(d);
    return CUDNN_SUCCESS;
}

cudnn_status cudnnBackendFinalize(cudnn_descriptor d) {
    FAKE_ANSWER();
    fake *f = d;
    if (f->kind == CUDNN_PLAN && f->engine == 2 && is_mood("slow")) nanosleep(&(struct timespec){2, 50000000}, NULL);
    f->is_finished = 1;
    counts.plans += f->kind == CUDNN_PLAN;
    return f->kind == CUDNN_PLAN && f->engine == 3 ? CUDNN_NOT_SUPPORTED : CUDNN_SUCCESS;
}

/* Descriptors are used only when they are finished, but for configurations, which the heuristics fill. */
cudnn_status cudnnBackendSetAttribute(cudnn_descriptor d, int name, int type, int64_t count, const void *values) {
    FAKE_ANSWER();
    fake *f = d;
    for (int64_t j = 0; type == CUDNN_TYPE_DESCRIPTOR && j < count; j++) {
        const fake *part = ((fake *const *)values)[j];
        if (!part->is_finished && part->kind != CUDNN_CONFIG) return CUDNN_BAD_PARAM;
    }
    if (name == CUDNN_HEURISTICS_MODE && *(const int *)values == CUDNN_HEURISTICS_FALLBACK) f->engine = FALLBACK;
    if (name == CUDNN_PLAN_CONFIG) f->engine = (*(fake *const *)values)->engine;
    return f->is_finished ? CUDNN_BAD_PARAM : CUDNN_SUCCESS;
}

static int note_of(int engine) {
    if (engine == 1) return CUDNN_NOTE_NONDETERMINISTIC;
    if (engine == 4) return CUDNN_NOTE_DOWN_CONVERTS;
    return CUDNN_NOTE_TENSOR_CORE;
}

cudnn_status cudnnBackendGetAttribute(cudnn_descriptor d, int name, int type, int64_t room, int64_t *count,
                                      void *values) {
    FAKE_ANSWER();
    const fake *f = d;
    (void)type;
    *count = 0;
    switch (name) {
        case CUDNN_HEURISTICS_RESULTS:
            for (; f->engine + *count < ENGINES && *count < room; (*count)++)
                ((fake **)values)[*count]->engine = f->engine + (int)*count;
            break;
        case CUDNN_CONFIG_ENGINE: (*(fake **)values)->engine = f->engine; break;
        case CUDNN_ENGINE_NUMERICAL_NOTES:
            if (f->engine != 5) ((int *)values)[(*count)++] = note_of(f->engine);
            break;
        case CUDNN_ENGINE_BEHAVIOR_NOTES:
            if (f->engine == 6) ((int *)values)[(*count)++] = CUDNN_BEHAVIOR_RUNTIME_COMPILATION;
            break;
        case CUDNN_PLAN_WORKSPACE_BYTES:
            *(int64_t *)values = f->engine == 7 ? INT64_MAX : 1000 * (f->engine + 1);
            *count = 1;
            break;
        default: return CUDNN_BAD_PARAM;
    }
    return CUDNN_SUCCESS;
}

cudnn_status cudnnBackendExecute(cudnn_handle handle, cudnn_descriptor plan, cudnn_descriptor pack) {
    FAKE_ANSWER();
    const fake *p = plan, *k = pack;
    if (handle != &counts || p->kind != CUDNN_PLAN || k->kind != CUDNN_PACK || !k->is_finished) return CUDNN_BAD_PARAM;
    counts.executed++;
    counts.last = p->engine;
    return CUDNN_SUCCESS;
}
