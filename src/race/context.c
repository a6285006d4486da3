/*
 * Contexts: creation, memory, ceilings, description.
 *
 * SPDX-License-Identifier: MIT
 */
#include "race/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/dtype.h"
#include "core/files.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/threads.h"
#include "race/choices.h"
#include "race/noise.h"

braid_status context_enter(const braid_context *context, const char *caller) {
    if (!context) return fail(BRAID_ERROR_ARGUMENT, "%s: expected a context, got NULL", caller);
    if (context->process != getpid()) {
        return fail(BRAID_ERROR_ARGUMENT,
                    "%s: expected a context of this process, got one from before a fork; create it after the fork",
                    caller);
    }
    threads_set(context->threads);
    return BRAID_OK;
}

int context_threads(const braid_context *context) {
    return context->device->backend->has_own_memory ? 1 : context->threads;
}

/* Whether a comma-separated list has a word. */
static int lists(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at && *at;) {
        const char *end = strchr(at, ',');
        size_t piece = end ? (size_t)(end - at) : strlen(at);
        if (piece == length && memcmp(at, word, length) == 0) return 1;
        at = end ? end + 1 : NULL;
    }
    return 0;
}

/* 1 where a word of `length` characters names a kernel or a vendor of the list. */
static int is_candidate(const char *word, size_t length) {
    for (int j = 0; j < kernel_count(); j++) {
        const char *const names[] = {kernel_at(j)->name, kernel_at(j)->vendor};
        for (int n = 0; n < 2; n++)
            if (names[n] && strlen(names[n]) == length && memcmp(names[n], word, length) == 0) return 1;
    }
    return 0;
}

/* A word that leaves nothing out is a slip, and what was meant would be used. */
static braid_status check_disable(const char *list) {
    while (list && *list) {
        size_t length = strcspn(list, ",");
        if (length > 0 && !is_candidate(list, length))
            return fail(BRAID_ERROR_ARGUMENT,
                        "disable: expected names of kernels (braid bench shows them) or vendors such as onednn and "
                        "openblas, commas between, got \"%.*s\"",
                        (int)length, list);
        list += length + (list[length] == ',');
    }
    return BRAID_OK;
}

const char *context_excludes(const braid_context *context, const kernel *k) {
    if ((k->vendor && lists(context->disable, k->vendor)) || lists(context->disable, k->name))
        return "left out by BRAID_DISABLE or --disable";
    if (context->repro == BRAID_REPRO_THREADS && k->flags & KERNEL_VARIES_WITH_THREADS) {
        return "its bits depend on the number of threads (level R2 asks for the same at any)";
    }
    return NULL;
}

/* ---- Creation ----------------------------------------------------------------------------- */

/* The option, else the variable: an empty one of either keeps none. Where there is no home for wisdom, none is kept. */
static braid_status set_cache_dir(braid_context *c, const char *wanted) {
    if (!wanted) wanted = getenv("BRAID_CACHE_DIR");
    if (wanted) return *wanted ? memory_copy_text(wanted, &c->cache_dir) : BRAID_OK;
    const fail_kept kept = fail_keep();
    braid_status status = files_cache_folder(&c->cache_dir);
    if (status == BRAID_OK) return BRAID_OK;
    log_write(LOG_WISDOM, "kept nowhere: %s", braid_message());
    if (status == BRAID_ERROR_MEMORY) return status;
    fail_put_back(&kept);
    return BRAID_OK;
}

static braid_status check_options(const braid_context_options *o) {
    if (o->threads < 0 || o->threads > THREADS_MOST) {
        return fail(BRAID_ERROR_ARGUMENT, "context: expected threads from 0 (all) to %d, got %d", THREADS_MOST,
                    o->threads);
    }
    if ((unsigned)o->repro > BRAID_REPRO_THREADS) {
        return fail(BRAID_ERROR_ARGUMENT, "context: expected repro 0 (run) or 1 (threads), got %d", (int)o->repro);
    }
    return BRAID_OK;
}

braid_status braid_context_create(const braid_context_options *options, braid_context **context) {
    const braid_context_options defaults = {0}, *o = options ? options : &defaults;
    braid_context *c = NULL;
    if (!context) return fail(BRAID_ERROR_ARGUMENT, "braid_context_create: expected a place for the context, got NULL");
    *context = NULL;
    TRY(check_options(o));
    const char *device_name = o->device ? o->device : getenv("BRAID_DEVICE");
    const char *disable = o->disable ? o->disable : getenv("BRAID_DISABLE");
    TRY(check_disable(disable));
    TRY(memory_calloc(1, sizeof *c, "context", (void **)&c));
    c->process = getpid();
    c->repro = o->repro;
    threads_set(o->threads);
    c->threads = threads_get();
    if (c->threads < o->threads) log_write(LOG_DEVICE, "a child of a fork works on one thread");
    braid_status status = backend_open(device_name && *device_name ? device_name : "auto", &c->device);
    if (status == BRAID_OK) {
        c->chooser = (chooser){choices_find, c, choices_exclude};
        c->device->chooser = &c->chooser;
    }
    if (status == BRAID_OK) status = memory_copy_text(disable ? disable : "", &c->disable);
    if (status == BRAID_OK) status = set_cache_dir(c, o->cache_dir);
    if (status != BRAID_OK) {
        braid_context_destroy(c);
        return status;
    }
    *context = c;
    return BRAID_OK;
}

void braid_context_destroy(braid_context *context) {
    if (!context) return;
    if (context->device && context->process == getpid()) context->device->backend->close(context->device);
    memory_free(context->listing.names);
    memory_free(context->cache_dir);
    memory_free(context->disable);
    memory_free(context);
}

const char *braid_context_device(const braid_context *context) { return context ? context->device->name : ""; }

/* ---- Memory ------------------------------------------------------------------------------- */

braid_status braid_memory_create(braid_context *context, size_t bytes, void **memory) {
    if (!memory) return fail(BRAID_ERROR_ARGUMENT, "braid_memory_create: expected a place for the pointer, got NULL");
    *memory = NULL;
    TRY(context_enter(context, "braid_memory_create"));
    return context->device->backend->alloc(context->device, bytes, memory);
}

void braid_memory_destroy(braid_context *context, void *memory) {
    if (context && memory) context->device->backend->free(context->device, memory);
}

braid_status braid_upload(braid_context *context, void *to, const void *host, size_t bytes) {
    TRY(context_enter(context, "braid_upload"));
    if (bytes && (!to || !host)) return fail(BRAID_ERROR_ARGUMENT, "braid_upload: expected two pointers, got NULL");
    return bytes ? context->device->backend->upload(context->device, to, host, bytes) : BRAID_OK;
}

braid_status braid_download(braid_context *context, void *host, const void *from, size_t bytes) {
    TRY(context_enter(context, "braid_download"));
    if (bytes && (!host || !from)) return fail(BRAID_ERROR_ARGUMENT, "braid_download: expected two pointers, got NULL");
    return bytes ? context->device->backend->download(context->device, host, from, bytes) : BRAID_OK;
}

braid_status braid_synchronize(braid_context *context) {
    TRY(context_enter(context, "braid_synchronize"));
    return context->device->backend->synchronize(context->device);
}

static void describe_other_device(braid_row_function row, void *user) {
    const fail_kept kept = fail_keep();
    if (backend_cuda.count() > 0) {
        row(user, "gpu", "cuda", "found", "use it with --device cuda:0");
        return;
    }
    const fail_kept why = fail_keep();
    fail_put_back(&kept);
    row(user, "gpu", "cuda", "none", why.text);
}

/* "0.6 %" */
static void describe_floor(braid_row_function row, void *user, const char *name, double floor, int is_measured) {
    char value[32];
    real_format(value, sizeof value, "%.3g %%", 100 * floor);
    row(user, "noise", name, value, is_measured ? NULL : "not measured; a race of 1 s on a quiet machine measures it");
}

static void describe_noise(braid_context *context, braid_row_function row, void *user) {
    const noise n = noise_floor(context, 0);
    describe_floor(row, user, "within a race", n.within, n.is_measured);
    describe_floor(row, user, "between runs", n.between, n.is_measured);
}

braid_status braid_context_describe(braid_context *context, braid_row_function row, void *user) {
    TRY(context_enter(context, "braid_context_describe"));
    if (!row) return fail(BRAID_ERROR_ARGUMENT, "braid_context_describe: expected a row function, got NULL");
    context->device->backend->describe(context->device, row, user);
    if (context->device->backend != &backend_cuda) describe_other_device(row, user);
    row(user, "wisdom", "folder", context->cache_dir ? context->cache_dir : "kept nowhere", NULL);
    describe_noise(context, row, user);
    return BRAID_OK;
}

/* ---- Ceilings ----------------------------------------------------------------------------- */

#define COPY_BYTES ((size_t)256 << 20)
#define COPY_ROUNDS 7

typedef struct copy_context {
    device *device;
    void *from, *to;
} copy_context;

static braid_status copy_once(void *context, int i) {
    const copy_context *c = context;
    (void)i;
    return c->device->backend->copy(c->device, c->to, c->from, COPY_BYTES);
}

#define TOUCH_BYTES ((size_t)4 << 20)

/* Writes every page: memory that was never written may all be one page of zeros, which is read from the cache. */
static braid_status touch(device *d, void *memory) {
    unsigned char *pattern = NULL;
    braid_status status = memory_alloc(1, TOUCH_BYTES, "copied bytes", (void **)&pattern);
    if (status == BRAID_OK) memset(pattern, 0x55, TOUCH_BYTES);
    for (size_t at = 0; at < COPY_BYTES && status == BRAID_OK; at += TOUCH_BYTES)
        status = d->backend->upload(d, (char *)memory + at, pattern, TOUCH_BYTES);
    memory_free(pattern);
    return status;
}

/* Bytes read plus bytes written per second, the best of a few: a ceiling is what can be reached. */
static braid_status measure_copy(device *d, double *bytes_per_s) {
    copy_context c = {.device = d};
    double best = INFINITY;
    braid_status status = d->backend->alloc(d, COPY_BYTES, &c.from);
    if (status == BRAID_OK) status = d->backend->alloc(d, COPY_BYTES, &c.to);
    if (status == BRAID_OK) status = touch(d, c.from);
    if (status == BRAID_OK) status = touch(d, c.to);
    for (int round = 0; round < COPY_ROUNDS && status == BRAID_OK; round++) {
        double seconds = 0;
        status = d->backend->time(d, copy_once, &c, 1, &seconds);
        if (status == BRAID_OK && round > 0 && seconds > 0) best = fmin(best, seconds);
    }
    if (c.from) d->backend->free(d, c.from);
    if (c.to) d->backend->free(d, c.to);
    *bytes_per_s = 2.0 * (double)COPY_BYTES / best;
    return status;
}

/* The fastest matrix product that any candidate of the context reaches, remembered by wisdom. On a CPU rows of 1008
 * values do not all fall into the same sets of the caches, as rows of 1024 do; a GPU is busy from some thousands on. */
static braid_status measure_gemm(braid_context *context, braid_dtype dtype, double *flops_per_s) {
    const int on_cpu = strcmp(context->device->backend->name, "cpu") == 0;
    const int64_t rows = on_cpu ? 1024 : 4096, columns = on_cpu ? 1008 : 4096;
    braid_problem p = {.op = BRAID_OP_LINEAR,
                       .dtype = dtype,
                       .streams = 1,
                       .batch = rows,
                       .in_channels = {columns},
                       .out_channels = {columns}};
    braid_op *op = NULL;
    TRY(braid_op_create(context, &p, &op));
    braid_status status = braid_op_plan(op, &(braid_plan_options){.seconds = 0.5});
    const braid_race *race = braid_op_explain(op);
    *flops_per_s = 0;
    for (int j = 0; status == BRAID_OK && j < race->count; j++) {
        if (race->candidates[j].low_s > 0) *flops_per_s = fmax(*flops_per_s, race->flops / race->candidates[j].low_s);
    }
    braid_op_destroy(op);
    return status;
}

braid_status braid_context_ceilings(braid_context *context, braid_dtype dtype, braid_ceilings *ceilings) {
    TRY(context_enter(context, "braid_context_ceilings"));
    if (!ceilings || !dtype_is_compute(dtype)) {
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_context_ceilings: expected a compute dtype and a place for the result, got dtype %d",
                    (int)dtype);
    }
    braid_ceilings *known = &context->ceilings[dtype];
    if (known->copy_bytes_per_s <= 0) TRY(measure_copy(context->device, &known->copy_bytes_per_s));
    if (known->gemm_flops_per_s <= 0) TRY(measure_gemm(context, dtype, &known->gemm_flops_per_s));
    *ceilings = *known;
    return BRAID_OK;
}
